#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/readers/run_lines.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/scene.h"
#include "diag/hangdetect/verdict/wait_graph.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kMostPlaces =
    8;  ///< calls of single ranks that a hypothesis lists: a screen of them

/// Returns whether the ranks, which are ascending, contain `rank`.
bool contains(const std::vector<int>& ranks, int rank) {
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

/// Returns the ranks whose chain of waits ends at one of `heads`.
std::vector<int> waiters_of(const WaitState& wait_state, const std::vector<int>& heads) {
  std::vector<int> found;
  for (std::size_t r = 0; r < wait_state.waits.size(); ++r) {
    if (wait_state.waits[r].empty()) continue;
    const std::vector<int> ends = heads_of(wait_state.waits, {static_cast<int>(r)});
    if (std::ranges::any_of(ends, [&](int end) { return contains(heads, end); }))
      found.push_back(static_cast<int>(r));
  }
  return found;
}

/// Returns the first front from which one of the heads is missing.
const Front* front_without(const WaitState& wait_state, const std::vector<int>& heads) {
  for (const Front& front : wait_state.fronts) {
    for (const int head : heads) {
      if (contains(front.absent, head) || contains(front.unseen, head)) return &front;
    }
  }
  return nullptr;
}

/// How late a rank is, next to the pauses between its recent calls.
struct Lateness {
  double late_s =
      0;  ///< since its last call: until the waiting ranks' newest call, or until its dump ends
  double pause_s = 0;  ///< its usual pause: the 90th percentile, or the longest one of fewer than 8
  bool is_pace_known = false;  ///< there are at least 8 pauses
};

Lateness lateness_of(const Job& job, const Front& front, int head) {
  Lateness late;
  const RankDump* dump = job.rank(head).dump;
  if (dump == nullptr || dump->calls.empty()) return late;
  std::int64_t newest = 0;
  for (const int rank : front.waiting) {
    if (const Call* call = job.find(rank, front.group, front.sequence))
      newest = std::max(newest, call->created_ns);
  }
  newest = std::max(newest, dump->known_until_ns);
  const std::vector<Call>& calls = dump->calls;
  late.late_s = static_cast<double>(newest - calls.back().created_ns) * 1e-9;
  // Only the last calls, as a job is slower while it starts. Chosen: a step or more of most jobs.
  constexpr std::size_t kRecent = 200;
  std::vector<std::int64_t> pauses;
  for (std::size_t i = calls.size() > kRecent ? calls.size() - kRecent : 1; i < calls.size(); ++i) {
    pauses.push_back(calls[i].created_ns - calls[i - 1].created_ns);
  }
  // Chosen: with 8 pauses, the percentile omits the longest one, which may be the checkpoint of a short history.
  constexpr std::size_t kEnough = 8;
  late.is_pace_known = pauses.size() >= kEnough;
  if (!pauses.empty()) {
    const std::size_t last = pauses.size() - 1;
    const std::size_t index = late.is_pace_known ? last * 9 / 10 : last;
    const auto high = pauses.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(pauses.begin(), high, pauses.end());
    late.pause_s = static_cast<double>(*high) * 1e-9;
  }
  return late;
}

/// Adds the waiting ranks and their call.
void add_front(const Scene& scene, const Front& front, Explanation& out) {
  const int rank = front.waiting.front();
  out.waiting = front.waiting;
  const Call* call = scene.job.find(rank, front.group, front.sequence);
  if (call == nullptr) return;
  out.call = call_title(scene.job, front.group, *call);
  out.places.push_back({front.waiting, "", call_text(scene.job.signature(*call))});
  out.evidence.push_back(evidence_of(scene.job, rank, *call, "waits: " + out.call));
}

void add_last_calls(const Scene& scene, const std::vector<int>& heads, Explanation& out) {
  for (const int head : heads) {
    const RankView& view = scene.job.rank(head);
    if (view.dump == nullptr || view.dump->calls.empty()) continue;
    const Call& last = view.dump->calls.back();
    const int group = view.group_of_call.back();
    if (group < 0) continue;
    const std::string title = call_title(scene.job, group, last);
    if (out.places.size() < kMostPlaces) out.places.push_back({{head}, "", "last call: " + title});
    if (out.evidence.size() < kMostPlaces)
      out.evidence.push_back(evidence_of(scene.job, head, last, "its last call: " + title));
  }
  if (!heads.empty()) out.stack = last_stack(scene.job, heads.front());
}

/// Returns whether all idle ranks of the whole job made the same call last: the common path ends there.
bool are_at_one_place(const Scene& scene, const std::vector<int>& idle) {
  const auto last = [&](int rank) -> const Call* {
    const RankDump* dump = scene.job.rank(rank).dump;
    return dump->calls.empty() ? nullptr : &dump->calls.back();
  };
  const Call* first = last(idle.front());
  return first != nullptr && std::ranges::all_of(idle, [&](int rank) {
           const Call* call = last(rank);
           return call != nullptr && call->group == first->group &&
                  call->sequence == first->sequence && call->is_p2p == first->is_p2p;
         });
}

/// Returns whether one rank waits while all others of its group, or of the job, are idle at one place. Then the one
/// rank is more likely ahead of the common path than all the others have left it.
bool are_others_at_one_place(const Scene& scene, int waiter) {
  std::vector<int> idle;
  for (int r = 0; r < scene.job.world(); ++r) {
    if (scene.is_unseen(r) || r == waiter) continue;
    if (scene.block(r)) return false;
    idle.push_back(r);
  }
  return idle.size() >= 2 && are_at_one_place(scene, idle);
}

/// Returns whether one rank waits, and nothing shows that the ranks it waits for are the ones in another place.
bool is_only_waiter(const Scene& scene, const Front& front, const std::vector<int>& heads) {
  if (front.waiting.size() != 1) return false;
  if (heads.size() >= 2 && front.absent == heads && front.unseen.empty()) return true;
  return are_others_at_one_place(scene, front.waiting.front());
}

/// Explains that only `rank` waits in its call; `heads` are the ranks that it waits for.
Explanation explain_rank_ahead(const Scene& scene, int rank, const std::vector<int>& heads) {
  Explanation out;
  out.kind = Kind::DivergedControlFlow;
  out.culprits = {rank};
  out.features = {Feature::WentAhead};
  const Call& call = scene.call_of(rank);
  out.call = call_title(scene.job, scene.block(rank)->group, call);
  out.others = heads;
  out.places.push_back({{rank}, "", call_text(scene.job.signature(call))});
  out.evidence.push_back(evidence_of(scene.job, rank, call, "waits: " + out.call));
  add_last_calls(scene, heads, out);
  out.stack = last_stack(scene.job, rank);
  out.missing.push_back({Need::What::Stacks, heads});
  const bool in_creation = std::ranges::any_of(
      heads, [&](int head) { return scene.job.rank(head).notes.is_in_group_creation; });
  if (in_creation) out.add(Feature::InGroupCreation);
  return out;
}

/// Explains that the heads, which have a dump, have not made the call in which others wait.
Explanation explain_absence(const Scene& scene, const Front& front, const std::vector<int>& heads) {
  Explanation out;
  out.culprits = heads;
  out.features = {Feature::Absent};
  add_front(scene, front, out);
  add_last_calls(scene, heads, out);
  out.waiting = waiters_of(scene.wait_state, heads);
  const auto notes_of = [&](int head) -> const RankNotes& { return scene.job.rank(head).notes; };
  const auto has_raised = [&](int head) { return notes_of(head).has_exception; };
  const bool have_all_raised = std::ranges::all_of(heads, has_raised);
  // A rank whose log holds an exception is not a straggler, whatever its stack shows.
  const bool are_all_busy =
      std::ranges::none_of(heads, has_raised) &&
      std::ranges::all_of(heads, [&](int head) { return notes_of(head).is_busy; });
  out.kind = are_all_busy ? Kind::Straggler : Kind::MissingRank;
  if (have_all_raised) out.add(Feature::OwnException);
  // `what` is a statement on all heads: what only some of them did is stated by rank.
  const auto text_of = [&](int head) {
    const RankNotes& notes = notes_of(head);
    return notes.has_exception ? notes.exception : notes.is_busy ? notes.busy_with : "";
  };
  const std::string first = text_of(heads.front());
  const bool is_common =
      (have_all_raised || are_all_busy) &&
      std::ranges::all_of(heads, [&](int head) { return text_of(head) == first; });
  if (is_common) out.what = first;
  for (const int head : heads) {
    if (is_common || text_of(head).empty() || out.places.size() >= kMostPlaces) continue;
    out.places.push_back({{head}, "", (has_raised(head) ? "raised " : "is in ") + text_of(head)});
  }
  const bool is_from_log =
      std::ranges::any_of(heads, [&](int head) { return scene.job.rank(head).is_from_log; });
  if (is_from_log) {
    out.add(Feature::ByLogsAlone);
    out.missing.push_back({Need::What::Dumps, heads});
  }
  if (!front.unseen.empty()) {
    out.add(Feature::UnseenMembers);
    out.missing.push_back({Need::What::Dumps, front.unseen});
  }
  if (!are_all_busy) out.missing.push_back({Need::What::Stacks, heads});
  return out;
}

/// Returns the first rank that is in a send or receive with one of the heads.
int transfer_with(const WaitState& wait_state, const std::vector<int>& heads) {
  for (std::size_t r = 0; r < wait_state.blocks.size(); ++r) {
    const auto& block = wait_state.blocks[r];
    if (block && block->is_p2p && contains(heads, block->peer)) return static_cast<int>(r);
  }
  return -1;
}

/// Explains that a rank waits for the heads in a send or receive, and none does in a collective.
Explanation explain_missing_transfer(const Scene& scene, int waiter,
                                     const std::vector<int>& heads) {
  Explanation out;
  const auto& block = scene.block(waiter);
  const Call& call = scene.call_of(waiter);
  const bool has_dump = !scene.is_unseen(block->peer);
  out.kind =
      has_dump && scene.job.rank(block->peer).notes.is_busy ? Kind::Straggler : Kind::MissingRank;
  out.culprits = heads;
  out.features = {Feature::OwesTransfer};
  if (has_gone_on(scene.job, waiter, *block)) {
    out.kind = Kind::P2pUnmatched;
    out.add(Feature::SenderWentOn);
  }
  if (!has_dump) out.add(Feature::PeerUnseen);
  out.call = call_title(scene.job, block->group, call);
  out.waiting = {waiter};
  const bool waits = !out.has(Feature::SenderWentOn);
  out.evidence.push_back(
      evidence_of(scene.job, waiter, call, (waits ? "waits: " : "pending: ") + out.call));
  add_last_calls(scene, heads, out);
  if (waits) out.missing.push_back({Need::What::Stacks, heads});
  return out;
}

/// Returns whether a rank's program logged after others had timed out, or logs long work: then it is busy elsewhere,
/// and its log was not cut before a timeout.
bool logs_meanwhile(const Scene& scene, int rank) {
  const RankNotes& notes = scene.job.rank(rank).notes;
  if (notes.last_line.text.empty() || notes.has_alarm || notes.has_exception) return false;
  return notes.last_line.is_late || shows_long_work(notes.last_line.text);
}

/// With logs alone: the few ranks that do other things while the others time out are the culprits.
/// returns  nothing if they are more than half as many as the waiting ranks, or if other ranks lack the call as well
std::optional<Explanation> explain_logging_ranks(const Scene& scene, const Front& front,
                                                 const std::vector<int>& heads) {
  std::vector<int> busy;
  for (const int head : heads) {
    if (head < scene.job.world() && logs_meanwhile(scene, head)) busy.push_back(head);
  }
  // Chosen: a clear majority waits, so that the ranks that log are the exception.
  const bool are_few = !busy.empty() && busy.size() * 2 <= front.waiting.size();
  // Ranks without lines may be absent as well: they may be as many as the ranks that log, as the incomplete logs of a job
  // with a known size; none while the size is unknown, since then any number of ranks may lack a log.
  const std::size_t most_heads = busy.size() * (scene.is_world_known ? 2 : 1);
  if (!are_few || heads.size() > most_heads) return std::nullopt;
  Explanation out;
  out.kind = Kind::MissingRank;
  out.culprits = busy;
  out.features = {Feature::LogsMeanwhile};
  add_front(scene, front, out);
  const LoggedLine& last = scene.job.rank(busy.front()).notes.last_line;
  out.what = last.text;
  out.evidence.push_back({last.file, -1, last.line, last.text});
  out.missing.push_back({Need::What::Stacks, busy});
  return out;
}

/// With logs alone: explains ranks without a log. A missing log is not evidence against a rank.
Explanation explain_missing_logs(const Scene& scene, const Front& front,
                                 const std::vector<int>& heads) {
  Explanation out;
  out.features = {Feature::SilentRanks};
  add_front(scene, front, out);
  out.suspects = heads;
  if (scene.is_world_known) out.total = scene.job.world();
  for (const int head : heads) {
    if (head >= scene.job.world()) continue;
    const LoggedLine& last = scene.job.rank(head).notes.last_line;
    if (last.text.empty()) continue;
    out.others.push_back(head);
    if (out.evidence.size() < 6) out.evidence.push_back({last.file, -1, last.line, last.text});
  }
  if (!scene.is_world_known) out.missing.push_back({Need::What::WorldSize});
  out.missing.push_back({Need::What::Logs, scene.is_world_known ? heads : std::vector<int>{}});
  return out;
}

/// With logs alone: explains heads without a dump.
/// returns  nothing if the size of the job is known and they are few next to the waiting ranks: explain_lost_dumps() names them
std::optional<Explanation> explain_by_logs(const Scene& scene, const Front& front,
                                           const std::vector<int>& heads) {
  if (auto busy = explain_logging_ranks(scene, front, heads)) return busy;
  const Call* waited = scene.job.find(front.waiting.front(), front.group, front.sequence);
  const bool has_op = waited != nullptr && !scene.job.signature(*waited).name.empty();
  const Op op = has_op ? scene.job.signature(*waited).op : Op::Other;
  // Receivers wait for the root, which is rank 0 in nearly every program, though no line shows it. If other ranks have
  // no line either, their logs are cut.
  if (op == Op::Broadcast && heads == std::vector<int>{0} && front.waiting.size() > 1) {
    Explanation out;
    out.kind = Kind::MissingRank;
    out.culprits = {0};
    out.features = {Feature::SilentRoot};
    add_front(scene, front, out);
    out.missing.push_back({Need::What::Logs, {0}});
    out.missing.push_back({Need::What::Stacks, {0}});
    return out;
  }
  // A rank that has done its part of a broadcast continues and logs nothing. So ranks that log are no evidence against
  // ranks that do not, unless a line states the number of ranks.
  if (has_op && !needs_everybody(op)) {
    Explanation out = explain_missing_logs(scene, front, heads);
    if (scene.spans_hosts()) {
      out.kind = Kind::NetworkStall;
      out.add(Feature::SpansHosts);
    }
    return out;
  }
  // Chosen: if more than a quarter of the ranks have no line on the call, logs are missing rather than ranks.
  if (heads.size() * 3 > front.waiting.size() || !scene.is_world_known)
    return explain_missing_logs(scene, front, heads);
  return std::nullopt;
}

/// Explains that ranks without a dump are the ones that others wait for.
Explanation explain_lost_dumps(const Scene& scene, const Front& front,
                               const std::vector<int>& heads) {
  if (!scene.has_dumps) {
    if (auto by_logs = explain_by_logs(scene, front, heads)) return *std::move(by_logs);
  }
  Explanation out;
  out.culprits = heads;
  const bool is_lost = std::ranges::any_of(
      scene.wait_state.blocks, [](const auto& block) { return block && block->is_guess; });
  out.kind = is_lost ? Kind::DeadRank : Kind::MissingRank;
  int lost = 0;
  for (int r = 0; r < scene.job.world(); ++r) lost += scene.is_unseen(r) ? 1 : 0;
  const bool are_all_lost = lost == static_cast<int>(heads.size());
  out.features = {are_all_lost && heads.size() == 1 ? Feature::OneUnseen : Feature::SomeUnseen};
  if (!are_all_lost && heads.size() > 1) out.add(Feature::CouldTurn);
  add_front(scene, front, out);
  out.waiting = waiters_of(scene.wait_state, heads);
  // The few dumps of a large job show that these ranks wait; they cannot show which of the many others did not
  // arrive.
  if (heads.size() > 1 && scene.has_few_dumps()) {
    out.kind = Kind::Unknown;
    out.suspects = std::exchange(out.culprits, {});
    out.features = {Feature::SilentRanks};
    out.count = scene.job.world() - lost;
    out.total = scene.job.world();
  }
  out.missing.push_back({Need::What::ExitStatus, heads});
  return out;
}

/// Returns whether most ranks are idle. Dumps show when a call was made, not when they were written: a rank that is no
/// later than its usual pause may be about to arrive. NCCL's recorder writes when its watchdog has timed out; Gloo has
/// no watchdog, and its dump is written on request.
bool are_most_idle(const Scene& scene) {
  int idle = 0;
  int blocked = 0;
  for (int r = 0; r < scene.job.world(); ++r) {
    if (scene.is_unseen(r)) continue;
    ++(scene.block(r) ? blocked : idle);
  }
  return idle > blocked && blocked > 1;
}

/// Returns whether a waiting rank's dump was written within seconds of its call: a rank that is one call behind may
/// still make the call.
bool were_written_at_once(const Job& job, const Front& front) {
  // Chosen: longer than most steps, and shorter than any timeout that a job sets.
  constexpr std::int64_t kSoon = 10'000'000'000;  // ns
  return std::ranges::any_of(front.waiting, [&](int rank) {
    const Call* call = job.find(rank, front.group, front.sequence);
    const std::int64_t written = job.rank(rank).dump->written_ns;
    return call != nullptr && written > 0 && written - call->created_ns < kSoon;
  });
}

/// Whether ranks that are missing from a call may make it after the dumps were written.
enum class Delay { Usual, Unknown, TooLong };

/// Returns how the delay of the heads compares with their pace. A rank of NCCL is always too late: its recorder writes
/// the dump when a watchdog has timed out.
Delay delay_of(const Scene& scene, const Front& front, const std::vector<int>& heads) {
  const int rank = front.waiting.front();
  const Call* call = scene.job.find(rank, front.group, front.sequence);
  if (call == nullptr || is_like_nccl(scene.job.signature(*call).backend)) return Delay::TooLong;
  if (call->state == CallState::Issued)
    return were_written_at_once(scene.job, front) ? Delay::Usual : Delay::TooLong;
  const bool has_failed = std::ranges::any_of(front.waiting, [&](int waiter) {
    return scene.job.rank(waiter).notes.has_failed || scene.job.rank(waiter).is_from_log;
  });
  if (has_failed) return Delay::TooLong;
  // In a hang nearly all ranks wait for a few. If more are idle, their dumps are of another moment.
  if (are_most_idle(scene) && !is_only_waiter(scene, front, heads)) return Delay::Usual;
  // Seconds. Chosen: dumps of one request are written this far apart, so that a shorter pause proves nothing.
  constexpr double kSkew = 0.05;
  Delay delay = Delay::TooLong;
  for (const int head : heads) {
    if (scene.job.rank(head).notes.has_exception) return Delay::TooLong;
    const Lateness late = lateness_of(scene.job, front, head);
    if (late.late_s <= late.pause_s && late.pause_s > kSkew) return Delay::Usual;
    if (!late.is_pace_known) delay = Delay::Unknown;
  }
  return delay;
}

/// Explains that the heads are no later than usual: the job may still move.
Explanation explain_usual_delay(const Scene& scene, const Front& front,
                                const std::vector<int>& heads) {
  Explanation out;
  out.kind = Kind::NotAHang;
  out.features = {Feature::NotLate};
  double pause_s = 0;
  for (const int head : heads)
    pause_s = std::max(pause_s, lateness_of(scene.job, front, head).pause_s);
  if (pause_s > 0) out.what = format_time(Seconds{pause_s});
  add_front(scene, front, out);
  out.others = heads;
  out.missing.push_back({Need::What::DumpsLater});
  return out;
}

/// Returns, for each wait that only ranks without a dump can explain, the ranks that may be missing from the call. The
/// shortest list comes first: the other end of a transfer is one rank.
std::vector<std::vector<int>> unexplained_waits(const Scene& scene) {
  std::vector<std::vector<int>> open;
  for (const Front& front : scene.wait_state.fronts) {
    if (!front.unseen.empty() && scene.waits(front.waiting.front()) == front.unseen)
      open.push_back(front.unseen);
  }
  for (int r = 0; r < scene.job.world(); ++r) {
    const auto& block = scene.block(r);
    if (!block || !block->is_p2p || scene.waits(r).size() != 1) continue;
    if (scene.is_unseen(scene.waits(r).front())) open.push_back(scene.waits(r));
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return open;
}

/// Returns a small set of ranks without a dump that explains every wait, found greedily: first the ranks that alone can
/// explain a wait, then the ranks that are missing from most calls, all of them if several are missing from equally many.
/// Waiting ranks explain nothing. Returns the other heads if no rank explains a wait.
std::vector<int> smallest_explaining_set(const Scene& scene, std::vector<int> heads) {
  const auto is_waiting = [&](int rank) {
    return rank < scene.job.world() && scene.job.rank(rank).notes.is_waiting;
  };
  std::erase_if(heads, is_waiting);
  std::vector<std::vector<int>> open = unexplained_waits(scene);
  std::vector<int> chosen;
  const auto choose = [&](const std::vector<int>& ranks) {
    chosen.insert(chosen.end(), ranks.begin(), ranks.end());
    std::erase_if(open, [&](const std::vector<int>& one) {
      return std::ranges::any_of(ranks, [&](int rank) { return contains(one, rank); });
    });
  };
  while (!open.empty() && open.front().size() == 1) {
    const std::vector<int> only = open.front();
    if (is_waiting(only.front())) {
      open.erase(open.begin());
    } else {
      choose(only);
    }
  }
  while (!open.empty()) {
    std::map<int, std::size_t> counts;
    std::size_t most = 0;
    for (const std::vector<int>& one : open) {
      for (const int rank : one) {
        if (!is_waiting(rank)) most = std::max(most, ++counts[rank]);
      }
    }
    if (most == 0) break;
    std::vector<int> best;
    for (const auto& [rank, count] : counts) {
      if (count == most) best.push_back(rank);
    }
    // Several ranks explain equally many waits, and nothing distinguishes them: names all.
    choose(best);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen.empty() ? heads : chosen;
}

/// Adds ranks with a dump that are not blocked, while others wait for them.
void add_idle(const Scene& scene, const std::vector<int>& idle, Explanations& out) {
  if (idle.empty()) return;
  const Front* front = front_without(scene.wait_state, idle);
  const int sender = front == nullptr ? transfer_with(scene.wait_state, idle) : -1;
  if (front == nullptr && sender < 0) return;
  Explanation away = front != nullptr ? explain_absence(scene, *front, idle)
                                      : explain_missing_transfer(scene, sender, idle);
  const bool is_only =
      front != nullptr ? is_only_waiter(scene, *front, idle)
                       : !away.has(Feature::SenderWentOn) && are_others_at_one_place(scene, sender);
  if (is_only) {
    out.push_back(
        explain_rank_ahead(scene, front != nullptr ? front->waiting.front() : sender, idle));
    away.add(Feature::OtherExplains);
  }
  if (front != nullptr) {
    const Delay delay = delay_of(scene, *front, idle);
    if (delay == Delay::Usual) {
      away.add(Feature::WithinUsualPause);
      out.push_back(explain_usual_delay(scene, *front, idle));
    } else if (delay == Delay::Unknown) {
      away.add(Feature::PaceUnknown);
      away.missing.push_back({Need::What::LongerDumps});
    }
  }
  out.push_back(std::move(away));
}

/// With logs alone: exactly one of the ranks from 0 to the highest that timed out (or of all ranks of the job) did not
/// time out. This rank certainly exists, as rank 0 does in every job; but its log may be incomplete.
void add_only_rank_without_timeout(const Scene& scene, Explanations& out) {
  // Chosen: of two ranks, one without a timeout is as likely a lost log.
  constexpr std::size_t kFewest = 3;
  if (scene.has_dumps) return;
  std::set<int> timed_out = scene.timed_out;
  for (const auto& [rank, notes] : scene.logs.notes) {
    if (rank >= 0 && notes.has_failed && !notes.has_lost_peer) timed_out.insert(rank);
  }
  if (timed_out.size() < kFewest) return;
  const int end = std::max(scene.logs.known_world, *timed_out.rbegin() + 1);
  if (static_cast<int>(timed_out.size()) + 1 != end) return;
  int other = 0;
  while (timed_out.contains(other)) ++other;
  // A rank that has done its part of a rooted call continues, and does not time out.
  const bool is_rooted = std::ranges::any_of(scene.wait_state.fronts, [&](const Front& front) {
    const Signature& call = scene.job.signature(scene.call_of(front.waiting.front()));
    return !call.name.empty() && !needs_everybody(call.op);
  });
  if (is_rooted) return;
  Explanation one;
  one.kind = Kind::MissingRank;
  one.culprits = {other};
  one.features = {Feature::OnlySilent};
  for (const Front& front : scene.wait_state.fronts) {
    if (one.call.empty()) add_front(scene, front, one);
  }
  one.waiting = {timed_out.begin(), timed_out.end()};
  one.missing.push_back({Need::What::Stacks, one.culprits});
  one.missing.push_back({Need::What::Logs, one.culprits});
  out.push_back(std::move(one));
}

}  // namespace

void add_absences(const Scene& scene, Explanations& out) {
  add_only_rank_without_timeout(scene, out);
  std::vector<int> blocked;
  for (int r = 0; r < scene.job.world(); ++r) {
    if (!scene.waits(r).empty()) blocked.push_back(r);
  }
  std::vector<int> idle;
  std::vector<int> unseen;
  for (const int head : heads_of(scene.wait_state.waits, blocked)) {
    if (scene.is_unseen(head)) {
      unseen.push_back(head);
    } else if (!scene.block(head)) {
      idle.push_back(head);
    }
  }
  add_idle(scene, idle, out);
  unseen = smallest_explaining_set(scene, std::move(unseen));
  if (unseen.empty()) return;
  if (const Front* front = front_without(scene.wait_state, unseen)) {
    out.push_back(explain_lost_dumps(scene, *front, unseen));
  } else if (const int waiter = transfer_with(scene.wait_state, unseen); waiter >= 0) {
    out.push_back(explain_missing_transfer(scene, waiter, unseen));
  }
}

}  // namespace ringside::hang
