#include "harness/scenario/plan_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.h"
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

/// Edits the calls of one rank as the plan requires.
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
      idle_.push_back(
          fmt::format("rank {} reduces otherwise than the others: no check compares reductions, "
                      "and the job continues with wrong numbers",
                      rank_));
    }
    if (!postponed_.empty())
      idle_.push_back(fmt::format("rank {} postpones its last call for ever", rank_));
    for (const Fault& fault : faults_.plan().faults) {
      if (is_link_fault(fault.kind) || fault.rank != rank_) continue;
      const std::int64_t calls = fault.on.empty() ? asked_ : asked_on_[fault.on];
      if (fault.call.value_or(0) < calls) continue;
      idle_.push_back(unfired_text(fault, rank_, calls));
    }
  }

  [[nodiscard]] const std::vector<std::string>& idle() const { return idle_; }

 private:
  void edit() {
    for (int iteration = 0; iteration < own_.iterations; ++iteration) {
      std::vector<Step> body;
      bool is_plain = postponed_.empty();
      const std::vector<Step> whole(own_.body_of(iteration));
      for (std::size_t i = 0; i < whole.size();) {
        const Step& step = whole[i];
        const std::size_t first = i++;
        if (step.kind != Kind::Call) {
          body.push_back(step);
          continue;
        }
        while (i < whole.size() && whole[i].kind == Kind::Call && !hangs::begins_call(whole, i))
          ++i;
        const std::span<const Step> call(whole.data() + first, i - first);
        const std::string& family = family_of(step);
        ++asked_;
        ++asked_on_[family];
        const CallEffects effects = faults_.effects_on_next_call(family);
        is_reduction_wrong_ =
            is_reduction_wrong_ || std::ranges::any_of(effects.changes, [](const Fault* one) {
              return one->kind == FaultKind::WrongOp;
            });
        is_plain = is_plain && effects.is_plain() && postponed_.empty();
        if (!take(call, effects, body)) {
          own_.odd[iteration] = std::move(body);
          return;
        }
      }
      if (!is_plain) own_.odd[iteration] = std::move(body);
    }
  }

  /// whole    one step, or all sends and receives that begin together, which are one call
  /// returns  false: the rank makes no further calls
  bool take(std::span<const Step> whole, const CallEffects& effects, std::vector<Step>& body) {
    const Step& call = whole.front();
    if (effects.ending != nullptr) {
      body.push_back(halt_step(call, halt_of(effects.ending->kind)));
      return false;
    }
    // A rank that is later than the watchdog's timeout counts as missing.
    if (effects.is_never_made || (patience_ && effects.delay >= *patience_)) {
      body.push_back(halt_step(call, Halt::Busy));
      return false;
    }
    if (effects.delay.count() > 0) {
      Step late;
      late.kind = Kind::Compute;
      late.site = call.site;
      late.time = std::chrono::round<Nanoseconds>(effects.delay);
      body.push_back(late);
    }
    if (effects.is_skipped) return true;
    if (effects.is_postponed) {
      postponed_.assign(whole.begin(), whole.end());
      return true;
    }
    const std::vector<Step> changed = changed_by_all(effects.changes, whole);
    note_no_change(effects.changes, whole, changed);
    body.insert(body.end(), changed.begin(), changed.end());
    if (effects.is_repeated) {
      for (Step again : changed) {
        again.bundle = -again.bundle;  // begins separately from the first
        body.push_back(again);
      }
    }
    body.insert(body.end(), postponed_.begin(), postponed_.end());
    postponed_.clear();
    return true;
  }

  /// Notes a change without effect: a root for a call that has none, or the count that the call has anyway.
  void note_no_change(const std::vector<const Fault*>& changes, std::span<const Step> call,
                      const std::vector<Step>& changed) {
    const auto is_reduction = [](const Fault* one) { return one->kind == FaultKind::WrongOp; };
    if (changes.empty() || std::ranges::any_of(changes, is_reduction)) return;
    const auto is_same = [](const Step& a, const Step& b) {
      return a.op == b.op && a.type == b.type && a.count == b.count && a.peer == b.peer;
    };
    if (!std::ranges::equal(call, changed, is_same)) return;
    idle_.push_back(fmt::format("{} of rank {} does not change its {}",
                                to_string(changes.front()->kind), rank_,
                                hangs::to_string(call.front().op)));
  }

  [[nodiscard]] const hangs::Group& group_of(const Step& step) const {
    return program_.groups[static_cast<std::size_t>(step.group)];
  }
  [[nodiscard]] const std::string& family_of(const Step& step) const {
    return program_.families[static_cast<std::size_t>(group_of(step).family)];
  }

  [[nodiscard]] std::vector<Step> changed_by_all(const std::vector<const Fault*>& changes,
                                                 std::span<const Step> whole) const {
    std::vector<Step> all(whole.begin(), whole.end());
    if (changes.empty()) return all;
    const int nranks = static_cast<int>(group_of(all.front()).ranks.size());
    for (Step& call : all) {
      FaultableCall faultable{.collective = hangs::collective_of(call.op),
                              .type = call.type,
                              .root = call.peer,
                              .count = call.count};
      for (const Fault* const fault : changes) faultable = changed_by(*fault, faultable, nranks);
      const hangs::Op op = hangs::op_of(faultable.collective, call.op);
      const bool is_other = op != call.op;
      call.op = op;
      call.type = faultable.type;
      call.count = faultable.count;
      if (hangs::has_root(call.op)) call.peer = faultable.root;
      if (!is_other || call.bundle == 0) continue;
      call.bundle = 0;  // another collective has no list of transfers
      call.is_shift = false;
      return {call};
    }
    return all;
  }

  const int rank_;
  RankFaults faults_;
  const std::optional<Seconds> patience_;
  hangs::Program& program_;
  hangs::RankProgram& own_;
  std::vector<Step> postponed_;  ///< the postponed call
  bool is_reduction_wrong_ = false;
  std::vector<std::string> idle_;
  std::int64_t asked_ = 0;
  std::map<std::string, std::int64_t> asked_on_;  ///< by family
};

/// family  index of the family that the fault names; -1: any
bool uses(const Fault& fault, int family, const Step& call, const hangs::Group& group) {
  if (call.kind != Kind::Call || call.op == hangs::Op::Recv) return false;
  if (family >= 0 && family != group.family) return false;
  if (call.op == hangs::Op::Send) {
    return !fault.to || group.ranks[static_cast<std::size_t>(call.peer)] == *fault.to;
  }
  const auto is_in = [&group](int rank) { return hangs::group_rank(group, rank) >= 0; };
  return fault.from && is_in(*fault.from) && group.ranks.size() > 1 &&
         (!fault.to || is_in(*fault.to));
}

std::uint64_t bytes_of(const Step& call) {
  return size_of(call.type).value * static_cast<std::uint64_t>(call.count);
}

/// errors  InvalidArgument: there are no such groups
Result<int> family_of(const Fault& fault, const hangs::Program& program) {
  if (fault.on.empty()) return -1;
  const auto found = std::ranges::find(program.families, fault.on);
  if (found != program.families.end()) return static_cast<int>(found - program.families.begin());
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("{}: on {}, and there are no such groups", to_string(fault.kind), fault.on),
      suggestion(fault.on,
                 std::vector<std::string_view>(program.families.begin(), program.families.end()))};
}

/// Returns the messages of the call that the fault affects.
std::vector<SentOn> hit_by(const Fault& fault, const Step& call, const SendsOf& sends) {
  if (!sends || hangs::is_p2p(call.op)) {
    return {{.to = fault.to.value_or(-1), .bytes = {bytes_of(call)}, .messages = 1}};
  }
  std::vector<SentOn> hit = sends(call, fault.from.value_or(0));
  std::erase_if(hit, [&fault](const SentOn& one) {
    return (fault.to && *fault.to != one.to) || (fault.channel && *fault.channel != one.channel);
  });
  return hit;
}

/// Visits the calls of its rank that the fault could affect, collectives and sends: visit(call, its number from 1
/// among its group's collectives, or among the rank's transfers there), until that returns true.
template <typename Visit>
bool any_call(const Fault& fault, int family, const hangs::Program& program, Visit&& visit) {
  const hangs::RankProgram& own =
      program.programs[static_cast<std::size_t>(fault.from.value_or(0))];
  std::vector<int> collectives(program.groups.size());
  std::vector<int> transfers(program.groups.size());
  for (int iteration = 0; iteration < own.iterations; ++iteration) {
    const std::vector<Step>& body = own.body_of(iteration);
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Step& step = body[i];
      if (step.kind != Kind::Call) continue;
      const auto place = static_cast<std::size_t>(step.group);
      int& seq = hangs::is_p2p(step.op) ? transfers[place] : collectives[place];
      if (hangs::begins_call(body, i)) ++seq;
      if (uses(fault, family, step, program.groups[place]) && visit(step, seq)) return true;
    }
  }
  return false;
}

bool is_used(const Fault& fault, int family, const hangs::Program& program, const SendsOf& sends) {
  return any_call(fault, family, program, [&](const Step& call, int /*seq*/) {
    return !hit_by(fault, call, sends).empty();
  });
}

/// Returns `; rank 0 sends to 1, 8`; empty if the peers are unknown.
std::string peers_text(const Fault& fault, int family, const hangs::Program& program,
                       const SendsOf& sends) {
  if (!sends) return {};
  std::set<int> peers;
  any_call(fault, family, program, [&](const Step& call, int /*seq*/) {
    if (hangs::is_p2p(call.op)) {
      peers.insert(program.groups[static_cast<std::size_t>(call.group)]
                       .ranks[static_cast<std::size_t>(call.peer)]);
      return false;
    }
    for (const SentOn& one : sends(call, *fault.from)) peers.insert(one.to);
    return false;
  });
  if (peers.empty()) return fmt::format("; rank {} sends to no other rank by itself", *fault.from);
  return fmt::format("; rank {} sends to {}", *fault.from, fmt::join(peers, ", "));
}

/// Returns the first collective with messages on the connection after the fault's start.
Result<hangs::NetworkFault> stalled_call(const Fault& fault, int family,
                                         const hangs::Program& program, const SendsOf& sends) {
  struct Sent {
    std::uint64_t bytes = 0, messages = 0;
  };
  std::map<std::pair<int, int>, Sent> sent;  // by receiver and channel
  hangs::NetworkFault stalled;
  const bool is_there = any_call(fault, family, program, [&](const Step& call, int seq) {
    stalled = {.group = call.group, .seq = seq};
    if (call.op == hangs::Op::Send) {
      stalled.sender = *fault.from;
      stalled.receiver = program.groups[static_cast<std::size_t>(call.group)]
                             .ranks[static_cast<std::size_t>(call.peer)];
    }
    bool has_set_in = false;
    for (const SentOn& one : hit_by(fault, call, sends)) {
      Sent& so_far = sent[{one.to, one.channel}];
      so_far.bytes += one.bytes.value;
      so_far.messages += static_cast<std::uint64_t>(one.messages);
      has_set_in = has_set_in || (so_far.bytes > fault.after.value && so_far.messages > fault.step);
    }
    return has_set_in;
  });
  if (is_there) return stalled;
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{}: no call uses that connection once the fault has set in",
                           to_string(fault.kind)),
               "give two ranks of one group, and less than they send" +
                   peers_text(fault, family, program, sends)};
}

/// Returns the time of the messages on a slow connection.
Seconds time_on(const Fault& fault, const SentOn& sent) {
  Seconds takes{};
  if (fault.rate) takes += sent.bytes / *fault.rate;
  if (fault.by) takes += static_cast<double>(sent.messages) * *fault.by;
  return takes;
}

/// Checks that simulated time can show the fault.
Status check_fault(const Fault& fault, const hangs::Program& program) {
  RINGSIDE_TRY([[maybe_unused]] const int family, family_of(fault, program));
  if (fault.kind == FaultKind::SlowLink && (fault.after.value > 0 || fault.step > 0)) {
    return Error{ErrorCode::InvalidArgument, "slow_link with after or step, in simulated time",
                 "it is slow from the first message on there: remove them, or run it on real "
                 "ranks"};
  }
  const auto has_word = [](Collective wanted) {
    return hangs::collective_of(hangs::op_of(wanted, hangs::Op::Barrier)) == wanted;
  };
  if (fault.collective && !has_word(*fault.collective)) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}: {}, in simulated time", to_string(fault.kind),
                             to_string(*fault.collective)),
                 "give all_reduce, all_gather, reduce_scatter, broadcast, reduce or all_to_all, or "
                 "run it on real ranks"};
  }
  return {};
}

}  // namespace

Result<PlannedFaults> plan_faults(const FaultPlan& plan, hangs::Program& program,
                                  std::optional<Seconds> patience, const SendsOf& sends) {
  PlannedFaults planned;
  for (const Fault& fault : plan.faults) RINGSIDE_TRY(check_fault(fault, program));
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
    RINGSIDE_TRY(const int family, family_of(fault, program));
    if (fault.kind == FaultKind::SlowLink) {
      planned.slow.push_back({fault, family});
      if (!is_used(fault, family, program, sends)) {
        planned.idle.push_back(fmt::format("{}: no call uses that connection{}",
                                           to_string(fault.kind),
                                           peers_text(fault, family, program, sends)));
      }
      continue;
    }
    if (planned.network.group >= 0) {
      return Error{ErrorCode::InvalidArgument, "several connections that fail, in simulated time",
                   "give one of them, or run it on real ranks"};
    }
    RINGSIDE_TRY(planned.network, stalled_call(fault, family, program, sends));
    const bool is_for_a_while = fault.kind == FaultKind::StallLink && fault.by;
    if (is_for_a_while && (!patience || *fault.by < *patience)) {
      planned.network.by = std::chrono::round<Nanoseconds>(*fault.by);
    }
  }
  return planned;
}

Seconds slowed(const std::vector<SlowConnections>& slow, const hangs::Step& call,
               const hangs::Group& group, const SendsOf& sends) {
  Seconds most{};
  for (const auto& [fault, family] : slow) {
    // Slow sends between two ranks are computed by slowed_transfer().
    if (hangs::is_p2p(call.op) || !uses(fault, family, call, group)) continue;
    for (const SentOn& one : hit_by(fault, call, sends)) most = std::max(most, time_on(fault, one));
  }
  return most;
}

Seconds slowed_transfer(const std::vector<SlowConnections>& slow, const hangs::Step& send,
                        const hangs::Group& group, int from, int to) {
  Seconds most{};
  for (const auto& [fault, family] : slow) {
    const bool is_of_sender = !fault.from || *fault.from == from;
    const bool is_of_receiver = !fault.to || *fault.to == to;
    if (!is_of_sender || !is_of_receiver || (family >= 0 && family != group.family)) continue;
    most = std::max(most, time_on(fault, {.to = to, .bytes = {bytes_of(send)}, .messages = 1}));
  }
  return most;
}

}  // namespace ringside
