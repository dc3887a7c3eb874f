#include "diag/hangdetect/verdict/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "diag/hangdetect/readers/op_name.h"

namespace ringside::hang {
namespace {

bool has_ended(const Call& call) { return !call.is_pending() && call.state != CallState::Issued; }

/// Returns the newest call of the group that the rank has certainly left; null: none. The rank's last call does not
/// count, because a call that is marked retired may have failed.
const Call* newest_past(const Job& job, int rank, const GroupCalls& mine) {
  const RankView& view = job.rank(rank);
  if (view.notes.has_failed) return nullptr;
  const std::vector<Call>& calls = view.dump->calls;
  for (auto it = mine.collectives.rbegin(); it != mine.collectives.rend(); ++it) {
    const Call& call = calls[*it];
    if (!has_ended(call) || !needs_everybody(job.signature(call).op)) continue;
    if (call.state == CallState::Completed || *it + 1 < calls.size()) return &call;
  }
  return nullptr;
}

/// Returns a call that the rank waits in according to its dump, and that another rank has left. With Gloo, whose calls
/// end for all ranks or for none, the dump is of an earlier moment. With NCCL, one GPU can be stuck.
const Call* stale_wait(const Job& job, int rank, const GroupCalls& mine, std::int64_t past) {
  for (const std::uint32_t index : mine.collectives) {
    const Call& call = job.rank(rank).dump->calls[index];
    const Signature& signature = job.signature(call);
    if (static_cast<std::int64_t>(call.sequence) > past) return nullptr;
    if (call.is_pending() && signature.backend == "gloo" && needs_everybody(signature.op)) {
      return &call;
    }
  }
  return nullptr;
}

/// Returns whether a trace shows the hang. A trace does not show one moment: a rank that was stopped or killed lacks
/// its newest events, and the others continued without it for a while. If at least half of the ranks are blocked in
/// one call, the newest, they wait for the missing ranks.
bool is_trace_of_hang(const Job& job) {
  int newest = 0;
  int traced = 0;
  std::int64_t most = -1;
  for (int r = 0; r < job.world(); ++r) {
    const RankDump* dump = job.rank(r).dump;
    if (dump == nullptr) continue;
    if (dump->version != "trace") return false;
    ++traced;
    if (dump->calls.empty()) continue;
    const Call& last = dump->calls.back();
    if (static_cast<std::int64_t>(last.sequence) > most) {
      most = last.sequence;
      newest = 0;
    }
    const bool is_there = static_cast<std::int64_t>(last.sequence) == most;
    newest += is_there && last.is_pending() ? 1 : 0;
  }
  return newest > 1 && 2 * newest >= traced;
}

}  // namespace

Progress progress_of(const Job& job) {
  Progress progress;
  if (is_trace_of_hang(job)) return progress;
  for (int r = 0; r < job.world(); ++r) {
    if (!job.rank(r).has_moved) continue;
    if (progress.why.empty()) {
      progress.why = fmt::format("rank {} made new calls between its two dumps", r);
    }
    progress.moved.push_back(r);
  }
  struct Past {
    std::int64_t sequence = -1;
    int rank = -1;
  };
  std::vector<Past> past(job.groups().size());
  for (int r = 0; r < job.world(); ++r) {
    if (job.rank(r).dump == nullptr || job.rank(r).is_from_log ||
        job.rank(r).dump->is_completed_only)
      continue;
    for (const GroupCalls& mine : job.rank(r).groups) {
      const Call* call = newest_past(job, r, mine);
      Past& most = past[static_cast<std::size_t>(mine.group)];
      if (call != nullptr && static_cast<std::int64_t>(call->sequence) > most.sequence) {
        most = {call->sequence, r};
      }
    }
  }
  for (int r = 0; r < job.world(); ++r) {
    if (job.rank(r).dump == nullptr || job.rank(r).is_from_log) continue;
    for (const GroupCalls& mine : job.rank(r).groups) {
      const Past& most = past[static_cast<std::size_t>(mine.group)];
      const std::int64_t entered = job.entered(r, mine.group);
      if (const Call* stale = stale_wait(job, r, mine, most.sequence)) {
        if (progress.why.empty()) {
          progress.why = fmt::format(
              "rank {} has ended call {} of {} and made others since, in which rank {} still waits "
              "by "
              "its dump",
              most.rank, stale->sequence, title_of(job.group(mine.group)), r);
        }
        progress.moved.push_back(r);
        break;
      }
      if (entered < 0 || entered >= most.sequence) continue;
      if (progress.why.empty()) {
        progress.why = fmt::format(
            "rank {} has gone past call {} of {}, which it could not without rank {}, whose dump "
            "ends "
            "at {}",
            most.rank, most.sequence, title_of(job.group(mine.group)), r, entered);
      }
      progress.moved.push_back(r);
      break;
    }
  }
  std::sort(progress.moved.begin(), progress.moved.end());
  progress.moved.erase(std::unique(progress.moved.begin(), progress.moved.end()),
                       progress.moved.end());
  return progress;
}

namespace {

/// Returns whether some rank waits, and `is_short(rank, dump, call)` holds for each rank that does.
template <typename IsShort>
bool are_waits(const Job& job, const WaitState& wait_state, const IsShort& is_short) {
  bool has_wait = false;
  for (int r = 0; r < job.world(); ++r) {
    const auto& block = wait_state.blocks[static_cast<std::size_t>(r)];
    if (!block) continue;
    // A rank whose call failed writes its dump at once: then short waits are no evidence.
    if (job.rank(r).notes.has_failed || job.rank(r).notes.has_lost_peer) return false;
    const RankDump& dump = *job.rank(r).dump;
    if (dump.written_ns <= 0) return false;
    if (!is_short(r, dump, dump.calls[block->call])) return false;
    has_wait = true;
  }
  return has_wait;
}

}  // namespace

bool are_waits_young(const Job& job, const WaitState& wait_state) {
  return are_waits(job, wait_state, [&](int r, const RankDump& dump, const Call& call) {
    if (job.rank(r).is_from_log || !is_like_nccl(job.signature(call).backend)) return false;
    const std::int64_t timeout_ms = dump.timeout_ms > 0 ? dump.timeout_ms : 600'000;
    const std::int64_t long_ns = std::min<std::int64_t>(timeout_ms / 2, 30'000) * 1'000'000;
    return dump.written_ns - call.created_ns <= long_ns;
  });
}

std::optional<double> longest_wait_s(const Job& job, const WaitState& wait_state) {
  std::int64_t longest_ns = 0;
  const bool are_known =
      are_waits(job, wait_state, [&](int /*r*/, const RankDump& dump, const Call& call) {
        longest_ns = std::max(longest_ns, dump.written_ns - call.created_ns);
        return call.created_ns > 0;
      });
  if (!are_known) return std::nullopt;
  return static_cast<double>(longest_ns) / 1e9;
}

bool is_usual_pause(const RankDump& dump, std::int64_t since_ns) {
  constexpr std::size_t kTimes = 2;  // one long pause is the start of the job
  std::vector<std::int64_t> pauses;  // at first the times at which calls began
  for (const Call& one : dump.calls) {
    if (one.created_ns > 0) pauses.push_back(one.created_ns);
  }
  if (pauses.size() <= kTimes) return false;
  std::ranges::sort(pauses);
  std::adjacent_difference(pauses.begin(), pauses.end(), pauses.begin());
  pauses.erase(pauses.begin());  // the first is no difference
  std::ranges::nth_element(pauses, pauses.begin() + (kTimes - 1), std::ranges::greater());
  const std::int64_t usual_ns = pauses[kTimes - 1];
  return dump.written_ns - since_ns <= usual_ns + usual_ns / 2;  // steps differ by less
}

bool are_waits_usual(const Job& job, const WaitState& wait_state) {
  return are_waits(job, wait_state, [](int /*r*/, const RankDump& dump, const Call& call) {
    return is_usual_pause(dump, call.created_ns);
  });
}

std::vector<int> stuck_devices(const Job& job, const WaitState& wait_state) {
  std::vector<int> stuck;
  for (const Front& front : wait_state.fronts) {
    if (!front.absent.empty()) continue;
    // A member without any record may have stopped in the middle of the call: in a ring, some ranks then finish and
    // leave the following ranks waiting.
    if (!front.unseen.empty()) continue;
    std::vector<int> here;
    std::size_t gone = 0;
    for (const int rank : front.entered) {
      if (job.rank(rank).is_from_log) continue;
      const Call* call = job.find(rank, front.group, front.sequence);
      if (call == nullptr) {
        // A dump of active calls does not contain calls that have ended.
        ++gone;
        continue;
      }
      const Signature& signature = job.signature(*call);
      if (!is_like_nccl(signature.backend) || !needs_everybody(signature.op)) return {};
      if (call->is_pending()) {
        here.push_back(rank);
      } else {
        ++gone;
      }
    }
    if (gone > 0 && here.size() <= gone) stuck.insert(stuck.end(), here.begin(), here.end());
  }
  std::sort(stuck.begin(), stuck.end());
  stuck.erase(std::unique(stuck.begin(), stuck.end()), stuck.end());
  return stuck;
}

}  // namespace ringside::hang
