#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

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

/// The ranks' last lines: most say the same, few something else.
void add_odd_line(const LogFacts& facts, std::vector<Explanation>& out) {
  const OddLine odd = odd_line_out(facts.run.last_lines);
  if (odd.odd.empty() || facts.run.has_finished) return;
  Explanation one;
  one.kind = odd.field == "src" || odd.field == "root" ? Kind::RootMismatch
             : odd.field.empty()                       ? Kind::DivergedControlFlow
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
  if (!is_hang_told(facts)) return;
  add_odd_line(facts, out);
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
