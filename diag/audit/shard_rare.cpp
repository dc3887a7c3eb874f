#include <fmt/format.h>

#include <algorithm>

#include "diag/audit/shard.h"
#include "diag/job/nccl_result.h"
#include "diag/job/occupation.h"
#include "diag/logparse/benchmark_records.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/paste.h"
#include "diag/logparse/topo_records.h"

// What a Shard takes from lines of which a log has few, whatever its size: messages, versions, settings, the parts of a
// start, tables of nccl-tests, reports of ncclras, Python errors, and lines of other programs. shard.cpp takes the
// lines that grow with the job: connections, rings, trees and calls.
//
// Each table has a limit, so that a log with forged or repeated lines cannot take all memory: kMostFacts, kMostRows,
// kMostKept. They are far above the numbers in logs of real jobs.

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns whether a person or a test writes about the stack, rather than the stack itself: a question, a sentence in
/// the first person, a test's result. Issues and chats quote logs between such lines.
bool is_talk(std::string_view text) {
  // A question of c10d itself: `Did the remote server shutdown or crash?`
  const bool asks =
      (text.ends_with('?') || contains(text, "? ")) && !contains(text, "Did the remote");
  // A program does not write `I` about itself.
  return asks || starts_with_any(text, {"I ", "We ", "My "}) ||
         contains_any(text, {" I ", " my ", "I'm ", "I've ", " PASSED", " SKIPPED"}) ||
         text.ends_with(" ... ok");
}

/// Returns whether a line only repeats what another line reports (a command that a shell echoes, the end of an
/// exception's text, a source line), or holds data.
bool is_echo(std::string_view text) {
  constexpr std::size_t kLongest = 1'000;  // longer lines are a program's settings
  return text.size() > kLongest || contains(text, "{\"") ||
         starts_with_any(text,
                         {"+ ", "\"", "Last error", "Exception raised from", "raise ",
                          "ncclSystemError:", "ncclInternalError:", "ncclUnhandledCudaError:",
                          "ncclRemoteError:", "ncclInvalidUsage:", "self.", "dist.", "torch."});
}

QuotedLine quote(const Record& record) {
  return {record.place, record.speaker, quotable(record.line)};
}

/// Returns a row with the results of the faster half.
BenchmarkLine line_of(const BenchmarkRow& row, const Record& record) {
  const BenchmarkResult& out = row.out_of_place;
  const BenchmarkResult& in = row.in_place;
  const BenchmarkResult& best = in.busbw_gbs > out.busbw_gbs ? in : out;
  return {.bytes = row.bytes,
          .time_us = best.time_us,
          .busbw_gbs = best.busbw_gbs,
          .wrong = std::max(out.wrong, in.wrong),
          .quoted = quote(record)};
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

/// Takes a line of nccl-tests' output: a rank of the header, the column headings, a row, or the average.
void take_benchmark(std::vector<BenchmarkTable>& tables, const Record& record) {
  constexpr std::size_t kMostRows = 100'000;
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
                                  std::string(rank.pci), std::string(rank.name), quote(record)});
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

/// Takes one of the two messages that begin a run: `# Collective test starting: all_reduce_perf`, which names the
/// collective (nccl-tests 2.17.6 and later), and then the options, `# nThread 1 nGpus 8 minBytes ...`. Opens a
/// new table if the last one already has what this message begins, or what follows it.
void take_benchmark_message(std::vector<BenchmarkTable>& tables, const Record& record) {
  const bool is_header = is_message(record, MessageId::BenchmarkOptions) &&
                         !message_argument(record, "threads").empty();
  const bool is_start =
      is_message(record, MessageId::BenchmarkStarted) && contains(record.text(), "starting");
  if (!is_start && !is_header) return;
  BenchmarkTable* table = &open_table(tables, record.speaker);
  if (!table->rows.empty() || table->has_heading || (is_start && !table->begin.empty()) ||
      (is_header && !table->devices.empty())) {
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

}  // namespace

/// Notes a line of the stack, by its prefix or by its words, that no rule has read and that has no known reason.
void Shard::note_unread(const Record& record, const PlainSet& lines) {
  const bool is_after_frame = last_plain_ == RecordKind::Traceback;
  last_plain_ = record.kind;
  // These words show what a line is about, not that a rule understands it.
  static const PlainSet kInconclusive =
      plain_set({PlainLine::StackWord, PlainLine::Occupied, PlainLine::GpuName,
                 PlainLine::WorldSize, PlainLine::ToolLine, PlainLine::AmdWord});
  const bool is_read = (lines & ~kInconclusive).any() || reader_.knows_line();
  switch (record.kind) {
    case RecordKind::Unknown:
    case RecordKind::Fragment:
      if (is_read) return;
      unread.lines.add(record.place, record.speaker, record.line);
      if (record.level == Level::Warn)
        unread.warnings.add(record.place, record.speaker, record.line);
      return;
    case RecordKind::Text:
      // The source line below a frame of a traceback is not a message.
      if (is_after_frame || is_read || !has_line(lines, PlainLine::StackWord)) return;
      if (!is_trouble_of_stack(record.text()) || is_echo(trimmed_left(record.text()))) return;
      if (is_talk(trimmed(record.text()))) return;
      unread.lines.add(record.place, record.speaker, record.line);
      unread.texts.add(record.place, record.speaker, record.line);
      return;
    default:
      return;
  }
}

/// Takes a reason of a failure that a library's line states in addition to its message.
void Shard::take_reasons(const Record& record) {
  const PlainSet lines = plain_lines_of(record.line);
  for (std::size_t i = kFirstReason; i < kPlainLines; ++i) {
    if (lines[i]) keep_plain(record, i);
  }
}

/// Keeps a line of type `line`, the number of a PlainLine.
void Shard::keep_plain(const Record& record, std::size_t line) {
  constexpr std::size_t kMostKept = 1'000;
  plain[line].evidence.add(record.place, record.speaker, record.line);
  if (plain[line].kept.size() >= kMostKept) return;
  plain[line].kept.push_back({quote(record), speakers[record.speaker].launcher_rank});
}

/// Takes a line without NCCL's prefix, by the words in it: the types of PlainLine, tools' tables, versions.
void Shard::take_plain(const Record& record) {
  if (matrix_lines_.wants(record.text())) {
    matrix_lines_.take(record, speakers[record.speaker].host, matrices);
  }
  PlainSet lines = plain_lines_of(record.line);
  if (has_line(lines, PlainLine::ToolLine) || capability_lines_.awaits_answer())
    capability_lines_.take(record, capabilities);
  note_unread(record, lines);
  is_of_job = is_of_job || (lines & ~words_of_anybody()).any();
  // NCCL prints its last warning on the line after `Last error:`.
  const bool is_head =
      record.kind == RecordKind::Message && is_message(record, MessageId::LastError);
  if (is_after_last_error_ && !is_head && !trimmed(record.text()).empty()) {
    lines.set(static_cast<std::size_t>(PlainLine::LastError));
    is_after_last_error_ = false;
  }
  is_after_last_error_ = is_after_last_error_ || is_head;
  if (version_facts.empty() && has_line(lines, PlainLine::StackWord)) {
    const std::string_view version = library_version_in(record.line);
    if (!version.empty()) version_facts.emplace(version, VersionFact{.is_of_text = true});
  }
  // The line before a progress bar may say what the bar measures.
  if (!has_line(lines, PlainLine::Occupied) && record.kind == RecordKind::Text &&
      !record.line.empty()) {
    before_.assign(record.line.substr(0, kQuotedBytes));
    before_place_ = record.place;
  }
  for (std::size_t i = 0; lines.any() && i < kPlainLines; ++i) {
    if (!lines[i]) continue;
    if (i == static_cast<std::size_t>(PlainLine::StackWord) ||
        i == static_cast<std::size_t>(PlainLine::ToolLine))
      continue;
    if (i == static_cast<std::size_t>(PlainLine::Occupied)) {
      keep_occupied(record);
    } else {
      keep_plain(record, i);
    }
  }
}

/// Keeps a line of a busy process. A progress bar is drawn again and again: only its last state is kept.
void Shard::keep_occupied(const Record& record) {
  using What = job::Occupation::What;
  const auto is_bar = [](What what) { return what == What::Bar || what == What::BarDone; };
  const std::string_view newest = record.line.substr(record.line.rfind('\r') + 1);
  const What doing = job::occupation_in(newest).what;
  if (doing == What::None) return;
  PlainLines& occupied = plain[static_cast<std::size_t>(PlainLine::Occupied)];
  const bool is_redrawn = is_bar(doing) && !occupied.kept.empty() &&
                          occupied.kept.back().quoted.process == record.speaker &&
                          is_bar(job::occupation_in(occupied.kept.back().quoted.text).what);
  if (is_redrawn) occupied.kept.pop_back();
  if (is_bar(doing) && !before_.empty()) {
    occupied.evidence.add(before_place_, record.speaker, before_);
    before_.clear();
  }
  keep_plain(record, static_cast<std::size_t>(PlainLine::Occupied));
  if (is_bar(doing) && !occupied.kept.empty()) occupied.kept.back().quoted.text = quotable(newest);
}

void Shard::take_rare(const Record& record) {
  constexpr std::size_t kMostFacts = 10'000;
  switch (record.kind) {
    case RecordKind::Message:
      messages.take(record);
      take_benchmark_message(tables, record);
      if (record.level == Level::None) {
        take_plain(record);
      } else if (record.level == Level::Warn || facts_of(record.as<Message>().id).weight != 'I' ||
                 is_message(record, MessageId::OfiOther)) {
        take_reasons(record);
      }
      return;
    case RecordKind::LibraryVersion: {
      const auto& version = record.as<LibraryVersion>();
      if (record.is_torn || record.is_cut) return;  // 2.2 may be the beginning of 2.22
      const std::string text(version.text);
      versions[text].add(record);
      version_facts.emplace(
          text, VersionFact{version.library == Library::Rccl, version.is_of_benchmark, false,
                            version.code, std::string(version.toolkit)});
      return;
    }
    case RecordKind::Environment: {
      const auto& echo = record.as<logs::Environment>();
      if (echo.how == logs::Environment::How::Config || record.is_torn) return;
      auto& settings = echo.how == logs::Environment::How::Shell ? exports : environment;
      if (settings.size() < kMostFacts) {
        settings[{std::string(echo.name), std::string(echo.value)}].add(record);
      }
      return;
    }
    case RecordKind::NetDevices: {
      const auto& devices = record.as<NetDevices>();
      const std::string list = devices.none_found ? std::string() : std::string(devices.list);
      if (record.is_torn && !devices.none_found) return;
      if (net_devices.size() < kMostFacts)
        net_devices[{std::string(devices.net), list}].add(record);
      return;
    }
    case RecordKind::NetworkInUse: {
      const auto& used = record.as<NetworkInUse>();
      if (record.is_torn) return;
      networks[std::string(used.name)].add(record);
      // Before `Init START`, if there is one: it is about the next communicator.
      SpeakerParts& speaker = spoken[record.speaker];
      speaker.network = nets.number_of(used.name);
      const bool is_open = speaker.current != kNone && !speaker.is_closed;
      if (is_open && parts[speaker.current].comm == 0) {
        parts[speaker.current].network = speaker.network;
      }
      return;
    }
    case RecordKind::BootstrapInterface: {
      const auto& bootstrap = record.as<BootstrapInterface>();
      if (bootstraps.size() < kMostFacts) {
        bootstraps[{std::string(bootstrap.interface), std::string(bootstrap.address)}].add(record);
      }
      return;
    }
    case RecordKind::InitTimings: {
      const auto& timings = record.as<InitTimings>();
      const SpeakerParts& speaker = spoken[record.speaker];
      for (auto at = speaker.parts.rbegin(); at != speaker.parts.rend(); ++at) {
        CommPart& part = parts[*at];
        if (part.rank != timings.rank || part.nranks != timings.nranks || part.init_s >= 0)
          continue;
        part.init_s = timings.total;
        part.bootstrap_s = timings.bootstrap;
        break;
      }
      constexpr float kSlow_s =
          30;  // rules/start.cpp: a note from here on, a warning from 120 s on
      if (timings.total >= kSlow_s) slow_inits.add(record);
      return;
    }
    case RecordKind::ChannelCounts: {
      const auto& counts = record.as<ChannelCounts>();
      CommPart& part = parts[setup_part(record)];
      part.coll_channels = counts.coll;
      part.nvls_channels = counts.nvls;
      part.p2p_channels = counts.p2p;
      channel_counts[counts.coll].add(record);
      return;
    }
    case RecordKind::GdrOfHca: {
      const auto& hca = record.as<GdrOfHca>();
      gdr_of_hca[{std::string(hca.net), hca.is_enabled}].add(record);
      return;
    }
    case RecordKind::RingOrder: {
      const auto& ring = record.as<RingOrder>();
      const std::uint32_t part = setup_part(record);
      parts[part].ring_channels = std::max(parts[part].ring_channels, ring.nchannels);
      RingList list{part, ring.channel, !ring.ends_in_dots && !record.is_torn && !record.is_cut,
                    static_cast<std::uint32_t>(ring_ranks.size()), 0};
      std::int32_t rank = -1;
      for (IntCursor cursor(ring.ranks); cursor.next(rank);) ring_ranks.push_back(rank);
      list.count = static_cast<std::uint32_t>(ring_ranks.size()) - list.at;
      longest_ring = std::max<std::size_t>(longest_ring, list.count);
      ring_lists.push_back(list);
      return;
    }
    case RecordKind::GraphPattern: {
      const auto& graph = record.as<GraphPattern>();
      PatternFact pattern{graph.pattern,
                          graph.cross_nic,
                          graph.nchannels,
                          graph.bw_intra,
                          graph.bw_inter,
                          std::string(graph.type_intra),
                          std::string(graph.type_inter)};
      auto known = std::ranges::find(patterns, pattern);
      if (known == patterns.end()) {
        if (patterns.size() >= kMostFacts) return;
        known = patterns.insert(known, std::move(pattern));
      }
      known->evidence.add(record.place, record.speaker, record.line);
      return;
    }
    case RecordKind::ResultStack: {
      const auto& result = record.as<ResultStack>();
      if (job::is_nccl_failure(result.code)) results[result.code].add(record);
      return;
    }
    case RecordKind::BenchmarkRank:
    case RecordKind::BenchmarkHeading:
    case RecordKind::BenchmarkRow:
    case RecordKind::BenchmarkAverage:
      return take_benchmark(tables, record);
    case RecordKind::Xid: {
      const auto& xid = record.as<Xid>();
      if (xids.size() < kMostFacts) {
        xids.push_back({xid.code, xid.pid, xid.bus_id, xid.is_switch, xid.is_fatal,
                        std::string(xid.text), quote(record)});
      }
      return;
    }
    case RecordKind::RasComm: {
      const auto& comm = record.as<RasComm>();
      if (ras.size() < kMostFacts) {
        ras.push_back({.nranks = comm.nranks,
                       .missing = comm.ranks_missing,
                       .status = std::string(comm.status),
                       .errors = std::string(comm.errors),
                       .quoted = quote(record)});
      }
      return;
    }
    case RecordKind::RasRank: {
      const auto& rank = record.as<RasRank>();
      if (ras.size() < kMostFacts) {
        ras.push_back({.is_rank = true,
                       .is_dead = rank.state == RasRank::State::Dead,
                       .is_missing = rank.state == RasRank::State::Missing,
                       .rank = rank.rank,
                       .operation = rank.operation,
                       .status = std::string(rank.status),
                       .host = std::string(rank.host),
                       .quoted = quote(record)});
      }
      return;
    }
    case RecordKind::PythonError: {
      const auto& error = record.as<PythonError>();
      if (python_errors.size() < kMostFacts) {
        python_errors.push_back({std::string(error.type), std::string(error.text),
                                 speakers[record.speaker].launcher_rank, quote(record)});
      }
      take_plain(record);
      return;
    }
    default:
      return;
  }
}

}  // namespace ringside::audit
