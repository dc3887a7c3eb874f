#include "diag/audit/benchmark_lines.h"

#include <algorithm>

#include "diag/audit/quoted_line.h"
#include "diag/logparse/benchmark_records.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/message.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns a row with the results of the faster half.
BenchmarkLine line_of(const BenchmarkRow& row, const Record& record) {
  const BenchmarkResult& out = row.out_of_place;
  const BenchmarkResult& in = row.in_place;
  const BenchmarkResult& best = in.busbw_gbs > out.busbw_gbs ? in : out;
  return {.bytes = row.bytes,
          .time_us = best.time_us,
          .busbw_gbs = best.busbw_gbs,
          .wrong = std::max(out.wrong, in.wrong),
          .quoted = quoted_line(record)};
}

/// Returns the table that a speaker is writing. Adds a new one if it has none, or if its last one is complete.
BenchmarkTable& open_table(std::vector<BenchmarkTable>& tables, std::uint32_t speaker) {
  for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
    if (table->speaker != speaker) continue;
    if (table->is_concluded) break;
    return *table;
  }
  tables.push_back({.speaker = speaker});
  return tables.back();
}

/// Returns whether a message that begins a run belongs to a later run than the table: the table already has what the
/// message begins, or what follows it.
/// is_start  the message is the first of the two, which names the collective; otherwise the options
bool is_of_earlier_run(const BenchmarkTable& table, bool is_start) {
  if (!table.rows.empty() || table.has_heading) return true;
  return is_start ? !table.begin.empty() : !table.devices.empty();
}

/// Limits the rows and ranks of a table, so that forged lines cannot take all memory. Real tables have up to some
/// thousand ranks and 40 rows.
constexpr std::size_t kMostRows = 100'000;

}  // namespace

void take_benchmark(std::vector<BenchmarkTable>& tables, const Record& record) {
  switch (record.kind) {
    case RecordKind::BenchmarkRank: {
      const auto& rank = record.as<BenchmarkRank>();
      BenchmarkTable* table = &open_table(tables, record.speaker);
      if (!table->rows.empty()) {  // a second run in the same stream
        table->is_concluded = true;
        table = &open_table(tables, record.speaker);
      }
      if (table->devices.size() < kMostRows) {
        table->devices.push_back({rank.rank, rank.pid, rank.device, std::string(rank.host),
                                  std::string(rank.pci), std::string(rank.name),
                                  quoted_line(record)});
      }
      return;
    }
    case RecordKind::BenchmarkHeading: {
      BenchmarkTable& table = open_table(tables, record.speaker);
      const auto& heading = record.as<BenchmarkHeading>();
      table.has_heading = true;
      table.has_redop = heading.has_redop;
      table.begin.add(record.place, record.speaker, record.line);
      return;
    }
    case RecordKind::BenchmarkRow: {
      BenchmarkTable& table = open_table(tables, record.speaker);
      const auto& row = record.as<BenchmarkRow>();
      const bool is_result = row.out_of_place.time_us >= 0 || row.in_place.time_us >= 0;
      table.stopped = {};
      if (!is_result) table.stopped.add(record.place, record.speaker, record.line);
      if (is_result && table.rows.size() < kMostRows) table.rows.push_back(line_of(row, record));
      return;
    }
    default: {
      BenchmarkTable& table = open_table(tables, record.speaker);
      const auto& average = record.as<BenchmarkAverage>();
      table.average_gbs = average.busbw_gbs;
      table.average.add(record.place, record.speaker, record.line);
      table.is_concluded = true;
      return;
    }
  }
}

void take_benchmark_message(std::vector<BenchmarkTable>& tables, const Record& record) {
  const bool is_header = is_message(record, MessageId::BenchmarkOptions) &&
                         !message_argument(record, "threads").empty();
  const bool is_start =
      is_message(record, MessageId::BenchmarkStarted) && contains(record.text(), "starting");
  if (!is_start && !is_header) return;
  BenchmarkTable* table = &open_table(tables, record.speaker);
  if (is_of_earlier_run(*table, is_start)) {
    // Options after rows: the preceding run is over, even if it printed no average.
    if (is_header && !table->rows.empty()) table->is_concluded = true;
    tables.push_back({.speaker = record.speaker});
    table = &tables.back();
  }
  table->begin.add(record.place, record.speaker, record.line);
  table->is_announced = true;
  if (is_start) {
    std::string name(message_argument(record, "program"));
    const std::size_t perf = name.rfind("_perf");
    if (perf != std::string::npos) name.resize(perf);
    table->collective = name.substr(name.rfind('/') + 1);
  }
}

}  // namespace ringside::audit
