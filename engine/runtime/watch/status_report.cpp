#include "engine/runtime/watch/status_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/append.h"
#include "base/fnv.h"
#include "base/json.h"
#include "base/local_time.h"
#include "base/text.h"
#include "base/vocabulary.h"
#include "engine/debuglog/diagnostics_text.h"

namespace ringside {
namespace {

using GroupView = FlightRecorder::GroupView;
using State = FlightRecorder::GroupState;

constexpr std::array kStates{"INIT", "RUNNING", "FINALIZE", "ABORT", "NOCOMM"};
/// The collectives that RAS counts, in its order.
constexpr std::array kCounted{Collective::Broadcast, Collective::Reduce, Collective::AllGather,
                              Collective::ReduceScatter, Collective::AllReduce};

/// Numbers of ncclResult_t in RAS's JSON.  source  NCCL nccl.h
constexpr int kNcclSuccess = 0;
constexpr int kNcclRemoteError = 6;
constexpr int kNcclInProgress = 7;
constexpr int kNoDevice = -1;  ///< ranks have no GPU

const char* to_text(State state) { return kStates[static_cast<std::size_t>(state)]; }

std::int64_t total(const FlightRecorder::Counts& counts) {
  std::int64_t sum = 0;
  for (const std::int64_t one : counts) sum += one;
  return sum;
}

Json counts_json(const FlightRecorder::Counts& counts) {
  Json json = Json::object();
  for (const Collective collective : kCounted) {
    json[nccl_name(collective)] = counts[static_cast<std::size_t>(collective)];
  }
  return json;
}

/// One communicator, combined from all its ranks.
struct Whole {
  std::vector<int> ranks;                 ///< ranks of the job
  std::map<int, const GroupView*> views;  ///< by rank of the job
};

/// By name and ranks: the user chooses names, and two groups may have one.
using CommunicatorKey = std::pair<std::string, std::vector<int>>;

std::map<CommunicatorKey, Whole> communicators_of(std::span<const RankStatus> ranks) {
  std::map<CommunicatorKey, Whole> all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const GroupView& view : ranks[rank].groups) {
      Whole& whole = all[{view.name, view.ranks}];
      whole.ranks = view.ranks;
      whole.views[static_cast<int>(rank)] = &view;
    }
  }
  return all;
}

/// place  rank in the communicator
Json member_json(int place, const RankStatus& rank, const GroupView& view) {
  return Json{
      {"rank", place},
      {"host", rank.host},
      {"pid", rank.pid},
      {"cuda_dev", kNoDevice},
      {"nvml_dev", kNoDevice},
      {"status",
       {{"init_state", view.state == State::Init ? kNcclInProgress : kNcclSuccess},
        {"async_error", view.has_failed ? kNcclRemoteError : kNcclSuccess},
        {"finalize_called", view.state == State::Finalize},
        {"destroy_flag", false},
        {"abort_flag", view.state == State::Abort}}},
      {"collective_counts", counts_json(view.launched)},
      {"completed_counts", counts_json(view.completed)},
      {"operations", {{"launched", total(view.launched)}, {"completed", total(view.completed)}}}};
}

Json missing_json(int place, const RankStatus& rank) {
  return {{"rank", place},
          {"host", rank.host.empty() ? "unknown" : rank.host},
          {"pid", rank.pid},
          {"cuda_dev", kNoDevice},
          {"nvml_dev", kNoDevice},
          {"status", {{"unresponsive", true}, {"considered_dead", rank.is_dead}}}};
}

Json communicator_json(const std::string& name, const Whole& whole,
                       std::span<const RankStatus> ranks, const std::string& base) {
  Json members = Json::array();
  Json missing = Json::array();
  for (std::size_t place = 0; place < whole.ranks.size(); ++place) {
    const int rank = whole.ranks[place];
    if (rank < 0 || static_cast<std::size_t>(rank) >= ranks.size()) continue;
    const RankStatus& status = ranks[static_cast<std::size_t>(rank)];
    const auto view = whole.views.find(rank);
    if (view != whole.views.end()) {
      Json& member =
          members.emplace_back(member_json(static_cast<int>(place), status, *view->second));
      if (!base.empty()) member["control_plane"] = fmt::format("{}/rank/{}", base, rank);
    } else if (!status.is_answering) {
      missing.push_back(missing_json(static_cast<int>(place), status));
    }
  }
  const std::string hash =
      fmt::format("{:#x}", fnv_of(fmt::format("{} {}", name, fmt::join(whole.ranks, ","))));
  return {{"hash", hash},
          {"secondary_hash", hash + ":0x0"},
          {"name", name},
          {"size", whole.ranks.size()},
          {"ranks_count", members.size()},
          {"missing_ranks_count", missing.size()},
          {"ranks", std::move(members)},
          {"missing_ranks", std::move(missing)}};
}

std::string ranks_text(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + format_ranks(ranks);
}

/// Groups ranks by a common property, the smallest group first.
template <typename Key>
std::vector<std::pair<Key, std::vector<int>>> by_size(const std::map<Key, std::vector<int>>& sets) {
  std::vector<std::pair<Key, std::vector<int>>> sorted(sets.begin(), sets.end());
  std::ranges::stable_sort(sorted, {}, [](const auto& one) { return one.second.size(); });
  return sorted;
}

/// The parts of status_text() that follow from the communicators.
struct Findings {
  std::string errors, warnings;
};

/// What the ranks of one communicator report, with the ranks of the job that report it.
struct Summary {
  std::map<std::int64_t, std::vector<int>> by_launched;  ///< by number of calls
  std::map<State, std::vector<int>> by_state;
  std::vector<int> failed;
  std::int64_t completed = 0;  ///< by the slowest rank
};

Summary summary_of(const Whole& whole) {
  Summary summary;
  summary.completed = std::numeric_limits<std::int64_t>::max();
  for (const auto& [rank, view] : whole.views) {
    summary.by_launched[total(view->launched)].push_back(rank);
    summary.by_state[view->state].push_back(rank);
    if (view->has_failed) summary.failed.push_back(rank);
    summary.completed = std::min(summary.completed, total(view->completed));
  }
  return summary;
}

/// Appends the communicator's line of the table.
void add_row(const std::string& name, const Whole& whole, const Summary& summary,
             std::string& text) {
  const std::int64_t least = summary.by_launched.begin()->first;
  const std::int64_t most = summary.by_launched.rbegin()->first;
  append(text, "{:<24} {:>6} {:>8} {:<10} {:>12} {:>12}\n", name, whole.ranks.size(),
         whole.views.size(), to_text(summary.by_state.rbegin()->first),
         least == most ? fmt::format("{}", least) : fmt::format("{}-{}", least, most),
         summary.completed);
}

/// Adds the ranks that failed, and the groups of ranks that differ.
void add_findings(const std::string& name, const Summary& summary, bool is_verbose,
                  Findings& findings) {
  std::string& warnings = findings.warnings;
  if (!summary.failed.empty()) {
    append(findings.errors, "{} ERROR: {}\n", name, ranks_text(summary.failed));
  }
  if (summary.by_state.size() > 1) {
    append(warnings, "{} MISMATCH: communicator ranks have different status\n", name);
    for (const auto& [state, some] : by_size(summary.by_state)) {
      append(warnings, "  {}: {}\n", to_text(state), ranks_text(some));
    }
  }
  if (summary.by_launched.size() > 1) {
    append(warnings, "{} MISMATCH: communicator ranks have different operation counts\n", name);
  }
  if (summary.by_launched.size() < 2 && !is_verbose) return;
  for (const auto& [count, some] : by_size(summary.by_launched)) {
    append(warnings, "  {} launched: {}\n", count, ranks_text(some));
  }
}

/// Adds the ranks that do not answer.
void add_silent_ranks(std::span<const RankStatus> ranks, Findings& findings) {
  std::vector<int> silent;
  std::vector<int> dead;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].is_answering) continue;
    (ranks[rank].is_dead ? dead : silent).push_back(static_cast<int>(rank));
  }
  if (!dead.empty()) {
    append(findings.errors, "DEAD: no process listens for {}\n", ranks_text(dead));
  }
  if (!silent.empty()) append(findings.errors, "INCOMPLETE: no answer of {}\n", ranks_text(silent));
}

}  // namespace

std::string to_wire(const RankStatus& status) {
  Json json{{"host", status.host}, {"pid", status.pid}, {"groups", Json::array()}};
  for (const GroupView& group : status.groups) {
    json["groups"].push_back({{"name", group.name},
                              {"desc", group.desc},
                              {"ranks", group.ranks},
                              {"state", static_cast<int>(group.state)},
                              {"has_failed", group.has_failed},
                              {"launched", group.launched},
                              {"completed", group.completed}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RankStatus> parse_rank_status(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    RankStatus status;
    status.is_answering = true;
    json.at("host").get_to(status.host);
    json.at("pid").get_to(status.pid);
    for (const Json& group : json.at("groups")) {
      GroupView view;
      group.at("name").get_to(view.name);
      group.at("desc").get_to(view.desc);
      group.at("ranks").get_to(view.ranks);
      const int state = group.at("state").get<int>();
      if (state < 0 || state >= static_cast<int>(kStates.size())) {
        return Error{ErrorCode::Corrupt, fmt::format("state {} of a communicator", state)};
      }
      view.state = static_cast<State>(state);
      group.at("has_failed").get_to(view.has_failed);
      group.at("launched").get_to(view.launched);
      group.at("completed").get_to(view.completed);
      status.groups.push_back(std::move(view));
    }
    return status;
  } catch (const Json::exception& broken) {
    return Error{ErrorCode::Corrupt, fmt::format("a rank's status: {}", broken.what())};
  }
}

std::string status_json(std::span<const RankStatus> ranks, Seconds took, const std::string& base) {
  Json list = Json::array();
  for (const auto& [key, whole] : communicators_of(ranks)) {
    list.push_back(communicator_json(key.first, whole, ranks, base));
  }
  const auto silent = std::ranges::count(ranks, false, &RankStatus::is_answering);
  return to_text(
      Json{{"nccl_version", "ringside"},
           {"cuda_runtime_version", 0},
           {"cuda_driver_version", 0},
           {"timestamp", local_time()},
           {"communicators_count", list.size()},
           {"communicators", std::move(list)},
           {"ras", {{"collection_time_sec", took.count()}, {"timeouts_count", silent}}}});
}

std::string status_text(std::span<const RankStatus> ranks, Seconds took, bool is_verbose) {
  std::string text =
      fmt::format("Job summary\n===========\n\n{} processes, {} answer ({:.2f}s)\n\n", ranks.size(),
                  std::ranges::count(ranks, true, &RankStatus::is_answering), took.count());
  text += "Communicators\n=============\n\n";
  text += fmt::format("{:<24} {:>6} {:>8} {:<10} {:>12} {:>12}\n", "name", "ranks", "answer",
                      "status", "launched", "completed");
  Findings findings;
  add_silent_ranks(ranks, findings);
  for (const auto& [key, whole] : communicators_of(ranks)) {
    const Summary summary = summary_of(whole);
    add_row(key.first, whole, summary, text);
    add_findings(key.first, summary, is_verbose, findings);
  }
  if (!findings.errors.empty()) text += "\nErrors\n======\n\n" + findings.errors;
  if (!findings.warnings.empty()) text += "\nWarnings\n========\n\n" + findings.warnings;
  return text;
}

std::string diagnostics_report(
    std::span<const std::optional<std::map<std::string, std::string>>> variables,
    const std::string& host, std::int64_t pid, Seconds took) {
  std::vector<RankDiagnosis> ranks;
  for (const auto& own : variables) {
    if (own) ranks.push_back({.variables = *own});
  }
  constexpr std::uint64_t kWholeJob = 0;
  std::string text = "=== RAS Diagnostics ===\n";
  for (const std::string& line :
       environment_diagnostics_text(kWholeJob, ranks, static_cast<int>(variables.size()))) {
    append(text, "{}:{} NCCL DIAG {}\n", host, pid, line);
  }
  append(text, "RAS diagnostics completed in {:.3f} ms across {} ranks\n", took.count() * 1000,
         ranks.size());
  return text;
}

}  // namespace ringside
