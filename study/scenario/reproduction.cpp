#include "study/scenario/reproduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "base/wording.h"
#include "diag/report/sentences/hang_sentences.h"
#include "harness/hangs/outline_yaml.h"
#include "study/interchange/merge_sequences.h"
#include "study/interchange/recorded_dumps.h"

namespace ringside::study {
namespace {

using hangs::OutlineStep;
using OutlineKind = OutlineStep::Kind;

class Reproducer {
 public:
  Reproducer(const hang::Examination& evidence, const ReproductionRequest& request)
      : job_(*evidence.job), request_(request), recorded_(recorded_dumps(evidence)) {
    made_.original = evidence.verdict.best;
    made_.has_ncclras =
        std::ranges::count(evidence.files, hang::FileKind::Ras, &hang::InputFile::kind) > 0;
    outline() = hangs::outline_of("reproduced", world(), std::min(world(), 8), 1);
    merger_.emplace(recorded_.job, outline());
  }

  Result<Reproduction> run() {
    if (made_.original.kind == hang::Kind::NotAHang) {
      return Error{ErrorCode::InvalidArgument,
                   "no rank hangs there: " + hang::why_of(made_.original),
                   "give what a job that hangs has left"};
    }
    merger_->align_transfers();
    if (!has_calls()) {
      return Error{ErrorCode::InvalidArgument, "no dump has calls that could be replayed",
                   "give flight recorder dumps: logs and stacks have no sequences of calls"};
    }
    const std::size_t left_out = merger_->emit_common(static_cast<std::size_t>(request_.keep));
    if (left_out > 0) {
      note(
          fmt::format("{} of calls before these are omitted", plural(left_out, "round", "rounds")));
    }
    if (request_.is_healthy) {
      if (outline().steps.empty()) {
        return Error{ErrorCode::InvalidArgument,
                     "--healthy: no call is recorded that all its ranks completed",
                     "omit --healthy, or give dumps with more calls (TORCH_FR_BUFFER_SIZE=2000)"};
      }
    } else {
      merger_->emit_own();
      stop_those_that_stopped();
      RINGSIDE_TRY(check_what_is_needed());
    }
    finish();
    return std::move(made_);
  }

 private:
  [[nodiscard]] int world() const { return job_.world(); }
  [[nodiscard]] const std::deque<RecordedCall>& calls(int rank) const {
    return recorded_.job.ranks[static_cast<std::size_t>(rank)].calls;
  }
  [[nodiscard]] bool is_silent(int rank) const {
    return recorded_.job.ranks[static_cast<std::size_t>(rank)].is_silent;
  }
  [[nodiscard]] hangs::Outline& outline() { return made_.scenario.outline; }
  void note(const std::string& text) { recorded_.job.note(text); }

  [[nodiscard]] bool has_calls() const {
    for (int rank = 0; rank < world(); ++rank) {
      if (!calls(rank).empty()) return true;
    }
    return false;
  }

  /// Returns the first call that a member made by itself, and that this rank did not reach.
  [[nodiscard]] const RecordedCall* missed_by(int rank) {
    for (int other = 0; other < job_.world(); ++other) {
      for (const RecordedCall& made : calls(other)) {
        const std::vector<int> all = merger_->parties(made);
        if (other == rank || std::ranges::find(all, rank) == all.end()) continue;
        const bool has_it = std::ranges::any_of(calls(rank), [&](const RecordedCall& own) {
          return own.group == made.group && own.number >= made.number;
        });
        if (!has_it) return &made;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool is_waiting(int rank) {
    return std::ranges::any_of(calls(rank), &RecordedCall::is_pending);
  }

  void stop_those_that_stopped() {
    for (int rank = 0; rank < job_.world(); ++rank) {
      if (is_waiting(rank)) continue;
      const RecordedCall* const missed = missed_by(rank);
      if (missed == nullptr) continue;
      OutlineStep step = missed->step;
      step.at = OutlineStep::Place{0, rank};
      Fault fault;
      const bool computes = made_.original.kind == hang::Kind::Straggler;
      // An agent ends the other ranks of its host as well: they are silent, and did not die.
      const bool is_dead =
          made_.original.kind == hang::Kind::DeadRank &&
          std::ranges::find(made_.original.culprits, rank) != made_.original.culprits.end();
      // A dead rank may have left calls in its log.
      fault.kind = is_dead           ? FaultKind::Kill
                   : is_silent(rank) ? FaultKind::Stop
                   : computes        ? FaultKind::Stall
                                     : FaultKind::Throw;
      fault.rank = rank;
      fault.call = merger_->made(rank);
      made_.scenario.faults.faults.push_back(fault);
      is_any_stopped_ |= fault.kind == FaultKind::Stop;
      note(is_silent(rank)
               ? fmt::format("rank {} left no calls: {} here", rank, is_dead ? "killed" : "stopped")
           : is_dead
               ? fmt::format("where rank {} died: killed behind its last call here", rank)
               : fmt::format("why rank {} stopped there: {} here", rank,
                             computes ? "it computes for ever" : "an exception takes it out"));
      merger_->emit(step, {rank});
    }
    if (made_.original.kind == hang::Kind::NetworkStall) stall_network();
  }

  /// All ranks have entered the call: the connection between its first two ranks stops.
  void stall_network() {
    for (int rank = 0; rank < job_.world(); ++rank) {
      for (const RecordedCall& made : calls(rank)) {
        const std::vector<int>& members = job_.group(made.group).members;
        if (!made.is_pending || made.step.kind == OutlineKind::Transfer || members.size() < 2)
          continue;
        std::uint64_t calls_before = 0;
        for (const OutlineStep& step : outline().steps) {
          const bool is_its = !step.at || step.at->rank == members[0];
          if (step.kind == OutlineKind::Call && step.family == made.step.family && is_its)
            ++calls_before;
        }
        for (const RecordedCall& own : calls(members[0])) {
          if (own.group == made.group && own.number >= made.number) --calls_before;
        }
        Fault fault;
        fault.kind = FaultKind::StallLink;
        fault.from = members[0];
        fault.to = members[1];
        fault.step = calls_before;
        fault.on = outline().families[static_cast<std::size_t>(made.step.family)].name;
        made_.scenario.faults.faults.push_back(fault);
        note("which connection failed: that of the first two ranks here");
        return;
      }
    }
  }

  /// Rejects hangs whose cause was not recorded: they cannot be replayed.
  [[nodiscard]] Status check_what_is_needed() const {
    const auto refuse = [](const char* what, const char* help) {
      return Error{ErrorCode::InvalidArgument, fmt::format("it cannot be replayed: {}", what),
                   help};
    };
    if (recorded_.has_unknown_peers && (made_.original.kind == hang::Kind::P2pUnmatched ||
                                        made_.original.kind == hang::Kind::DeadlockCycle)) {
      return refuse("these dumps do not show the peers of transfers",
                    "NCCL's dumps and ringside's do; gloo's are of a hook that does not");
    }
    if (recorded_.has_unknown_roots && made_.original.kind == hang::Kind::RootMismatch) {
      return refuse("these dumps do not hold roots",
                    "PyTorch's recorder keeps none; ringside's dumps and NCCL's COLL lines do");
    }
    return {};
  }

  void finish() {
    OutlineStep synchronize;
    synchronize.kind = OutlineKind::Synchronize;
    outline().steps.push_back(synchronize);
    made_.unknown = recorded_.job.unknown;
    Scenario& scenario = made_.scenario;
    scenario.name = outline().name = "reproduced";
    if (request_.is_healthy) {
      scenario.about = "the calls that all ranks completed before the hang";
      scenario.expect.outcome = Expectation::Outcome::Finished;
      return;
    }
    scenario.about = hang::why_of(made_.original);
    scenario.expect.outcome = Expectation::Outcome::Hang;
    if (made_.original.kind != hang::Kind::Unknown) {
      scenario.expect.kinds = {hang::to_string(made_.original.kind)};
      if (made_.original.kind == hang::Kind::Straggler) {
        scenario.expect.kinds.emplace_back(hang::to_string(hang::Kind::MissingRank));
        note(
            "--on real leaves no stacks: a rank that computes forever looks like a missing one "
            "there");
      }
      // ncclras, which `run` queries, shows which ranks do not answer.
      if (is_any_stopped_ && made_.original.kind == hang::Kind::MissingRank) {
        scenario.expect.kinds.emplace_back(hang::to_string(hang::Kind::DeadRank));
      }
    } else {
      scenario.expect = {};
    }
    if (!made_.original.culprits.empty()) scenario.expect.culprits = made_.original.culprits;
  }

  const hang::Job& job_;
  const ReproductionRequest request_;
  RecordedDumps recorded_;  ///< calls: those that only some made, once the others are emitted
  Reproduction made_;
  std::optional<SequenceMerger> merger_;
  bool is_any_stopped_ = false;
};

}  // namespace

Result<Reproduction> reproduction_of(const hang::Examination& evidence,
                                     const ReproductionRequest& request) {
  if (evidence.job == nullptr || evidence.dumps.empty()) {
    return Error{ErrorCode::InvalidArgument, "no dump has calls that could be replayed",
                 "give flight recorder dumps: logs and stacks have no sequences of calls"};
  }
  return Reproducer(evidence, request).run();
}

}  // namespace ringside::study
