#include "diag/report/call_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/one_line.h"
#include "base/wording.h"
#include "diag/hangdetect/model/peer.h"
#include "diag/hangdetect/verdict/call_names.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kGroups = 8;  // tables that are printed
constexpr std::size_t kRows = 40;   // rows of a printed table

bool is_waiting(const Examination& all, int group) {
  return std::ranges::any_of(all.wait_state.blocks,
                             [&](const auto& block) { return block && block->group == group; });
}

const char* state_of(const Examination& all, int group, int rank, std::uint32_t number) {
  const Job& job = *all.job;
  const Call* const call = job.find(rank, group, number);
  if (call == nullptr) {
    const std::int64_t entered = job.entered(rank, group);
    return entered >= 0 && entered < std::int64_t{number} ? "never" : "?";
  }
  const auto& block = all.wait_state.blocks[static_cast<std::size_t>(rank)];
  if (block && block->group == group && block->sequence == number) return "waits";
  switch (call->state) {
    case CallState::Completed:
      return "done";
    case CallState::Scheduled:
    case CallState::Started:
      return "waits";
    case CallState::Retired:
    case CallState::Issued:
      break;
  }
  return "entered";
}

/// A call of most ranks, compared by what a reader sees: dumps and logs of one call differ in other fields.
struct UsualCall {
  std::string text;  ///< empty: no rank's call is known
  const Signature* signature = nullptr;
};

UsualCall usual_call(const Job& job, int group, std::uint32_t number) {
  std::map<std::string, std::pair<std::size_t, const Signature*>> counts;
  for (const int rank : job.group(group).members) {
    const Call* const call = job.find(rank, group, number);
    if (call == nullptr) continue;
    const Signature& signature = job.signature(*call);
    auto& [count, one] = counts[call_text(signature)];
    ++count;
    one = &signature;
  }
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& one) { return one.second.first; });
  return most == counts.end() ? UsualCall{} : UsualCall{most->first, most->second.second};
}

CallTable table_of(const Examination& all, int group, std::size_t columns) {
  const Job& job = *all.job;
  const std::vector<int>& members = job.group(group).members;
  CallTable table;
  table.group = title_of(job.group(group));
  std::int64_t newest = -1;
  std::int64_t oldest = INT64_MAX;
  for (const int rank : members) {
    newest = std::max(newest, job.entered(rank, group));
    const GroupCalls* const calls = job.calls(rank, group);
    if (calls == nullptr || calls->collectives.empty()) continue;
    const Call& first = job.rank(rank).dump->calls[calls->collectives.front()];
    oldest = std::min(oldest, std::int64_t{first.sequence});
  }
  if (newest < 0) return table;
  oldest = std::max(
      {std::int64_t{0}, newest - static_cast<std::int64_t>(columns) + 1, std::min(oldest, newest)});
  std::vector<UsualCall> usual;
  for (std::int64_t number = oldest; number <= newest; ++number) {
    table.numbers.push_back(static_cast<std::uint32_t>(number));
    usual.push_back(usual_call(job, group, table.numbers.back()));
    const Signature* const signature = usual.back().signature;
    table.operations.emplace_back(signature == nullptr ? "" : to_string(signature->op));
  }
  std::map<std::vector<std::string>, std::vector<int>> rows;
  for (const int rank : members) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < table.numbers.size(); ++i) {
      cells.emplace_back(state_of(all, group, rank, table.numbers[i]));
      const Call* const call = job.find(rank, group, table.numbers[i]);
      if (call == nullptr) continue;
      const std::string text = call_text(job.signature(*call));
      if (text != usual[i].text) cells.back() += ": " + text;
    }
    rows[std::move(cells)].push_back(rank);
  }
  for (auto& [cells, ranks] : rows) table.rows.push_back({std::move(ranks), cells});
  std::ranges::sort(table.rows, {}, [](const CallTable::Row& row) { return row.ranks.front(); });
  return table;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line = " ";
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += fmt::format(" {:<{}}", cells[i], widths[i]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// index  of the transfer among the rank's calls
std::string transfer_text(const Examination& all, int rank, int group, std::uint32_t index) {
  const Job& job = *all.job;
  const Call& call = job.rank(rank).dump->calls[index];
  const auto& block = all.wait_state.blocks[static_cast<std::size_t>(rank)];
  const bool is_blocked = block && block->is_p2p && block->call == index;
  const Op op = job.signature(call).op;
  const int peer = peer_of(job, rank, group, call);
  std::string text = fmt::format("{} {}", to_string(op), call.sequence);
  if (peer >= 0) text += fmt::format(" {} {}", op == Op::Send ? "to" : "from", peer);
  return text + (is_blocked || call.is_pending()      ? ": waits"
                 : call.state == CallState::Completed ? ": done"
                                                      : ": entered");
}

/// Returns lines of cells in columns.
std::string columns_text(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()), 0);
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) text += line_of(line, widths);
  return text;
}

std::string transfers_text(const std::vector<TransferTable>& tables) {
  if (tables.empty()) return {};
  std::string text = "the newest sends and receives of each rank, with its own numbers\n";
  for (std::size_t i = 0; i < tables.size() && i < kGroups; ++i) {
    std::vector<std::vector<std::string>> lines{{"rank"}};
    for (const TransferTable::Row& row : tables[i].rows) {
      if (lines.size() > kRows) break;
      lines.push_back({fmt::format("{}", row.rank)});
      lines.back().insert(lines.back().end(), row.cells.begin(), row.cells.end());
    }
    text += fmt::format("\n{}\n{}", one_line(tables[i].group), columns_text(lines));
    if (tables[i].rows.size() > kRows)
      text += fmt::format("  and {} more rows\n", tables[i].rows.size() - kRows);
  }
  if (tables.size() > kGroups)
    text += fmt::format("\nand {} more\n", plural(tables.size() - kGroups, "group", "groups"));
  return text;
}

std::string text_of(const CallTable& table) {
  std::vector<std::vector<std::string>> lines{{"ranks"}};
  for (std::size_t i = 0; i < table.numbers.size(); ++i)
    lines.front().push_back(fmt::format("{} {}", table.operations[i], table.numbers[i]));
  for (std::size_t i = 0; i < table.rows.size() && i < kRows; ++i) {
    lines.push_back({fold_ranks(table.rows[i].ranks)});
    for (const std::string& cell : table.rows[i].cells) lines.back().push_back(one_line(cell));
  }
  std::string text = one_line(table.group) + "\n" + columns_text(lines);
  if (table.rows.size() > kRows)
    text += fmt::format("  and {} more rows\n", table.rows.size() - kRows);
  return text;
}

}  // namespace

std::vector<CallTable> call_tables(const Examination& all, std::size_t columns) {
  std::vector<int> order;
  for (int group = 0; group < std::ssize(all.job->groups()); ++group) order.push_back(group);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](int group) { return is_waiting(all, group); });
  std::vector<CallTable> tables;
  for (const int group : order) {
    CallTable table = table_of(all, group, columns);
    if (!table.numbers.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

Json call_tables_json(const Examination& all) {
  Json tables = Json::array();
  for (const CallTable& table : call_tables(all)) {
    Json rows = Json::array();
    for (const CallTable::Row& row : table.rows)
      rows.push_back({{"ranks", row.ranks}, {"cells", row.cells}});
    tables.push_back({{"group", table.group},
                      {"numbers", table.numbers},
                      {"operations", table.operations},
                      {"rows", std::move(rows)}});
  }
  return tables;
}

std::vector<TransferTable> transfer_tables(const Examination& all, std::size_t columns) {
  std::set<int> groups;
  for (const auto& block : all.wait_state.blocks) {
    if (block && block->is_p2p && block->group >= 0) groups.insert(block->group);
  }
  std::vector<TransferTable> tables;
  for (const int group : groups) {
    TransferTable table{.group = title_of(all.job->group(group)), .rows = {}};
    for (const int rank : all.job->group(group).members) {
      const GroupCalls* const calls = all.job->calls(rank, group);
      TransferTable::Row row{.rank = rank, .cells = {}};
      const std::size_t count = calls == nullptr ? 0 : calls->transfers.size();
      for (std::size_t i = count - std::min(count, columns); i < count; ++i)
        row.cells.push_back(transfer_text(all, rank, group, calls->transfers[i]));
      if (row.cells.empty()) {
        row.cells.emplace_back(all.job->rank(rank).dump == nullptr ? "no dump"
                                                                   : "no send or receive");
      }
      table.rows.push_back(std::move(row));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

Json transfer_tables_json(const Examination& all) {
  Json tables = Json::array();
  for (const TransferTable& table : transfer_tables(all)) {
    Json rows = Json::array();
    for (const TransferTable::Row& row : table.rows)
      rows.push_back({{"rank", row.rank}, {"cells", row.cells}});
    tables.push_back({{"group", table.group}, {"rows", std::move(rows)}});
  }
  return tables;
}

std::string call_tables_text(const Examination& all) {
  const std::vector<CallTable> tables = call_tables(all);
  const std::string transfers = transfers_text(transfer_tables(all));
  if (tables.empty() && transfers.empty())
    return "no dump names a collective, so there is no table of calls\n";
  if (tables.empty()) return transfers;
  std::string text = transfers + (transfers.empty() ? "" : "\n");
  text += "collectives by rank and by number in the dumps\n";
  for (std::size_t i = 0; i < tables.size() && i < kGroups; ++i) text += "\n" + text_of(tables[i]);
  if (tables.size() > kGroups)
    text += fmt::format("\nand {} more\n", plural(tables.size() - kGroups, "group", "groups"));
  return text +
         "\n  never: the rank has not entered the call; entered: its end is not recorded; ?: no "
         "dump, or "
         "no longer in it\n";
}

}  // namespace ringside::hang
