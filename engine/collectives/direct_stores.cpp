#include "engine/collectives/direct_stores.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace ringside {
namespace {

constexpr std::int32_t kMostEnds = 64;  // number of bits of DirectStep::to

/// A step of a rank: its number in a strand, counted over all turns of one piece.
struct StepAt {
  std::size_t rank = 0, strand = 0;
  std::int32_t number = 0;
};

/// Identifies the messages of a piece: sending rank, receiving rank, connection (or a group's id), whether
/// that is a group, chunk. If a chunk passes the same connection more than once, its messages keep their
/// order, because each end handles them in one strand with equal element counts.
using MessageName = std::tuple<int, int, int, bool, std::int32_t>;

struct MessageEnds {
  std::vector<StepAt> sent, taken;
  std::int32_t send_end = 0;  ///< of the sending rank
};

struct RecordedStep {
  struct Taken {
    MessageName name;
    std::size_t number = 0;  ///< index among the messages of this name
  };
  Step step;
  std::vector<Taken> from;
};

/// The steps of one rank for one piece.
struct RankSteps {
  std::vector<std::vector<RecordedStep>> strands;
  std::vector<std::vector<std::int32_t>> turn_begins;  ///< [strand][turn]
};

/// Calls visit(end, peer, rank) for each end of the ports.
template <typename Visit>
void for_each_end(Ports ports, const std::vector<Peer>& peers,
                  const std::vector<std::int32_t>& first, bool receives, Visit&& visit) {
  for_each_port(ports, [&](int port) {
    const auto index = static_cast<std::size_t>(port);
    if (index >= peers.size()) return;
    const Peer& peer = peers[index];
    std::int32_t end = first[index];
    if (peer.group == nullptr) {
      if (peer.is_used()) visit(end, peer, peer.rank);
      return;
    }
    for (const Rank rank : receives ? peer.group->senders : peer.group->receivers) {
      visit(end++, peer, rank);
    }
  });
}

MessageName name_of(int from, int to, const Peer& peer, std::int32_t chunk) {
  const bool is_group = peer.group != nullptr;
  return {from, to, is_group ? peer.group->id : peer.index, is_group, chunk};
}

bool has_same_places(const ChunkRule& a, const ChunkRule& b) {
  const auto all = [](const ChunkRule& rule) {
    return std::tuple(rule.collective, rule.shrinks, rule.part.offset, rule.part.count, rule.count,
                      rule.chunk, rule.grain, rule.lane, rule.lanes, rule.turns, rule.ranks,
                      rule.chunks, rule.pieces);
  };
  return all(a) == all(b);
}

bool is_alike_part(const ChannelPart& a, const ChannelPart& b) {
  return a.offset == b.offset && a.count == b.count;
}

class DirectSearch {
 public:
  DirectSearch(std::span<const ChannelTask> tasks, std::span<const Program> programs)
      : tasks_(tasks), programs_(programs) {}

  std::vector<DirectStores> run() {
    for (std::size_t rank = 0; rank < tasks_.size(); ++rank) {
      make_empty(rank);
      walk(rank);
    }
    for (const auto& [name, ends] : messages_) {
      if (ends.sent.size() != ends.taken.size()) continue;
      for (std::size_t i = 0; i < ends.sent.size(); ++i) consider(name, ends, i);
    }
    return std::move(found_);
  }

 private:
  void make_empty(std::size_t rank) {
    const ChannelTask& task = tasks_[rank];
    const Program& program = programs_[rank];
    DirectStores& stores = found_.emplace_back();
    RankSteps& steps = steps_.emplace_back();
    const auto strands = static_cast<std::size_t>(program.strands.count);
    steps.strands.resize(strands);
    steps.turn_begins.resize(strands);
    recv_first_.push_back(first_ends(task.recv_peers, true));
    send_first_.push_back(first_ends(task.send_peers, false));
    stores.shift.resize(static_cast<std::size_t>(send_first_.back().back()));
  }

  void walk(std::size_t rank) {
    const Program& program = programs_[rank];
    DirectStores& stores = found_[rank];
    for (int turn = 0; turn < program.turns; ++turn) {
      for (std::size_t strand = 0; strand < steps_[rank].strands.size(); ++strand) {
        std::vector<RecordedStep>& all = steps_[rank].strands[strand];
        steps_[rank].turn_begins[strand].push_back(static_cast<std::int32_t>(all.size()));
        stores.first.push_back(static_cast<std::int32_t>(stores.steps.size()));
        for_each_step(program, turn, static_cast<int>(strand), [&](const Step& step) {
          note(step, {rank, strand, static_cast<std::int32_t>(all.size())}, all);
          stores.steps.emplace_back();
        });
      }
    }
    stores.first.push_back(static_cast<std::int32_t>(stores.steps.size()));
  }

  void note(const Step& step, const StepAt& at, std::vector<RecordedStep>& all) {
    const ChannelTask& task = tasks_[at.rank];
    const auto me = static_cast<int>(at.rank);
    RecordedStep& own = all.emplace_back(RecordedStep{step, {}});
    for_each_end(step.from, task.recv_peers, recv_first_[at.rank], true,
                 [&](std::int32_t /*end*/, const Peer& peer, Rank from) {
                   const MessageName name = name_of(to_int(from), me, peer, step.chunk);
                   std::vector<StepAt>& taken = messages_[name].taken;
                   own.from.push_back({name, taken.size()});
                   taken.push_back(at);
                 });
    for_each_end(step.to, task.send_peers, send_first_[at.rank], false,
                 [&](std::int32_t end, const Peer& peer, Rank to) {
                   MessageEnds& ends = messages_[name_of(me, to_int(to), peer, step.chunk)];
                   ends.sent.push_back(at);
                   ends.send_end = end;
                 });
  }

  const RecordedStep& step_of(const StepAt& at) const {
    return steps_[at.rank].strands[at.strand][static_cast<std::size_t>(at.number)];
  }

  void consider(const MessageName& name, const MessageEnds& ends, std::size_t number) {
    const StepAt& from = ends.sent[number];
    const StepAt& to = ends.taken[number];
    const RecordedStep& taker = step_of(to);
    const PrimitiveParts parts = parts_of(taker.step.primitive);
    const bool is_copied = parts.writes_output && !parts.reads_input && taker.from.size() == 1;
    if (!is_copied || ends.send_end >= kMostEnds) return;
    const std::optional<std::int64_t> shift = shift_of(name);
    if (!shift || !is_read_before(to.rank, std::get<4>(name), from)) return;
    found_[from.rank].shift[static_cast<std::size_t>(ends.send_end)] = *shift;
    entry(from).to |= std::uint64_t{1} << ends.send_end;
    entry(to).takes = 1;
  }

  DirectStep& entry(const StepAt& at) {
    const std::vector<std::int32_t>& begins = steps_[at.rank].turn_begins[at.strand];
    const auto turn =
        std::upper_bound(begins.begin(), begins.end(), at.number) - begins.begin() - 1;
    const auto strands = static_cast<std::ptrdiff_t>(steps_[at.rank].strands.size());
    DirectStores& stores = found_[at.rank];
    const auto place = static_cast<std::size_t>(turn * strands) + at.strand;
    const std::int32_t number = at.number - begins[static_cast<std::size_t>(turn)];
    return stores.steps[static_cast<std::size_t>(stores.first[place] + number)];
  }

  /// Returns the offset of the piece at the receiver minus its offset at the sender; nullopt if the two ends
  /// do not mean the same elements.
  std::optional<std::int64_t> shift_of(const MessageName& name) const {
    const auto& [from, to, index, is_group, chunk] = name;
    const ChunkMap& sender = tasks_[static_cast<std::size_t>(from)].map;
    const ChunkMap& receiver = tasks_[static_cast<std::size_t>(to)].map;
    const ChunkRule& a = sender.rule();
    const ChunkRule& b = receiver.rule();
    if (is_point_to_point(a.collective)) {
      if (a.chunk != b.chunk || a.self != from || b.self != to) return std::nullopt;
      const auto sends = static_cast<std::size_t>(a.send_at + to);
      const auto takes = static_cast<std::size_t>(b.recv_at + from);
      if (sends >= sender.parts().size() || takes >= receiver.parts().size()) return std::nullopt;
      const ChannelPart& sent = sender.parts()[sends];
      const ChannelPart& taken = receiver.parts()[takes];
      if (sent.count != taken.count) return std::nullopt;
      return taken.offset - sent.offset;
    }
    const bool is_same = has_same_places(a, b) &&
                         std::ranges::equal(sender.owners(), receiver.owners()) &&
                         std::ranges::equal(sender.bases(), receiver.bases()) &&
                         std::ranges::equal(sender.parts(), receiver.parts(), is_alike_part);
    return is_same ? std::optional<std::int64_t>(0) : std::nullopt;
  }

  /// Returns whether every step of `reader` that reads the chunk's input precedes the step `before`. Uses the
  /// order within strands and messages of this chunk only, because messages of other chunks may have no
  /// elements.
  bool is_read_before(std::size_t reader, std::int32_t chunk, const StepAt& before) const {
    // [rank][strand]: number of its steps that are known to precede `before`
    std::vector<std::vector<std::int32_t>> over;
    for (const RankSteps& rank : steps_) over.emplace_back(rank.strands.size(), 0);
    std::vector<StepAt> due{before};
    while (!due.empty()) {
      const StepAt at = due.back();
      due.pop_back();
      std::int32_t& known = over[at.rank][at.strand];
      for (std::int32_t i = known; i <= at.number; ++i) {
        const RecordedStep& one = steps_[at.rank].strands[at.strand][static_cast<std::size_t>(i)];
        if (one.step.chunk != chunk) continue;
        for (const RecordedStep::Taken& taken : one.from) {
          const MessageEnds& ends = messages_.at(taken.name);
          if (ends.sent.size() == ends.taken.size()) due.push_back(ends.sent[taken.number]);
        }
      }
      known = std::max(known, at.number + 1);
    }
    for (std::size_t strand = 0; strand < over[reader].size(); ++strand) {
      const std::vector<RecordedStep>& all = steps_[reader].strands[strand];
      for (auto i = static_cast<std::size_t>(over[reader][strand]); i < all.size(); ++i) {
        const Step& step = all[i].step;
        if (step.chunk == chunk && parts_of(step.primitive).reads_input) return false;
      }
    }
    return true;
  }

  std::span<const ChannelTask> tasks_;
  std::span<const Program> programs_;
  std::vector<RankSteps> steps_;
  std::vector<std::vector<std::int32_t>> recv_first_, send_first_;
  std::map<MessageName, MessageEnds> messages_;
  std::vector<DirectStores> found_;
};

}  // namespace

bool DirectStores::is_empty() const {
  return std::ranges::all_of(steps, [](const DirectStep& step) { return step == DirectStep{}; });
}

std::vector<std::int32_t> first_ends(std::span<const Peer> peers, bool receives) {
  std::vector<std::int32_t> first{0};
  for (const Peer& peer : peers) {
    std::size_t count = peer.is_used() ? 1 : 0;
    if (peer.group != nullptr) {
      count = receives ? peer.group->senders.size() : peer.group->receivers.size();
    }
    first.push_back(first.back() + static_cast<std::int32_t>(count));
  }
  return first;
}

std::vector<DirectStores> find_direct_stores(std::span<const ChannelTask> tasks,
                                             std::span<const Program> programs) {
  return DirectSearch(tasks, programs).run();
}

std::vector<DirectStores> find_direct_stores(std::span<const ChannelTask> tasks) {
  std::vector<Program> programs;
  programs.reserve(tasks.size());
  for (const ChannelTask& task : tasks) programs.push_back(record(task));
  return find_direct_stores(tasks, programs);
}

}  // namespace ringside
