#include "diag/hangdetect/readers/dump_reasons.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diag/hangdetect/readers/line_words.h"

namespace ringside::hang {
namespace {

/// Returns the failure that `rank 1 lost rank 2 on channel 0: ...` or `rank 1 cannot reach rank 2 on channel 0: ...`
/// states, unless it is a time-out: the connection broke, could not be made, or carried an unexpected message.
std::optional<LogStatement::What> lost_how(std::string_view reason) {
  const auto says = [&](std::string_view words) {
    return reason.find(words) != std::string_view::npos;
  };
  const bool is_of_connection =
      reason.starts_with("rank ") && (says(" lost rank ") || says(" cannot reach rank "));
  if (!is_of_connection || is_engine_timeout(reason)) return std::nullopt;
  return says(" where this rank expects ") ? LogStatement::What::EngineDiffers
                                           : LogStatement::What::EngineCut;
}

/// The rank that `rank 1 has left the communicator after 19 calls: ...` or `rank 1 has left the communicator: ...` names.
std::optional<int> rank_that_left(std::string_view reason) {
  constexpr std::string_view kBegin = "rank ";
  const std::size_t end = reason.find(" has left the communicator");
  if (end == std::string_view::npos || !reason.starts_with(kBegin)) return std::nullopt;
  const auto rank = parse_int(reason.substr(kBegin.size(), end - kBegin.size()));
  constexpr std::int64_t kMost = 1 << 24;
  if (!rank || *rank < 0 || *rank > kMost) return std::nullopt;
  return static_cast<int>(*rank);
}

/// Converts ranks of the dump's group to ranks of the job; ranks that the group does not list are skipped.
void number_globally(const RankDump& dump, LogStatement& statement) {
  const auto group = std::find_if(dump.groups.begin(), dump.groups.end(),
                                  [&](const auto& one) { return one.name == dump.reason_group; });
  if (dump.reason_group.empty() || group == dump.groups.end()) return;
  std::vector<int> ranks;
  for (const int rank : statement.ranks) {
    const auto at = static_cast<std::size_t>(rank);
    if (rank >= 0 && at < group->ranks.size()) ranks.push_back(group->ranks[at]);
  }
  statement.ranks = std::move(ranks);
}

}  // namespace

std::vector<LogStatement> reasons_of(std::span<const RankDump> dumps, Names& names) {
  std::vector<LogStatement> statements;
  // Many dumps give one reason: the place of its statements.
  struct Stated {
    std::size_t first = 0, end = 0;
  };
  std::map<std::pair<std::string_view, std::string_view>, Stated> stated;
  for (const RankDump& dump : dumps) {
    if (dump.reason.empty()) continue;
    const auto [known, is_new] =
        stated.try_emplace({dump.reason_group, dump.reason}, Stated{statements.size(), 0});
    if (!is_new) {
      for (std::size_t i = known->second.first; i < known->second.end; ++i) {
        statements[i].dump_ranks.push_back(dump.rank);
      }
      continue;
    }
    const LogFacts facts = read_log_text(dump.reason + "\n", dump.path, names);
    for (LogStatement one : facts.statements) {
      number_globally(dump, one);
      one.file = dump.path;
      one.line = -1;
      one.dump_ranks = {dump.rank};
      statements.push_back(std::move(one));
    }
    // The dumps' calls show which ranks differ.
    const auto how =
        facts.facts.mismatches.empty() ? lost_how(dump.reason) : LogStatement::What::EngineDiffers;
    if (const auto left = rank_that_left(dump.reason)) {
      LogStatement statement;
      statement.what = LogStatement::What::LeftGroup;
      statement.ranks = {*left};
      statement.text = dump.reason;
      number_globally(dump, statement);
      statement.file = dump.path;
      statement.line = -1;
      statement.dump_ranks = {dump.rank};
      statements.push_back(std::move(statement));
    }
    if (facts.statements.empty() && how) {
      LogStatement broken;
      broken.what = *how;
      broken.text = dump.reason;
      broken.file = dump.path;
      broken.dump_ranks = {dump.rank};
      statements.push_back(std::move(broken));
    }
    known->second.end = statements.size();
  }
  return statements;
}

std::vector<ConnectionProgress> connections_of(std::span<const RankDump> dumps) {
  struct Both {
    std::uint64_t sent = 0, received = 0;
    bool is_awaited = false, is_full = false;
    bool has_sender = false, has_receiver = false;
  };
  std::map<std::tuple<std::string, int, int, int, std::string>, Both> all;
  for (const RankDump& dump : dumps) {
    for (const DumpProgress& one : dump.progress) {
      const int sender = one.is_send ? dump.rank : one.peer;
      const int receiver = one.is_send ? one.peer : dump.rank;
      Both& both = all[{one.group, sender, receiver, one.channel, one.connection}];
      (one.is_send ? both.sent : both.received) += one.messages;
      (one.is_send ? both.has_sender : both.has_receiver) = true;
      if (one.is_waiting) (one.is_send ? both.is_full : both.is_awaited) = true;
    }
  }
  std::vector<ConnectionProgress> connections;
  for (const auto& [name, both] : all) {
    if (!both.has_sender || !both.has_receiver) continue;
    if (!both.is_awaited && !both.is_full) continue;
    const auto& [group, sender, receiver, channel, connection] = name;
    connections.push_back({.sender = sender,
                           .receiver = receiver,
                           .channel = channel,
                           .sent = both.sent,
                           // A rank that does not wait has received everything it needs.
                           .received = both.is_awaited ? both.received : both.sent,
                           .expected = both.received + (both.is_awaited ? 1 : 0),
                           .is_blocked = both.is_full && both.sent <= both.received,
                           .receiver_waits = both.is_awaited,
                           .sender_waits = both.is_full});
  }
  return connections;
}

}  // namespace ringside::hang
