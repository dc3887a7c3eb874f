#include "study/interchange/recorded_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ringside::study {
namespace {

using hangs::Op;
using hangs::OutlineStep;

class DumpReader {
 public:
  explicit DumpReader(const hang::Job& job) : job_(job) {}

  RecordedDumps run() {
    for (const hang::Group& group : job_.groups()) {
      made_.job.groups.push_back({group.name, group.description, group.members});
    }
    made_.job.ranks.resize(static_cast<std::size_t>(job_.world()));
    std::map<int, std::int64_t>
        first;  // by group: the oldest collective that all members still have
    for (int rank = 0; rank < job_.world(); ++rank) {
      if (is_silent(rank)) continue;
      for (const hang::GroupCalls& own : job_.rank(rank).groups) {
        if (own.collectives.empty()) continue;
        const auto oldest = sequence_of(rank, own.collectives.front());
        first[own.group] = std::max(first[own.group], oldest);
      }
    }
    for (int rank = 0; rank < job_.world(); ++rank) {
      if (!is_silent(rank)) read_rank(rank, first);
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::int64_t sequence_of(int rank, std::uint32_t call) const {
    return std::int64_t{job_.rank(rank).dump->calls[call].sequence};
  }

  /// Returns whether both ends of each transfer in the group are recorded from the first on, so that they can be
  /// counted from there: recorders do not show reliably which of the last are done.
  [[nodiscard]] bool is_whole(int group) const {
    return std::ranges::all_of(job_.group(group).members, [&](int rank) {
      if (is_silent(rank)) return true;
      const auto& groups = job_.rank(rank).groups;
      const auto own = std::ranges::find(groups, group, &hang::GroupCalls::group);
      return own == groups.end() || own->transfers.empty() ||
             sequence_of(rank, own->transfers.front()) == 1;
    });
  }

  /// Returns whether the call at that place began together with an adjacent one: with another peer, or in the other
  /// direction.
  [[nodiscard]] bool is_of_set(const hang::RankView& view, std::span<const std::uint32_t> order,
                               std::size_t place) const {
    const hang::Call& call = view.dump->calls[order[place]];
    const auto is_beside = [&](std::size_t other_place) {
      const hang::Call& other = view.dump->calls[order[other_place]];
      const hang::Signature& a = job_.signature(call);
      const hang::Signature& b = job_.signature(other);
      return other.is_p2p && other.sequence == call.sequence && b.op != hang::Op::Coalesced &&
             view.group_of_call[order[other_place]] == view.group_of_call[order[place]] &&
             (a.op != b.op || a.source != b.source || a.target != b.target);
    };
    return (place > 0 && is_beside(place - 1)) ||
           (place + 1 < order.size() && is_beside(place + 1));
  }

  [[nodiscard]] bool is_silent(int rank) const {
    return job_.rank(rank).dump == nullptr || job_.rank(rank).dump->calls.empty();
  }

  void read_rank(int rank, const std::map<int, std::int64_t>& first) {
    const hang::RankView& view = job_.rank(rank);
    RecordedRank& recorded = made_.job.ranks[static_cast<std::size_t>(rank)];
    recorded.is_silent = false;
    std::set<std::uint32_t> counted;  // hooks record a call a second time
    std::set<int> whole;              // groups
    for (const hang::GroupCalls& own : view.groups) {
      if (is_whole(own.group)) whole.insert(own.group);
      counted.insert(own.collectives.begin(), own.collectives.end());
      counted.insert(own.transfers.begin(), own.transfers.end());
    }
    const std::vector<std::uint32_t> order(counted.begin(), counted.end());
    std::map<std::tuple<int, int, int>, std::int64_t> transfers;  // by group, sender, receiver
    for (std::size_t i = 0; i < order.size(); ++i) {
      const hang::Call& call = view.dump->calls[order[i]];
      const int group = view.group_of_call[order[i]];
      if (group < 0) continue;
      if (view.is_from_log) {
        if (auto exchange = exchange_at(view, std::span(order).subspan(i))) {
          i += 2 * job_.group(group).members.size() - 1;
          recorded.calls.push_back(*std::move(exchange));
          continue;
        }
      }
      auto step = step_of(rank, group, call);
      if (!step) continue;
      RecordedCall made{
          .step = *step, .group = group, .number = call.sequence, .is_pending = call.is_pending()};
      if (step->kind == OutlineStep::Kind::Transfer) {
        made.is_counted = whole.contains(group);
        made.number = made.is_counted ? ++transfers[{group, step->from, step->to}] : 0;
        made.sequence = call.sequence;
        made.is_of_set = !view.is_from_log && is_of_set(view, order, i);
      } else if (const auto oldest = first.find(group);
                 oldest != first.end() && made.number < oldest->second) {
        continue;
      }
      recorded.calls.push_back(std::move(made));
    }
  }

  /// Log lines show an all-to-all as its parts: a send to each member and a receive from each.
  std::optional<RecordedCall> exchange_at(const hang::RankView& view,
                                          std::span<const std::uint32_t> indices) const {
    const std::vector<hang::Call>& calls = view.dump->calls;
    const int group = view.group_of_call[indices.front()];
    const std::size_t members = job_.group(group).members.size();
    if (members < 2 || indices.size() < 2 * members) return std::nullopt;
    const hang::Call& first = calls[indices.front()];
    const hang::Signature& part = job_.signature(first);
    std::set<int> to, from;
    for (const std::uint32_t index : indices.first(2 * members)) {
      const hang::Signature& one = job_.signature(calls[index]);
      const bool is_send = one.op == hang::Op::Send;
      if (view.group_of_call[index] != group || (!is_send && one.op != hang::Op::Recv) ||
          one.input_count != part.input_count || one.types != part.types) {
        return std::nullopt;
      }
      (is_send ? to : from).insert(is_send ? one.target : one.source);
    }
    if (to.size() != members || from.size() != members) return std::nullopt;
    const hang::Call& last = calls[indices[2 * members - 1]];
    RecordedCall made{.step = {},
                      .group = group,
                      .number = first.sequence,
                      .is_pending = first.is_pending() || last.is_pending()};
    made.step.op = Op::AllToAll;
    made.step.type = program_type(part.types).value_or(DataType::Float32);
    constexpr std::uint64_t kMostCount = std::uint64_t{1} << 40;
    made.step.count = static_cast<std::int64_t>(std::min(kMostCount, part.input_count * members));
    return made;
  }

  std::optional<OutlineStep> step_of(int rank, int group, const hang::Call& call) {
    const hang::Signature& signature = job_.signature(call);
    const auto op = program_op(signature.op);
    if (!op) {
      if (signature.op != hang::Op::Coalesced)
        made_.job.note(fmt::format("{} is omitted: programs cannot express it", signature.name));
      return std::nullopt;
    }
    OutlineStep step;
    step.op = *op;
    // The size that a rank receives: a receive has no input. NCCL's own dumps record the same size on both sides.
    const bool is_by_output =
        *op == Op::ReduceScatter || (*op == Op::Recv && signature.output_count > 0);
    const std::uint64_t count = is_by_output ? signature.output_count : signature.input_count;
    step.count =
        static_cast<std::int64_t>(std::clamp<std::uint64_t>(count, 1, std::uint64_t{1} << 40));
    if (*op == Op::Barrier) step.count = 1;
    if (const auto type = program_type(signature.types)) {
      step.type = *type;
    } else if (*op != Op::Barrier) {
      made_.job.note(fmt::format("element type '{}': float in its place", signature.types));
    }
    if (!hangs::is_p2p(*op)) {
      step.from = std::max(0, signature.root);
      if (hangs::has_root(*op) && signature.root < 0) {
        made_.job.note("roots are not recorded: the first rank of each group");
        made_.has_unknown_roots = true;
      }
      return step;
    }
    step.kind = OutlineStep::Kind::Transfer;
    const int self = job_.group(group).index_of(rank);
    const bool is_send = *op == Op::Send;
    int peer = is_send ? signature.target : signature.source;
    // Many recorders omit the peer; in a group of two there is only one.
    if (peer < 0 && job_.group(group).members.size() == 2) peer = 1 - self;
    step.from = is_send ? self : peer;
    step.to = is_send ? peer : self;
    if (step.from < 0 || step.to < 0 || step.from == step.to) {
      made_.job.note("transfers without their peers are omitted");
      made_.has_unknown_peers = true;
      return std::nullopt;
    }
    step.op = Op::AllReduce;  // the kind gives the meaning
    return step;
  }

  const hang::Job& job_;
  RecordedDumps made_;
};

}  // namespace

RecordedDumps recorded_dumps(const hang::Examination& evidence) {
  return DumpReader(*evidence.job).run();
}

}  // namespace ringside::study
