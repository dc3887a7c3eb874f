#include "harness/scenario/plan_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "engine/faults/rank_faults.h"
#include "harness/hangs/calls.h"

namespace ringside {
namespace {

using hangs::Halt;
using hangs::Step;
using Kind = hangs::Step::Kind;

Halt halt_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::Kill:
      return Halt::Killed;
    case FaultKind::Stop:
      return Halt::Stopped;
    case FaultKind::Exit:
      return Halt::Exited;
    default:
      return Halt::WaitsElsewhere;
  }
}

Step halt_step(const Step& at, Halt how) {
  Step end;
  end.kind = Kind::Halt;
  end.halt = how;
  end.site = at.site;
  return end;
}

/// One rank's calls, as the plan lets it make them.
class RankEditor {
 public:
  RankEditor(const FaultPlan& plan, int rank, std::optional<Seconds> patience,
             hangs::Program& program)
      : rank_(rank),
        faults_(plan, rank),
        patience_(patience),
        program_(program),
        own_(program.programs[static_cast<std::size_t>(rank)]) {}

  void run() {
    edit();
    if (is_reduction_wrong_) {
      idle_.push_back(fmt::format(
          "rank {} reduces otherwise than the others: nobody compares reductions, and the job goes "
          "on with wrong numbers",
          rank_));
    }
    if (put_off_) idle_.push_back(fmt::format("rank {} puts its last call off, for ever", rank_));
    for (const Fault& fault : faults_.plan().faults) {
      if (is_link_fault(fault.kind) || fault.rank != rank_) continue;
      const std::int64_t calls = fault.on.empty() ? asked_ : asked_on_[fault.on];
      if (fault.call.value_or(0) < calls) continue;
      idle_.push_back(fmt::format("{} of rank {} at call {}{}: it comes to {}, from 0 on",
                                  to_string(fault.kind), rank_, fault.call.value_or(0),
                                  fault.on.empty() ? "" : " of " + fault.on,
                                  plural(static_cast<std::size_t>(calls), "call", "calls")));
    }
  }

  [[nodiscard]] const std::vector<std::string>& idle() const { return idle_; }

 private:
  void edit() {
    for (int iteration = 0; iteration < own_.iterations; ++iteration) {
      std::vector<Step> body;
      bool is_plain = !put_off_;
      for (const Step& step : std::vector<Step>(own_.body_of(iteration))) {
        if (step.kind != Kind::Call) {
          body.push_back(step);
          continue;
        }
        const std::string& family = family_of(step);
        ++asked_;
        ++asked_on_[family];
        const CallFate fate = faults_.fate_of(family);
        is_reduction_wrong_ =
            is_reduction_wrong_ || std::ranges::any_of(fate.changes, [](const Fault* one) {
              return one->kind == FaultKind::WrongOp;
            });
        is_plain = is_plain && fate.is_plain() && !put_off_;
        if (!take(step, fate, body)) {
          own_.odd[iteration] = std::move(body);
          return;
        }
      }
      if (!is_plain) own_.odd[iteration] = std::move(body);
    }
  }

  /// returns  false: the rank goes no further
  bool take(const Step& call, const CallFate& fate, std::vector<Step>& body) {
    if (fate.end != nullptr) {
      body.push_back(halt_step(call, halt_of(fate.end->kind)));
      return false;
    }
    // Whoever comes after the watchdog has spoken does not come.
    if (fate.never || (patience_ && fate.late >= *patience_)) {
      body.push_back(halt_step(call, Halt::Busy));
      return false;
    }
    if (fate.late.count() > 0) {
      Step late;
      late.kind = Kind::Compute;
      late.site = call.site;
      late.time = std::chrono::round<Nanoseconds>(fate.late);
      body.push_back(late);
    }
    if (fate.is_left_out) return true;
    if (fate.is_put_off) {
      put_off_ = call;
      return true;
    }
    const Step changed = changed_by_all(fate.changes, call);
    body.push_back(changed);
    if (fate.is_made_twice) body.push_back(changed);
    if (put_off_) body.push_back(*std::exchange(put_off_, std::nullopt));
    return true;
  }

  [[nodiscard]] const hangs::Group& group_of(const Step& step) const {
    return program_.groups[static_cast<std::size_t>(step.group)];
  }
  [[nodiscard]] const std::string& family_of(const Step& step) const {
    return program_.families[static_cast<std::size_t>(group_of(step).family)];
  }

  [[nodiscard]] Step changed_by_all(const std::vector<const Fault*>& changes, Step call) const {
    FaultableCall faultable{.collective = hangs::collective_of(call.op),
                            .type = call.type,
                            .root = call.peer,
                            .count = call.count};
    const int nranks = static_cast<int>(group_of(call).ranks.size());
    for (const Fault* const fault : changes) faultable = changed_by(*fault, faultable, nranks);
    if (!changes.empty()) {
      call.op = hangs::op_of(faultable.collective, call.op);
      call.type = faultable.type;
      call.count = faultable.count;
      if (hangs::has_root(call.op)) call.peer = faultable.root;
    }
    return call;
  }

  const int rank_;
  RankFaults faults_;
  const std::optional<Seconds> patience_;
  hangs::Program& program_;
  hangs::RankProgram& own_;
  std::optional<Step> put_off_;
  bool is_reduction_wrong_ = false;
  std::vector<std::string> idle_;
  std::int64_t asked_ = 0;
  std::map<std::string, std::int64_t> asked_on_;  ///< by family
};

bool uses(const Fault& fault, const Step& call, const hangs::Group& group,
          const std::string& family) {
  if (call.kind != Kind::Call || hangs::is_p2p(call.op)) return false;
  if (!fault.on.empty() && fault.on != family) return false;
  const auto is_in = [&group](int rank) { return hangs::group_rank(group, rank) >= 0; };
  return fault.from && is_in(*fault.from) && group.ranks.size() > 1 &&
         (!fault.to || is_in(*fault.to));
}

std::uint64_t bytes_of(const Step& call) {
  return size_of(call.type).value * static_cast<std::uint64_t>(call.count);
}

bool is_used(const Fault& fault, const hangs::Program& program) {
  const hangs::RankProgram& own =
      program.programs[static_cast<std::size_t>(fault.from.value_or(0))];
  return std::ranges::any_of(own.body, [&](const Step& step) {
    if (step.kind != Kind::Call) return false;
    const hangs::Group& group = program.groups[static_cast<std::size_t>(step.group)];
    return uses(fault, step, group, program.families[static_cast<std::size_t>(group.family)]);
  });
}

/// The first collective that the connection's messages are part of once the fault has set in.
Result<hangs::NetworkFault> stalled_call(const Fault& fault, const hangs::Program& program) {
  const hangs::RankProgram& own =
      program.programs[static_cast<std::size_t>(fault.from.value_or(0))];
  std::vector<int> calls(program.groups.size());
  std::uint64_t sent = 0;
  std::uint64_t messages = 0;
  for (int iteration = 0; iteration < own.iterations; ++iteration) {
    for (const Step& step : own.body_of(iteration)) {
      if (step.kind != Kind::Call || hangs::is_p2p(step.op)) continue;
      const hangs::Group& group = program.groups[static_cast<std::size_t>(step.group)];
      const int seq = ++calls[static_cast<std::size_t>(step.group)];
      const std::string& family = program.families[static_cast<std::size_t>(group.family)];
      if (!uses(fault, step, group, family)) continue;
      sent += bytes_of(step);
      ++messages;
      if (sent > fault.after.value && messages > fault.step)
        return hangs::NetworkFault{step.group, seq};
    }
  }
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{}: no collective uses that connection once the fault has set in",
                           to_string(fault.kind)),
               "give two ranks of one group, and less than they send"};
}

}  // namespace

Result<PlannedFaults> plan_faults(const FaultPlan& plan, hangs::Program& program,
                                  std::optional<Seconds> patience) {
  PlannedFaults planned;
  for (int rank = 0; rank < program.ranks; ++rank) {
    const bool is_hit = std::ranges::any_of(plan.faults, [rank](const Fault& fault) {
      return !is_link_fault(fault.kind) && fault.rank == rank;
    });
    if (!is_hit) continue;
    RankEditor editor(plan, rank, patience, program);
    editor.run();
    planned.idle.insert(planned.idle.end(), editor.idle().begin(), editor.idle().end());
  }
  for (const Fault& fault : plan.faults) {
    if (!is_link_fault(fault.kind)) continue;
    if (fault.kind == FaultKind::SlowLink) {
      planned.slow.push_back(fault);
      if (!is_used(fault, program)) {
        planned.idle.push_back(
            fmt::format("{}: no collective uses that connection", to_string(fault.kind)));
      }
      continue;
    }
    if (planned.network.group >= 0) {
      return Error{ErrorCode::InvalidArgument, "several connections that fail, in simulated time",
                   "give one of them, or run it on real ranks"};
    }
    RINGSIDE_TRY(planned.network, stalled_call(fault, program));
    const bool is_for_a_while = fault.kind == FaultKind::StallLink && fault.by;
    if (is_for_a_while && (!patience || *fault.by < *patience)) {
      planned.network.by = std::chrono::round<Nanoseconds>(*fault.by);
    }
  }
  return planned;
}

Seconds slowed(const std::vector<Fault>& slow, const hangs::Step& call, const hangs::Group& group) {
  Seconds most{};
  for (const Fault& fault : slow) {
    if (!uses(fault, call, group, fault.on)) continue;
    if (fault.rate) most = std::max(most, Bytes{bytes_of(call)} / *fault.rate);
    if (fault.by) most = std::max(most, *fault.by);
  }
  return most;
}

}  // namespace ringside
