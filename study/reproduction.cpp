#include "study/reproduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "base/wording.h"
#include "harness/hangs/fault.h"
#include "harness/hangs/outline_yaml.h"

namespace ringside::study {
namespace {

using hangs::Op;
using hangs::OutlineStep;
using Kind = OutlineStep::Kind;

/// What a program has no word for: the ends of coalesced sets, gathers, names that we do not know.
std::optional<Op> op_of(hang::Op op) {
  switch (op) {
    case hang::Op::AllReduce:
      return Op::AllReduce;
    case hang::Op::Broadcast:
      return Op::Broadcast;
    case hang::Op::Reduce:
      return Op::Reduce;
    case hang::Op::AllGather:
      return Op::AllGather;
    case hang::Op::ReduceScatter:
      return Op::ReduceScatter;
    case hang::Op::AllToAll:
      return Op::AllToAll;
    case hang::Op::Barrier:
      return Op::Barrier;
    case hang::Op::Send:
      return Op::Send;
    case hang::Op::Recv:
      return Op::Recv;
    case hang::Op::Gather:
    case hang::Op::Scatter:
    case hang::Op::Coalesced:
    case hang::Op::Other:
      break;
  }
  return std::nullopt;
}

/// PyTorch's names of element types, as far as NCCL has them.
std::optional<DataType> type_of(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, DataType>, 9> kTypes{
      {{"Float", DataType::Float32},
       {"Double", DataType::Float64},
       {"Half", DataType::Float16},
       {"BFloat16", DataType::Bfloat16},
       {"Int", DataType::Int32},
       {"Long", DataType::Int64},
       {"Char", DataType::Int8},
       {"Byte", DataType::Uint8},
       {"Bool", DataType::Uint8}}};
  const std::string first = text.substr(0, text.find_first_of("->,"));
  const auto found =
      std::ranges::find(kTypes, first, &std::pair<std::string_view, DataType>::first);
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

/// A call of a rank as a step of a program.
struct Made {
  OutlineStep step;
  int group = -1;  ///< of the job
  std::int64_t number =
      0;  ///< of the group's collectives, or of the rank's transfers with that peer
  bool is_pending = false;

  /// Whether two members name one call.
  [[nodiscard]] bool is_same(const Made& other) const {
    return group == other.group && number == other.number && step.kind == other.step.kind &&
           step.op == other.step.op && step.count == other.step.count &&
           step.type == other.step.type && step.from == other.step.from;
  }
};

class Reproducer {
 public:
  Reproducer(const hang::Examination& evidence, int keep)
      : evidence_(evidence), job_(*evidence.job), keep_(static_cast<std::size_t>(keep)) {}

  Result<Reproduction> run() {
    made_.original = evidence_.verdict.best;
    if (made_.original.kind == hang::Kind::NotAHang) {
      return Error{ErrorCode::InvalidArgument, "nobody waits there: " + made_.original.why,
                   "give what a job that hangs has left"};
    }
    make_groups();
    if (!read_calls()) {
      return Error{ErrorCode::InvalidArgument, "no dump has calls that could be replayed",
                   "give flight recorder dumps: logs and stacks have no sequences of calls"};
    }
    emit_common();
    emit_own();
    stop_those_that_stopped();
    RINGSIDE_TRY(check_what_is_needed());
    finish();
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::deque<Made>& calls(int rank) { return calls_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool is_silent(int rank) const {
    return job_.rank(rank).dump == nullptr || job_.rank(rank).dump->calls.empty();
  }
  [[nodiscard]] hangs::Outline& outline() { return made_.scenario.outline; }

  void note(const std::string& text) {
    if (std::ranges::find(made_.unknown, text) == made_.unknown.end())
      made_.unknown.push_back(text);
  }

  static std::string word_of(const std::string& text) {
    std::string word;
    for (const char c : text.substr(0, 32)) {
      const auto byte = static_cast<unsigned char>(c);
      word += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
    }
    return word.empty() ? "group" : word;
  }

  /// Groups of one description that share no rank are one family.
  void make_groups() {
    const int world = job_.world();
    outline() = hangs::outline_of("reproduced", world, std::min(world, 8), 1);
    calls_.resize(static_cast<std::size_t>(world));
    made_calls_.resize(static_cast<std::size_t>(world));
    for (const hang::Group& group : job_.groups()) {
      if (static_cast<int>(group.members.size()) == world) {
        family_of_.push_back(0);
        continue;
      }
      family_of_.push_back(family_for(group));
    }
  }

  int family_for(const hang::Group& group) {
    const std::string name =
        word_of(group.description.empty() ? "group_" + group.name : group.description);
    const auto shares = [&](const hangs::Family& family) {
      return std::ranges::any_of(family.members, [&](const std::vector<int>& members) {
        return std::ranges::any_of(members, [&](int rank) { return group.has(rank); });
      });
    };
    for (int number = 0;; ++number) {
      const std::string wanted =
          number == 0 && name != "world" ? name : fmt::format("{}_{}", name, number + 1);
      const auto found = std::ranges::find(outline().families, wanted, &hangs::Family::name);
      if (found == outline().families.end()) {
        outline().families.push_back({wanted, group.description, {group.members}});
        return static_cast<int>(outline().families.size()) - 1;
      }
      if (shares(*found)) continue;
      found->members.push_back(group.members);
      return static_cast<int>(found - outline().families.begin());
    }
  }

  /// returns  whether any rank has calls
  bool read_calls() {
    bool is_any = false;
    std::map<int, std::int64_t>
        first;  // by group: the oldest collective that all members still have
    for (int rank = 0; rank < job_.world(); ++rank) {
      if (is_silent(rank)) continue;
      for (const hang::GroupCalls& own : job_.rank(rank).groups) {
        if (own.collectives.empty()) continue;
        const auto oldest =
            std::int64_t{job_.rank(rank).dump->calls[own.collectives.front()].sequence};
        first[own.group] = std::max(first[own.group], oldest);
      }
    }
    for (int rank = 0; rank < job_.world(); ++rank) {
      if (is_silent(rank)) continue;
      read_rank(rank, first);
      is_any = is_any || !calls(rank).empty();
    }
    align_transfers();
    return is_any;
  }

  /// No dump numbers transfers by their peers, and each rank's history begins elsewhere: but what both ends have done is
  /// the same, so they are counted back from there. Those that the other end no longer has are left out.
  void align_transfers() {
    using Way = std::tuple<int, int, int>;  // group, from, to
    const auto way_of = [](const Made& made) {
      return Way{made.group, made.step.from, made.step.to};
    };
    std::map<Way, std::int64_t> oldest;
    for (int rank = 0; rank < job_.world(); ++rank) {
      std::map<Way, std::int64_t> done;
      for (const Made& made : calls(rank)) {
        if (made.step.kind == Kind::Transfer && !made.is_pending) ++done[way_of(made)];
      }
      std::map<Way, std::int64_t> seen;
      for (Made& made : calls(rank)) {
        if (made.step.kind == Kind::Transfer)
          made.number = seen[way_of(made)]++ - done[way_of(made)];
      }
      for (const auto& [way, count] : seen) {
        const auto [place, is_new] = oldest.try_emplace(way, -done[way]);
        place->second = std::max(place->second, -done[way]);
      }
    }
    for (int rank = 0; rank < job_.world(); ++rank) {
      std::erase_if(calls(rank), [&](const Made& made) {
        return made.step.kind == Kind::Transfer && made.number < oldest[way_of(made)];
      });
    }
  }

  void read_rank(int rank, const std::map<int, std::int64_t>& first) {
    const hang::RankView& view = job_.rank(rank);
    std::set<std::uint32_t> counted;  // hooks record a call a second time
    for (const hang::GroupCalls& own : view.groups) {
      counted.insert(own.collectives.begin(), own.collectives.end());
      counted.insert(own.transfers.begin(), own.transfers.end());
    }
    for (const std::uint32_t index : counted) {
      const hang::Call& call = view.dump->calls[index];
      const int group = view.group_of_call[index];
      if (group < 0) continue;
      auto step = step_of(rank, group, call);
      if (!step) continue;
      Made made{
          .step = *step, .group = group, .number = call.sequence, .is_pending = call.is_pending()};
      if (step->kind == Kind::Transfer) {
        made.number = 0;  // align_transfers() counts them
      } else if (const auto oldest = first.find(group);
                 oldest != first.end() && made.number < oldest->second) {
        continue;
      }
      calls(rank).push_back(std::move(made));
    }
  }

  std::optional<OutlineStep> step_of(int rank, int group, const hang::Call& call) {
    const hang::Signature& signature = job_.signature(call);
    const auto op = op_of(signature.op);
    if (!op) {
      if (signature.op != hang::Op::Coalesced)
        note(fmt::format("{} is left out: programs have no word for it", signature.name));
      return std::nullopt;
    }
    OutlineStep step;
    step.op = *op;
    step.family = family_of_[static_cast<std::size_t>(group)];
    const std::uint64_t count =
        *op == Op::ReduceScatter ? signature.output_count : signature.input_count;
    step.count =
        static_cast<std::int64_t>(std::clamp<std::uint64_t>(count, 1, std::uint64_t{1} << 40));
    if (*op == Op::Barrier) step.count = 1;
    if (const auto type = type_of(signature.types)) {
      step.type = *type;
    } else if (*op != Op::Barrier) {
      note(fmt::format("element type '{}': float in its place", signature.types));
    }
    if (!hangs::is_p2p(*op)) {
      step.from = std::max(0, signature.root);
      if (hangs::has_root(*op) && signature.root < 0) {
        note("roots are not recorded: the first rank of each group");
        has_unknown_roots_ = true;
      }
      return step;
    }
    step.kind = Kind::Transfer;
    const int self = job_.group(group).index_of(rank);
    const bool is_send = *op == Op::Send;
    step.from = is_send ? self : signature.source;
    step.to = is_send ? signature.target : self;
    if (step.from < 0 || step.to < 0 || step.from == step.to) {
      note("transfers without their peers are left out");
      has_unknown_peers_ = true;
      return std::nullopt;
    }
    step.op = Op::AllReduce;  // the kind says what it is
    return step;
  }

  /// Who takes part in a call.
  [[nodiscard]] std::vector<int> parties(const Made& made) const {
    const std::vector<int>& members = job_.group(made.group).members;
    if (made.step.kind != Kind::Transfer) return members;
    const auto at = [&](int index) { return members[static_cast<std::size_t>(index)]; };
    const int last = static_cast<int>(members.size()) - 1;
    return {at(std::min(made.step.from, last)), at(std::min(made.step.to, last))};
  }

  /// Whether every member that left a dump has the call in front of it, and as done.
  [[nodiscard]] bool is_common(const Made& made) {
    return std::ranges::all_of(parties(made), [&](int rank) {
      if (is_silent(rank)) return true;
      return !calls(rank).empty() && calls(rank).front().is_same(made) &&
             !calls(rank).front().is_pending;
    });
  }

  void emit(const OutlineStep& step, const std::vector<int>& ranks) {
    outline().steps.push_back(step);
    for (const int rank : ranks) ++made_calls_[static_cast<std::size_t>(rank)];
  }

  /// Calls that all made, in rounds of one a rank at most: so those of a round can come in any order.
  void emit_common() {
    std::vector<std::vector<Made>> rounds;
    for (;;) {
      std::vector<Made> round;
      std::set<int> busy;
      for (int rank = 0; rank < job_.world(); ++rank) {
        if (calls(rank).empty() || !is_common(calls(rank).front())) continue;
        const Made made = calls(rank).front();
        const std::vector<int> all = parties(made);
        if (std::ranges::any_of(all, [&](int member) { return busy.contains(member); })) continue;
        busy.insert(all.begin(), all.end());
        for (const int member : all) {
          if (!is_silent(member)) calls(member).pop_front();
        }
        round.push_back(made);
      }
      if (round.empty()) break;
      rounds.push_back(std::move(round));
    }
    const std::size_t first = rounds.size() > keep_ ? rounds.size() - keep_ : 0;
    if (first > 0)
      note(fmt::format("{} of calls before these are left out", plural(first, "round", "rounds")));
    for (std::size_t i = first; i < rounds.size(); ++i) emit_round(std::move(rounds[i]));
  }

  /// One step where all groups of a family make the same call, else one for each.
  void emit_round(std::vector<Made> round) {
    while (!round.empty()) {
      const Made made = round.front();
      const auto is_like = [&](const Made& other) {
        return other.step.family == made.step.family && other.step.kind == made.step.kind &&
               other.step.op == made.step.op && other.step.count == made.step.count &&
               other.step.type == made.step.type && other.step.from == made.step.from &&
               other.step.to == made.step.to;
      };
      const auto alike = std::ranges::count_if(round, is_like);
      const auto groups =
          outline().families[static_cast<std::size_t>(made.step.family)].members.size();
      if (static_cast<std::size_t>(alike) == groups) {
        std::vector<int> all;
        for (const Made& one : round) {
          if (!is_like(one)) continue;
          const std::vector<int> own = parties(one);
          all.insert(all.end(), own.begin(), own.end());
        }
        emit(made.step, all);
        std::erase_if(round, is_like);
        continue;
      }
      OutlineStep step = made.step;
      step.family = single_family(made.group);
      emit(step, parties(made));
      round.erase(round.begin());
    }
  }

  /// The group by itself.
  int single_family(int group) {
    const auto [place, is_new] = single_.try_emplace(group, 0);
    if (is_new) {
      const hangs::Family joint =
          outline().families[static_cast<std::size_t>(family_of_[static_cast<std::size_t>(group)])];
      place->second = static_cast<int>(outline().families.size());
      outline().families.push_back(
          {fmt::format("{}_of_{}", joint.name, job_.group(group).members.front()),
           joint.desc,
           {job_.group(group).members}});
    }
    return place->second;
  }

  /// What each rank made from here on, by itself.
  void emit_own() {
    for (int rank = 0; rank < job_.world(); ++rank) {
      for (const Made& made : calls(rank)) {
        OutlineStep step = made.step;
        step.at = OutlineStep::Place{
            made.step.kind == Kind::Transfer ? step.family : 0,
            made.step.kind == Kind::Transfer ? job_.group(made.group).index_of(rank) : rank};
        emit(step, {rank});
      }
    }
  }

  /// The first call that a member made by itself, and this rank did not come to.
  [[nodiscard]] const Made* missed_by(int rank) {
    for (int other = 0; other < job_.world(); ++other) {
      for (const Made& made : calls(other)) {
        const std::vector<int> all = parties(made);
        if (other == rank || std::ranges::find(all, rank) == all.end()) continue;
        const bool has_it = std::ranges::any_of(calls(rank), [&](const Made& own) {
          return own.group == made.group && own.number >= made.number;
        });
        if (!has_it) return &made;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool is_waiting(int rank) {
    return std::ranges::any_of(calls(rank), &Made::is_pending);
  }

  void stop_those_that_stopped() {
    for (int rank = 0; rank < job_.world(); ++rank) {
      if (is_waiting(rank)) continue;
      const Made* const missed = missed_by(rank);
      if (missed == nullptr) continue;
      OutlineStep step = missed->step;
      step.at = OutlineStep::Place{0, rank};
      if (step.kind == Kind::Transfer) {
        step.at = OutlineStep::Place{step.family, job_.group(missed->group).index_of(rank)};
      }
      Fault fault;
      const bool computes = made_.original.kind == hang::Kind::Straggler;
      // An agent ends the others of its host as well: they are silent, and did not die.
      const bool is_dead =
          made_.original.kind == hang::Kind::DeadRank &&
          std::ranges::find(made_.original.culprits, rank) != made_.original.culprits.end();
      fault.kind = is_silent(rank) ? (is_dead ? FaultKind::Kill : FaultKind::Stop)
                   : computes      ? FaultKind::Stall
                                   : FaultKind::Throw;
      fault.rank = rank;
      fault.call = made_calls_[static_cast<std::size_t>(rank)];
      made_.scenario.faults.faults.push_back(fault);
      note(is_silent(rank)
               ? fmt::format("rank {} left no calls: {} here", rank, is_dead ? "killed" : "stopped")
               : fmt::format("why rank {} came no further: {} here", rank,
                             computes ? "it computes for ever" : "an exception takes it out"));
      emit(step, {rank});
    }
    if (made_.original.kind == hang::Kind::NetworkStall) stall_network();
  }

  /// All have entered the call: the connection between its first two ranks takes nothing any more.
  void stall_network() {
    for (int rank = 0; rank < job_.world(); ++rank) {
      for (const Made& made : calls(rank)) {
        const std::vector<int>& members = job_.group(made.group).members;
        if (!made.is_pending || made.step.kind == Kind::Transfer || members.size() < 2) continue;
        std::uint64_t calls_before = 0;
        for (const OutlineStep& step : outline().steps) {
          if (step.kind == Kind::Call && step.family == made.step.family && !step.at)
            ++calls_before;
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

  /// A hang whose cause is what nobody recorded cannot be replayed.
  [[nodiscard]] Status check_what_is_needed() const {
    const auto refuse = [](const char* what, const char* help) {
      return Error{ErrorCode::InvalidArgument, fmt::format("it cannot be replayed: {}", what),
                   help};
    };
    if (has_unknown_peers_ && (made_.original.kind == hang::Kind::P2pUnmatched ||
                               made_.original.kind == hang::Kind::DeadlockCycle)) {
      return refuse("these dumps do not say who sends to whom",
                    "NCCL's dumps and ringside's do; gloo's are of a hook that does not");
    }
    if (has_unknown_roots_ && made_.original.kind == hang::Kind::RootMismatch) {
      return refuse("these dumps do not hold roots",
                    "PyTorch's recorder keeps none; ringside's dumps and NCCL's COLL lines do");
    }
    return {};
  }

  void finish() {
    OutlineStep synchronize;
    synchronize.kind = Kind::Synchronize;
    outline().steps.push_back(synchronize);
    Scenario& scenario = made_.scenario;
    scenario.name = outline().name = "reproduced";
    scenario.about = made_.original.why;
    scenario.expect.outcome = Expectation::Outcome::Hang;
    if (made_.original.kind != hang::Kind::Unknown) {
      scenario.expect.kinds = {hang::to_string(made_.original.kind)};
    } else {
      scenario.expect = {};
    }
    if (!made_.original.culprits.empty()) scenario.expect.culprits = made_.original.culprits;
  }

  const hang::Examination& evidence_;
  const hang::Job& job_;
  const std::size_t keep_;
  Reproduction made_;
  bool has_unknown_peers_ = false, has_unknown_roots_ = false;
  std::vector<int> family_of_;            ///< by group of the job
  std::vector<std::deque<Made>> calls_;   ///< by rank: those that are not emitted yet, or its own
  std::vector<std::int64_t> made_calls_;  ///< by rank: emitted so far
  std::map<int, int> single_;             ///< by group of the job: its family alone
};

}  // namespace

Result<Reproduction> reproduction_of(const hang::Examination& evidence, int keep) {
  if (evidence.job == nullptr || evidence.dumps.empty()) {
    return Error{ErrorCode::InvalidArgument, "no dump has calls that could be replayed",
                 "give flight recorder dumps: logs and stacks have no sequences of calls"};
  }
  return Reproducer(evidence, keep).run();
}

}  // namespace ringside::study
