#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "diag/hangdetect/readers/last_lines.h"
#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/told.h"

namespace ringside::hang {

using What = LogStatement::What;

namespace {

/// Somebody waits, or says so.
bool is_hang_told(const LogFacts& facts) {
  const bool waits = std::any_of(facts.stacks.begin(), facts.stacks.end(),
                                 [](const ProcessStack& stack) { return is_waiting(stack.doing); });
  return facts.timeouts > 0 || facts.run.waits > 0 || facts.run.claims > 0 || waits;
}

/// Processes that ps shows in a state in which nothing moves.
void add_stopped(const LogFacts& facts, std::vector<Explanation>& out) {
  struct State {
    std::string_view letters;
    Kind kind;
    double confidence;
    std::string_view words;
  };
  static constexpr std::array kStates = {
      State{"Tt", Kind::Straggler, confidence::kStopped,
            "is stopped, by a signal (SIGSTOP) or a debugger, and the others run"},
      State{"Z", Kind::DeadRank, confidence::kStopped,
            "has ended and was not waited for (defunct)"},
      State{"D", Kind::Straggler, confidence::kInKernel,
            "stands in the kernel, for a file system or a driver"}};
  const auto said = all_of(facts, What::Stopped);
  for (const State& state : kStates) {
    std::vector<const LogStatement*> some = said;
    std::erase_if(some, [&](const LogStatement* one) {
      return state.letters.find(static_cast<char>(one->code)) == std::string_view::npos;
    });
    if (some.empty()) continue;
    out.push_back(told(state.kind, some, ranks_of(some), state.confidence,
                       fmt::format("the process of local rank {} {}, by ps; it is the global rank "
                                   "too if the job has one host",
                                   fold_ranks(ranks_of(some)), state.words)));
    out.back().missing.push_back(
        "who stopped it: /proc/PID/status (TracerPid), the shell's history");
  }
}

/// Pods that never started or have ended, of a job whose other pods run. A pod's index is the rank's where each has one.
void add_pods(const LogFacts& facts, std::vector<Explanation>& out) {
  // `ranks` are pods here; where the job has more ranks, each pod has the same number of them, in its order.
  const auto ranks_in = [&](const std::vector<const LogStatement*>& said) {
    const auto pods = static_cast<int>(said.front()->code);
    const bool are_even = pods > 1 && facts.known_world >= pods && facts.known_world % pods == 0;
    const int each = are_even ? facts.known_world / pods : 1;
    std::vector<int> ranks;
    for (const int pod : ranks_of(said)) {
      for (int i = 0; i < each; ++i) ranks.push_back(pod * each + i);
    }
    return std::pair(ranks, each);
  };
  for (const What what : {What::PodWaits, What::PodEnded}) {
    const auto said = all_of(facts, what);
    if (said.empty()) continue;
    const bool waits = what == What::PodWaits;
    const auto [ranks, each] = ranks_in(said);
    out.push_back(
        told(waits ? Kind::MissingRank : Kind::DeadRank, said, ranks, confidence::kPodState,
             fmt::format("the pod of index {} {} ({}), and the others run; {}",
                         fold_ranks(ranks_of(said)), waits ? "never started" : "has ended",
                         said.front()->detail,
                         each == 1 ? std::string("that is the rank, too, if each pod has one")
                                   : fmt::format("with {} ranks in each pod, these are {}", each,
                                                 ranks_text(ranks)))));
    out.back().missing.push_back("kubectl describe pod: its events say why");
  }
}

/// A rank that takes much longer than the others for what each does for itself.
void add_slow(const LogFacts& facts, std::vector<Explanation>& out) {
  if (const auto said = all_of(facts, What::Slow); !said.empty()) {
    const std::vector<int> named = ranks_of(said);
    const bool is_local = said.front()->detail.starts_with("nvidia-smi");
    const double sure = named.empty() ? confidence::kDeathOfNobody
                        : is_local    ? confidence::kLocalRankOnly
                                      : confidence::kSlowByTimers;
    out.push_back(
        told(Kind::Straggler, said, named, sure,
             fmt::format("{} {}: the others wait for it in every step", said.front()->detail,
                         named.empty() ? "a GPU" : ranks_text(named))));
  }
  const std::vector<int> slow = slow_ranks(facts.timers);
  if (slow.empty()) return;
  Explanation one;
  one.kind = Kind::Straggler;
  one.culprits = slow;
  one.confidence = confidence::kSlowByTimers;
  for (const RankTimer& timer : facts.timers) {
    if (!is_own_work(timer.name) || !timer.times.contains(slow.front()) || one.details.size() >= 4)
      continue;
    std::vector<double> times;
    for (const auto& [rank, time] : timer.times) times.push_back(time);
    std::sort(times.begin(), times.end());
    one.details.push_back(fmt::format("{}: {} of rank {}, {} of the middle one", timer.name,
                                      timer.times.at(slow.front()), slow.front(),
                                      times[(times.size() - 1) / 2]));
    one.evidence.push_back({facts.timers_file, -1, timer.line, one.details.back()});
  }
  one.why = fmt::format(
      "{} much longer than the others for their own work, and the others wait in "
      "what follows: the job is slow, and stands only if that does not end",
      ranks_that(slow, "takes", "take"));
  one.missing.push_back("the clocks, temperature and throttle reasons of that GPU (nvidia-smi -q)");
  out.push_back(std::move(one));
}

/// A rank that says last that it leaves something out, as its last batch, while others give up waiting.
void add_skipper(const LogFacts& facts, std::vector<Explanation>& out) {
  std::vector<int> ranks;
  for (const auto& [rank, last] : facts.run.last_lines) {
    const std::string small = lower_case(last.text);
    const bool skips = small.find("skip") != std::string::npos ||
                       small.find("exhausted") != std::string::npos ||
                       small.find("no more batches") != std::string::npos;
    if (skips) ranks.push_back(rank);
  }
  if (ranks.empty() || ranks.size() * 2 > facts.run.last_lines.size()) return;
  Explanation one;
  one.kind = Kind::DivergedControlFlow;
  one.culprits = ranks;
  one.confidence = confidence::kOddLine;
  one.why = fmt::format("{} last that it leaves something out that the others do: they wait for it",
                        ranks_that(ranks, "says", "say"));
  for (const int rank : ranks) {
    const LastLine& line = facts.run.last_lines.at(rank);
    if (one.evidence.size() < 6) one.evidence.push_back({line.file, -1, line.line, line.text});
  }
  one.missing.push_back(
      "the source where that line is printed: does it call what the others call?");
  out.push_back(std::move(one));
}

/// `init_process_group ...`, `waiting in barrier`
bool tells_of_waiting(std::string_view text) {
  const std::string small = lower_case(text);
  for (const std::string_view word :
       {"init_process_group", "barrier", "waiting", "rendezvous", "all_reduce", "allreduce",
        "all_gather", "allgather", "reduce_scatter", "broadcast(", "joining", "connecting"}) {
    if (small.find(word) != std::string::npos) return true;
  }
  return false;
}

/// The ranks' last lines: most say the same, few something else.
void add_odd_line(const LogFacts& facts, std::vector<Explanation>& out) {
  const OddLine odd = odd_line_out(facts.run.last_lines);
  if (odd.odd.empty() || facts.run.has_finished) return;
  // Three lines of a job of a thousand ranks are no majority.
  const auto world = static_cast<std::size_t>(
      std::max(facts.known_world, facts.run.last_lines.rbegin()->first + 1));
  if (facts.run.last_lines.size() * 2 < world) return;
  // Most wait in something, by their own words, and the few are elsewhere: these have not come.
  const bool waits = tells_of_waiting(facts.run.last_lines.at(odd.rest.front()).text);
  const bool waits_too = tells_of_waiting(facts.run.last_lines.at(odd.odd.front()).text);
  Explanation one;
  one.kind = odd.field.empty() && waits && !waits_too    ? Kind::MissingRank
             : odd.field == "src" || odd.field == "root" ? Kind::RootMismatch
             : odd.field.empty()                         ? Kind::DivergedControlFlow
                                                         : Kind::ShapeMismatch;
  one.culprits = odd.odd;
  one.confidence = confidence::kOddLine;
  const auto shown = [&](int rank) -> const LastLine& { return facts.run.last_lines.at(rank); };
  one.why = odd.field.empty() ? fmt::format("the last line of {} is another than that of {}",
                                            ranks_text(odd.odd), ranks_text(odd.rest))
                              : fmt::format("by their last lines {} called with another {} than {}",
                                            ranks_text(odd.odd), odd.field, ranks_text(odd.rest));
  for (const int rank : {odd.odd.front(), odd.rest.front()}) {
    const LastLine& line = shown(rank);
    one.details.push_back(fmt::format("rank {}: {}", rank, line.text));
    one.evidence.push_back({line.file, -1, line.line, line.text});
  }
  one.missing.push_back("stacks of all ranks (py-spy dump), or Flight Recorder dumps");
  out.push_back(std::move(one));
}

}  // namespace

void add_hints(const LogFacts& facts, std::vector<Explanation>& out) {
  add_stopped(facts, out);
  add_pods(facts, out);
  add_slow(facts, out);
  add_rows(facts, out);
  if (!is_hang_told(facts)) return;
  add_odd_line(facts, out);
  add_skipper(facts, out);
  const auto crossed = all_of(facts, What::OrderCrossed);
  if (!crossed.empty()) {
    out.push_back(told(Kind::OrderMismatch, crossed, ranks_of(crossed), confidence::kOrderTraced,
                       fmt::format("{} make two calls in opposite order, by their own traces: each "
                                   "waits in one for the other",
                                   ranks_text(ranks_of(crossed)))));
    out.back().missing.push_back("what the other ranks call there: who differs from most");
  }
  const auto idle = all_of(facts, What::GpuIdle);
  if (!idle.empty()) {
    out.push_back(told(Kind::MissingRank, idle, ranks_of(idle), confidence::kGpuIdle,
                       fmt::format("GPU {} computes nothing while all others of the host are busy, "
                                   "as they are in a collective that waits: its rank, which has "
                                   "that number if the job has one host, has not come to it",
                                   fold_ranks(ranks_of(idle)))));
    out.back().missing.push_back("the stack of that rank (py-spy dump)");
  }
  const auto faults = all_of(facts, What::IommuFault);
  if (!faults.empty()) {
    out.push_back(told(Kind::NetworkStall, faults, {}, confidence::kIommu,
                       "the IOMMU refused a device's access: what one GPU or adapter writes into "
                       "another one's memory does not arrive"));
    out.back().missing.push_back(
        "whether it goes with NCCL_P2P_DISABLE=1, or with the IOMMU off (iommu=pt)");
  }
}

}  // namespace ringside::hang
