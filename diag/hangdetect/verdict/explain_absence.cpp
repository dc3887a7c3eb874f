#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/readers/run_lines.h"
#include "diag/hangdetect/verdict/compare.h"
#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/explain.h"
#include "diag/hangdetect/verdict/wait_graph.h"

namespace ringside::hang {
namespace {

/// Ranks that stand at a front and whose chain of waiting ends at `head`.
std::vector<int> waiters_of(const Standing& standing, const std::vector<int>& heads) {
  std::vector<int> found;
  for (std::size_t r = 0; r < standing.waits.size(); ++r) {
    if (standing.waits[r].empty()) continue;
    const std::vector<int> ends = heads_of(standing.waits, {static_cast<int>(r)});
    const bool leads = std::any_of(ends.begin(), ends.end(), [&](int end) {
      return std::binary_search(heads.begin(), heads.end(), end);
    });
    if (leads) found.push_back(static_cast<int>(r));
  }
  return found;
}

/// The first front that one of the heads is missing from.
const Front* front_without(const Standing& standing, const std::vector<int>& heads) {
  for (const Front& front : standing.fronts) {
    for (const int head : heads) {
      const auto& away = std::binary_search(front.absent.begin(), front.absent.end(), head)
                             ? front.absent
                             : front.unseen;
      if (std::binary_search(away.begin(), away.end(), head)) return &front;
    }
  }
  return nullptr;
}

/// How long the head has stayed away, against its own pace: the newest moment in any dump less the
/// head's last call, over its longest usual pause.
struct Lateness {
  double late_s = 0;
  double pause_s = 0;
  bool is_pace_known = false;  ///< there are enough calls to tell
};

Lateness lateness_of(const Job& job, const Front& front, int head) {
  Lateness late;
  const RankDump* dump = job.rank(head).dump;
  if (dump == nullptr || dump->calls.empty()) return late;
  std::int64_t newest = 0;
  for (const int rank : front.waiting) {
    if (const Call* call = job.find(rank, front.group, front.sequence)) {
      newest = std::max(newest, call->created_ns);
    }
  }
  const std::vector<Call>& calls = dump->calls;
  late.late_s = static_cast<double>(newest - calls.back().created_ns) * 1e-9;
  std::vector<std::int64_t> pauses;
  for (std::size_t i = calls.size() > 200 ? calls.size() - 200 : 1; i < calls.size(); ++i) {
    pauses.push_back(calls[i].created_ns - calls[i - 1].created_ns);
  }
  constexpr std::size_t kEnough = 8;
  late.is_pace_known = pauses.size() >= kEnough;
  if (!pauses.empty()) {
    const auto high = pauses.begin() + static_cast<std::ptrdiff_t>(pauses.size() * 9 / 10);
    std::nth_element(pauses.begin(), high, pauses.end());
    late.pause_s = static_cast<double>(*high) * 1e-9;
  }
  return late;
}

void add_front(const Scene& scene, const Front& front, Explanation& out) {
  const int rank = front.waiting.front();
  const Call* call = scene.job.find(rank, front.group, front.sequence);
  if (call == nullptr) return;
  out.call = call_title(scene.job, front.group, *call);
  out.details.push_back(fmt::format("{} in {}: {}", ranks_that(front.waiting, "waits", "wait"),
                                    out.call, call_text(scene.job.signature(*call))));
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
    if (out.details.size() < 8) {
      out.details.push_back(fmt::format("rank {} made {} last, and nothing since", head, title));
    }
    if (out.evidence.size() < 8) {
      out.evidence.push_back(evidence_of(scene.job, head, last, "its last call: " + title));
    }
  }
  if (!heads.empty()) out.stack = last_stack(scene.job, heads.front());
}

/// All that are idle in the whole job made the same call last: the common path ends there.
bool are_at_one_place(const Scene& scene, const std::vector<int>& idle) {
  const auto last = [&](int rank) -> const Call* {
    const RankDump* dump = scene.job.rank(rank).dump;
    return dump->calls.empty() ? nullptr : &dump->calls.back();
  };
  const Call* first = last(idle.front());
  return first != nullptr && std::all_of(idle.begin(), idle.end(), [&](int rank) {
           const Call* call = last(rank);
           return call != nullptr && call->group == first->group &&
                  call->sequence == first->sequence && call->is_p2p == first->is_p2p;
         });
}

/// One rank waits, everybody else of its group, or of the job, is idle at one and the same place: it is
/// more likely that the one is ahead of the common path than that all others left it.
bool are_others_at_one_place(const Scene& scene, int waiter) {
  std::vector<int> idle;
  for (int r = 0; r < scene.job.world(); ++r) {
    if (scene.job.rank(r).dump == nullptr || r == waiter) continue;
    if (scene.standing.blocks[static_cast<std::size_t>(r)]) return false;
    idle.push_back(r);
  }
  return idle.size() >= 2 && are_at_one_place(scene, idle);
}

bool is_lonely(const Scene& scene, const Front& front, const std::vector<int>& heads) {
  if (front.waiting.size() != 1) return false;
  if (heads.size() >= 2 && front.absent == heads && front.unseen.empty()) return true;
  return are_others_at_one_place(scene, front.waiting.front());
}

/// `rank` stands alone in its call; `heads` are those that it waits for.
Explanation lonely(const Scene& scene, int rank, const std::vector<int>& heads) {
  Explanation out;
  out.kind = Kind::DivergedControlFlow;
  out.culprits = {rank};
  out.confidence = confidence::kLonely;
  const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
  const Call& call = scene.job.rank(rank).dump->calls[block->call];
  out.call = call_title(scene.job, block->group, call);
  out.details.push_back(fmt::format("{} waits in {}: {}", ranks_text(out.culprits), out.call,
                                    call_text(scene.job.signature(call))));
  out.evidence.push_back(evidence_of(scene.job, rank, call, "waits: " + out.call));
  out.why = fmt::format(
      "{} alone went on to {}, while {} at one place behind it: it did not do what is waited for",
      ranks_text(out.culprits), out.call, ranks_that(heads, "stands", "stand"));
  add_last_calls(scene, heads, out);
  out.stack = last_stack(scene.job, rank);
  out.missing.push_back("stacks of the idle ranks (py-spy dump): what they wait in");
  const bool in_creation = std::any_of(heads.begin(), heads.end(), [&](int head) {
    return scene.job.rank(head).notes.is_in_group_creation;
  });
  if (in_creation) {
    out.confidence = confidence::kLonelyBesideCreation;
    out.why += "; their stacks are in the creation of a group, which nobody records";
  }
  return out;
}

Kind kind_of_absence(const RankNotes& notes) {
  return notes.is_busy && !notes.has_exception ? Kind::Straggler : Kind::MissingRank;
}

Explanation with_dump(const Scene& scene, const Front& front, const std::vector<int>& heads) {
  Explanation out;
  out.culprits = heads;
  const RankNotes& notes = scene.job.rank(heads.front()).notes;
  out.kind = kind_of_absence(notes);
  add_front(scene, front, out);
  add_last_calls(scene, heads, out);
  out.why = fmt::format("{} never came to {}: nothing is pending there, and {}", ranks_text(heads),
                        out.call, ranks_that(waiters_of(scene.standing, heads), "waits", "wait"));
  out.confidence = confidence::kAbsent;
  if (notes.has_exception) {
    out.why = fmt::format("rank {} raised {} and did not join {}; {} for it", heads.front(),
                          notes.exception, out.call,
                          ranks_that(waiters_of(scene.standing, heads), "waits", "wait"));
    out.confidence = confidence::kAbsentWithError;
  }
  if (notes.is_busy) out.why += fmt::format("; its stack is in {}", notes.busy_with);
  const bool is_from_log = std::any_of(heads.begin(), heads.end(),
                                       [&](int head) { return scene.job.rank(head).is_from_log; });
  if (is_from_log) {
    out.confidence = std::min(out.confidence, confidence::kAbsentByLog);
    const bool is_launched = scene.job.rank(heads.front()).dump->version == "ras";
    out.why += is_launched
                   ? "; there is no dump of it, and by ncclras it has launched less"
                   : "; there is no dump of it, and its log tells of no time-out of its own";
    out.missing.push_back("dumps of " + ranks_text(heads));
  }
  if (!front.unseen.empty()) {
    out.confidence -= 0.05;
    out.missing.push_back("dumps of " + ranks_text(front.unseen));
  }
  if (!notes.is_busy) {
    out.missing.push_back(
        fmt::format("the stack of {} (py-spy dump): where it is now", ranks_text(heads)));
  }
  return out;
}

/// The first rank that stands at a send or receive with one of the heads.
int transfer_with(const Standing& standing, const std::vector<int>& heads) {
  for (std::size_t r = 0; r < standing.blocks.size(); ++r) {
    const auto& block = standing.blocks[r];
    if (block && block->is_p2p && std::binary_search(heads.begin(), heads.end(), block->peer)) {
      return static_cast<int>(r);
    }
  }
  return -1;
}

/// Nobody waits for them in a collective, but somebody does in a send or receive.
Explanation in_transfer(const Scene& scene, int waiter, const std::vector<int>& heads) {
  Explanation out;
  const auto& block = scene.standing.blocks[static_cast<std::size_t>(waiter)];
  const Call& call = scene.job.rank(waiter).dump->calls[block->call];
  const bool has_dump = scene.job.rank(block->peer).dump != nullptr;
  out.kind = has_dump ? kind_of_absence(scene.job.rank(block->peer).notes) : Kind::MissingRank;
  out.culprits = heads;
  out.confidence = has_dump ? confidence::kOwesTransfer : confidence::kOwesTransferUnseen;
  out.call = call_title(scene.job, block->group, call);
  out.why =
      fmt::format("rank {} stands at {}, and {} never made the other half: {}", waiter, out.call,
                  ranks_text(heads), has_dump ? "nothing is pending there" : "it left no dump");
  out.evidence.push_back(evidence_of(scene.job, waiter, call, "waits: " + out.call));
  add_last_calls(scene, heads, out);
  out.missing.push_back(fmt::format("the stack of {} (py-spy dump)", ranks_text(heads)));
  return out;
}

/// Whether a rank's program wrote after others had timed out, or tells of what takes long: it is elsewhere, and no
/// part of its log that tells of a time-out was cut off.
bool speaks_meanwhile(const Scene& scene, int rank) {
  const RankNotes& notes = scene.job.rank(rank).notes;
  if (notes.last_line.text.empty() || notes.has_alarm || notes.has_exception) return false;
  return notes.last_line.is_late || tells_of_long_work(notes.last_line.text);
}

/// In logs alone: the few that do other things while the others time out.
std::optional<Explanation> speaking(const Scene& scene, const Front& front,
                                    const std::vector<int>& heads) {
  std::vector<int> busy;
  for (const int head : heads) {
    if (head < scene.job.world() && speaks_meanwhile(scene, head)) busy.push_back(head);
  }
  const bool are_few = !busy.empty() && busy.size() * 2 <= front.waiting.size();
  // Others that say nothing may be away as well.
  if (!are_few || heads.size() > busy.size() * (scene.is_world_known ? 2 : 1)) return std::nullopt;
  Explanation out;
  out.kind = Kind::MissingRank;
  out.culprits = busy;
  out.confidence = confidence::kSpeaksMeanwhile;
  add_front(scene, front, out);
  const SaidLine& last = scene.job.rank(busy.front()).notes.last_line;
  constexpr std::size_t kShown = 120;
  out.why =
      fmt::format("{} timed out in {}, and {} no time-out; the last line of rank {} is: {}",
                  ranks_text(front.waiting), out.call, ranks_that(busy, "tells of", "tell of"),
                  busy.front(), last.text.substr(0, kShown));
  out.evidence.push_back({last.file, -1, last.line, last.text});
  out.missing.push_back(fmt::format("the stack of {} (py-spy dump)", ranks_text(busy)));
  return out;
}

/// In logs alone: nobody is accused for saying nothing.
Explanation silent(const Scene& scene, const Front& front, const std::vector<int>& heads,
                   Explanation out) {
  out.kind = Kind::Unknown;
  out.culprits.clear();
  out.confidence = confidence::kSequenceParted;
  out.why = fmt::format("{}{} timed out in {}",
                        scene.is_world_known ? fmt::format("{} of {} ranks: ", front.waiting.size(),
                                                           scene.job.world())
                                             : "",
                        ranks_text(front.waiting), out.call);
  std::vector<int> told;
  std::vector<int> untold;
  for (const int head : heads) {
    const bool has_line =
        head < scene.job.world() && !scene.job.rank(head).notes.last_line.text.empty();
    (has_line ? told : untold).push_back(head);
  }
  for (const int head : told) {
    const SaidLine& last = scene.job.rank(head).notes.last_line;
    if (out.evidence.size() < 6) out.evidence.push_back({last.file, -1, last.line, last.text});
  }
  if (!told.empty()) out.why += fmt::format("; no line of {} tells of this call", ranks_text(told));
  if (scene.is_world_known && !untold.empty())
    out.why += fmt::format("; of {} there is no line here", ranks_text(untold));
  if (!scene.is_world_known) out.why += "; no line says how many ranks there are";
  out.why += ", and silence accuses nobody";
  out.missing.push_back(scene.is_world_known ? "the logs of " + ranks_text(heads)
                                             : "how many ranks the job has, and the logs of all");
  return out;
}

Explanation without_dump(const Scene& scene, const Front& front, const std::vector<int>& heads) {
  Explanation out;
  out.culprits = heads;
  const bool is_lost = std::any_of(scene.standing.blocks.begin(), scene.standing.blocks.end(),
                                   [](const auto& block) { return block && block->is_guess; });
  out.kind = is_lost ? Kind::DeadRank : Kind::MissingRank;
  add_front(scene, front, out);
  const Call* waited = scene.job.find(front.waiting.front(), front.group, front.sequence);
  const bool is_from_log = scene.job.rank(front.waiting.front()).is_from_log;
  const std::size_t waiting = front.waiting.size();
  const bool is_broadcast = waited != nullptr && scene.job.signature(*waited).op == Op::Broadcast;
  // Where others are as silent as the root, their logs are cut.
  const bool is_root_silent = heads == std::vector<int>{0} && waiting > heads.size();
  const bool are_logs_alone = is_from_log && !has_dumps(scene.job);
  if (are_logs_alone) {
    if (auto busy = speaking(scene, front, heads)) return *std::move(busy);
  }
  if (are_logs_alone && is_broadcast && is_root_silent) {
    // Receivers wait for the root. That rank 0 is it holds for nearly every program, and no line shows it.
    out.culprits = {0};
    out.confidence = confidence::kSilentRoot;
    out.why = fmt::format("{} in {}, and rank 0, the usual root, prints nothing",
                          ranks_that(front.waiting, "waits", "wait"), out.call);
    out.missing.push_back("the log and the stack (py-spy dump) of rank 0");
    return out;
  }
  if (is_from_log && waited != nullptr && !needs_everybody(scene.job.signature(*waited).op)) {
    // Who has done its part of a broadcast goes on and prints nothing: silence accuses nobody.
    out.kind = Kind::NetworkStall;
    out.culprits.clear();
    out.confidence = confidence::kSilentInRooted;
    out.why = fmt::format(
        "{} timed out in {}, and {} nothing: in a call with a root that can mean that it ended "
        "there",
        ranks_text(front.waiting), out.call, ranks_that(heads, "prints", "print"));
    out.missing.push_back("Flight Recorder dumps of all ranks, and the network's counters");
    return out;
  }
  std::size_t dumps = 0;
  for (int r = 0; r < scene.job.world(); ++r) dumps += scene.job.rank(r).dump != nullptr ? 1U : 0U;
  if (!are_logs_alone && heads.size() > 1 && heads.size() >= dumps) {
    // Which of the many ranks without a dump did not come, the few dumps do not show.
    out.kind = Kind::Unknown;
    out.culprits.clear();
    out.confidence = confidence::kSequenceParted;
    out.why = fmt::format("{} of {} dumps: cannot tell which rank is missing; {} in {}", dumps,
                          scene.job.world(), ranks_that(front.waiting, "waits", "wait"), out.call);
    out.missing.push_back("dumps of " + ranks_text(heads));
    return out;
  }
  if (are_logs_alone && (heads.size() * 3 > waiting || !scene.is_world_known)) {
    // Logs are cut, and are not all here: a few that speak accuse nobody who does not, and where no line says how many
    // ranks there are, none do.
    return silent(scene, front, heads, std::move(out));
  }
  int lost = 0;
  for (int r = 0; r < scene.job.world(); ++r) lost += scene.job.rank(r).dump == nullptr ? 1 : 0;
  const bool are_all_lost = lost == static_cast<int>(heads.size());
  out.why = fmt::format("{} left no dump, and of those that did {} for {} in {}", ranks_text(heads),
                        ranks_that(waiters_of(scene.standing, heads), "waits", "all wait"),
                        heads.size() == 1 ? "it" : "them", out.call);
  out.confidence =
      are_all_lost ? (heads.size() == 1 ? confidence::kOneUnseen : confidence::kSomeUnseen)
                   : (heads.size() == 1 ? confidence::kSomeUnseen : confidence::kSequenceParted);
  if (is_lost) out.why += "; others lost the connection to a peer";
  out.missing.push_back("dump, log and exit status of " + ranks_text(heads));
  return out;
}

/// Dumps say when a call was made, not when they were written: a rank that is no later than its usual
/// pause may just be about to come. NCCL's recorder writes when its watchdog has timed out; Gloo has
/// none, and is written when somebody asks.
bool are_most_idle(const Scene& scene) {
  int idle = 0;
  int standing = 0;
  for (int r = 0; r < scene.job.world(); ++r) {
    if (scene.job.rank(r).dump == nullptr) continue;
    ++(scene.standing.blocks[static_cast<std::size_t>(r)] ? standing : idle);
  }
  return idle > standing && standing > 1;
}

/// Whether a waiting rank's dump was written within seconds of its call: a rank that is one call behind may be on its way.
bool were_written_at_once(const Job& job, const Front& front) {
  constexpr std::int64_t kSoon = 10'000'000'000;
  return std::any_of(front.waiting.begin(), front.waiting.end(), [&](int rank) {
    const Call* call = job.find(rank, front.group, front.sequence);
    const std::int64_t written = job.rank(rank).dump->written_ns;
    return call != nullptr && written > 0 && written - call->created_ns < kSoon;
  });
}

enum class Coming { MayCome, Unknown, IsLate };

Coming coming_of(const Scene& scene, const Front& front, const std::vector<int>& heads) {
  const int rank = front.waiting.front();
  const Call* call = scene.job.find(rank, front.group, front.sequence);
  if (call == nullptr || is_like_nccl(scene.job.signature(*call).backend)) return Coming::IsLate;
  if (call->state == CallState::Issued)
    return were_written_at_once(scene.job, front) ? Coming::MayCome : Coming::IsLate;
  const bool has_failed = std::any_of(front.waiting.begin(), front.waiting.end(), [&](int waiter) {
    return scene.job.rank(waiter).notes.has_failed || scene.job.rank(waiter).is_from_log;
  });
  if (has_failed) return Coming::IsLate;
  // In a hang nearly all wait for a few. Where more are idle, it is their dumps that are of another moment.
  if (are_most_idle(scene) && !is_lonely(scene, front, heads)) return Coming::MayCome;
  constexpr double kSkew = 0.05;  // seconds between the moments at which ranks write their dumps
  Coming coming = Coming::IsLate;
  for (const int head : heads) {
    if (scene.job.rank(head).notes.has_exception) return Coming::IsLate;
    const Lateness late = lateness_of(scene.job, front, head);
    if (late.late_s <= late.pause_s && late.pause_s > kSkew) return Coming::MayCome;
    if (!late.is_pace_known) coming = Coming::Unknown;
  }
  return coming;
}

Explanation on_its_way(const Scene& scene, const Front& front, const std::vector<int>& heads) {
  Explanation out;
  out.kind = Kind::NotAHang;
  out.confidence = 0.4;
  add_front(scene, front, out);
  out.why = fmt::format(
      "{} in {} for {}, which is no later than its usual pause between calls: nothing here is "
      "older",
      ranks_that(front.waiting, "waits", "wait"), out.call, ranks_text(heads));
  out.missing.push_back(
      "a second set of dumps some seconds later: does anybody stand where they stood?");
  return out;
}

/// What ranks wait for that only ranks without a dump can explain: for each such call, those that may be
/// missing from it. The narrowest first: the other end of a transfer is one rank.
std::vector<std::vector<int>> unexplained_waits(const Scene& scene) {
  const Standing& standing = scene.standing;
  std::vector<std::vector<int>> open;
  for (const Front& front : standing.fronts) {
    const auto& waits = standing.waits[static_cast<std::size_t>(front.waiting.front())];
    if (!front.unseen.empty() && waits == front.unseen) open.push_back(front.unseen);
  }
  for (std::size_t r = 0; r < standing.blocks.size(); ++r) {
    const auto& block = standing.blocks[r];
    if (!block || !block->is_p2p || standing.waits[r].size() != 1) continue;
    if (scene.job.rank(standing.waits[r].front()).dump == nullptr)
      open.push_back(standing.waits[r]);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return open;
}

/// Of ranks without a dump, a smallest set that explains every wait: greedily the one that is missing from
/// most, after those that alone can explain one. Those that wait themselves explain nothing.
std::vector<int> fewest(const Scene& scene, std::vector<int> heads) {
  const auto is_waiting = [&](int rank) {
    return rank < scene.job.world() && scene.job.rank(rank).notes.is_waiting;
  };
  std::erase_if(heads, is_waiting);
  std::vector<std::vector<int>> open = unexplained_waits(scene);
  std::vector<int> chosen;
  const auto choose = [&](const std::vector<int>& ranks) {
    chosen.insert(chosen.end(), ranks.begin(), ranks.end());
    std::erase_if(open, [&](const std::vector<int>& one) {
      return std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
        return std::binary_search(one.begin(), one.end(), rank);
      });
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
    // Several explain as much: nothing tells them apart, so all of them are named.
    choose(best);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen.empty() ? heads : chosen;
}

}  // namespace

std::vector<Explanation> explain_absence(const Scene& scene) {
  const Standing& standing = scene.standing;
  std::vector<int> blocked;
  for (std::size_t r = 0; r < standing.waits.size(); ++r) {
    if (!standing.waits[r].empty()) blocked.push_back(static_cast<int>(r));
  }
  std::vector<int> idle;
  std::vector<int> unseen;
  for (const int head : heads_of(standing.waits, blocked)) {
    if (head >= scene.job.world() || scene.job.rank(head).dump == nullptr) {
      unseen.push_back(head);
    } else if (!standing.blocks[static_cast<std::size_t>(head)]) {
      idle.push_back(head);
    }
  }
  std::vector<Explanation> found;
  if (const Front* front = front_without(standing, idle); front != nullptr && !idle.empty()) {
    if (is_lonely(scene, *front, idle)) {
      found.push_back(lonely(scene, front->waiting.front(), idle));
    }
    found.push_back(with_dump(scene, *front, idle));
    switch (coming_of(scene, *front, idle)) {
      case Coming::MayCome:
        found.back().confidence = 0.3;
        found.push_back(on_its_way(scene, *front, idle));
        break;
      case Coming::Unknown:
        found.back().confidence = std::min(found.back().confidence, 0.6);
        found.back().missing.push_back(
            "longer histories: those that are left do not show how long a pause is usual");
        [[fallthrough]];
      case Coming::IsLate:
        if (found.size() > 1) found.back().confidence = std::min(found.back().confidence, 0.45);
    }
  }
  if (found.empty() && !idle.empty()) {
    if (const int waiter = transfer_with(standing, idle); waiter >= 0) {
      if (are_others_at_one_place(scene, waiter)) found.push_back(lonely(scene, waiter, idle));
      found.push_back(in_transfer(scene, waiter, idle));
      if (found.size() > 1) found.back().confidence = std::min(found.back().confidence, 0.45);
    }
  }
  unseen = fewest(scene, std::move(unseen));
  if (const Front* front = front_without(standing, unseen); front != nullptr && !unseen.empty()) {
    found.push_back(without_dump(scene, *front, unseen));
  } else if (const int waiter = transfer_with(standing, unseen); waiter >= 0 && !unseen.empty()) {
    found.push_back(in_transfer(scene, waiter, unseen));
  }
  return found;
}

}  // namespace ringside::hang
