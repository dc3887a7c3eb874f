#include "gui/model/views/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ringside::gui {
namespace {

/// With more lanes than this, ranks are folded at first.
constexpr std::size_t kFewLanes = 64;

std::uint64_t key_of(LaneRow::Kind kind, std::uint32_t communicator, std::int64_t number) {
  return (static_cast<std::uint64_t>(kind) << 60) ^ (std::uint64_t{communicator} << 32) ^
         static_cast<std::uint32_t>(number);
}

std::string name_of_channel(std::int32_t channel) {
  if (channel == LaneKey::kCalls) return "calls";
  return channel == kComputeChannel ? "compute" : fmt::format("channel {}", channel);
}

class RowMaker {
 public:
  RowMaker(const Document& document, const State& state)
      : document_(document), state_(state), lanes_(document.replay->lanes()) {}

  std::vector<LaneRow> run() {
    std::size_t first = 0;
    while (first < lanes_.size()) {
      std::size_t last = first;
      while (last < lanes_.size() && lanes_[last].communicator == lanes_[first].communicator)
        ++last;
      communicator(first, last);
      first = last;
    }
    return std::move(rows_);
  }

 private:
  static LaneId id(std::size_t lane) { return LaneId{static_cast<std::uint32_t>(lane)}; }

  LaneRow row(LaneRow::Kind kind, std::string label, std::uint32_t communicator,
              std::int64_t number, bool can_fold, bool is_folded) const {
    const std::uint64_t key = key_of(kind, communicator, number);
    return {.kind = kind,
            .label = std::move(label),
            .depth = depth_,
            .key = key,
            .can_fold = can_fold,
            .is_folded = can_fold && (is_folded != state_.turned.contains(key)),
            .lanes = {}};
  }

  /// A heading: the rows below it are merged into it while it is folded.
  template <typename Below>
  void heading(LaneRow head, std::span<const std::size_t> lanes, const Below& below) {
    const bool is_folded = head.is_folded;
    if (is_folded) {
      for (const std::size_t lane : lanes) head.lanes.push_back(id(lane));
    }
    rows_.push_back(std::move(head));
    if (is_folded) return;
    ++depth_;
    below();
    --depth_;
  }

  void communicator(std::size_t first, std::size_t last) {
    std::vector<std::size_t> all(last - first);
    for (std::size_t i = first; i < last; ++i) all[i - first] = i;
    const std::uint32_t number = lanes_[first].communicator;
    const bool is_only = first == 0 && last == lanes_.size();
    const auto below = [&] {
      if (state_.grouping == Grouping::ByRank) {
        nodes(number, all);
      } else {
        channels(number, all);
      }
    };
    if (is_only) return below();
    heading(row(LaneRow::Kind::Communicator, name_of_communicator(document_, number), number, 0,
                true, false),
            all, below);
  }

  void nodes(std::uint32_t communicator, std::span<const std::size_t> lanes) {
    const Surround& surround = document_.surround;
    if (surround.nodes < 2 || communicator != 0) return ranks(communicator, lanes);
    std::map<std::int32_t, std::vector<std::size_t>> nodes;
    for (const std::size_t lane : lanes) {
      const auto rank = static_cast<std::size_t>(lanes_[lane].rank);
      nodes[rank < surround.node_of.size() ? surround.node_of[rank] : -1].push_back(lane);
    }
    for (const auto& [node, members] : nodes) {
      heading(
          row(LaneRow::Kind::Node, fmt::format("node {}", node), communicator, node, true, false),
          members, [&, &own = members] { ranks(communicator, own); });
    }
  }

  void ranks(std::uint32_t communicator, std::span<const std::size_t> lanes) {
    const bool are_folded = lanes_.size() > kFewLanes;
    for (std::size_t first = 0; first < lanes.size();) {
      const std::int32_t rank = lanes_[lanes[first]].rank;
      std::size_t last = first;
      while (last < lanes.size() && lanes_[lanes[last]].rank == rank) ++last;
      const auto own = lanes.subspan(first, last - first);
      LaneRow head = row(LaneRow::Kind::Rank, fmt::format("rank {}", rank), communicator, rank,
                         own.size() > 1, are_folded);
      head.rank = rank;
      const bool has_calls = lanes_[own.front()].channel == LaneKey::kCalls;
      if (!head.is_folded && has_calls) head.lanes.push_back(id(own.front()));
      // A folded rank shows its steps; its calls if there are no steps.
      const bool has_steps = own.size() > 1 && lanes_[own[1]].channel != kComputeChannel;
      const auto steps = !has_calls ? own : has_steps ? own.subspan(1) : own.first(1);
      if (head.is_folded && has_calls && !has_steps && own.size() > 1) head.compute = id(own[1]);
      heading(std::move(head), steps, [&] {
        for (const std::size_t lane : own) {
          if (lanes_[lane].channel != LaneKey::kCalls) channel_of_rank(lane);
        }
      });
      first = last;
    }
  }

  void channel_of_rank(std::size_t lane) {
    const LaneKey& key = lanes_[lane];
    LaneRow one = row(LaneRow::Kind::Channel, name_of_channel(key.channel), key.communicator, 0,
                      false, false);
    one.rank = key.rank;
    one.lanes.push_back(id(lane));
    rows_.push_back(std::move(one));
  }

  void channels(std::uint32_t communicator, std::span<const std::size_t> lanes) {
    std::map<std::int32_t, std::vector<std::size_t>> by_channel;
    for (const std::size_t lane : lanes) by_channel[lanes_[lane].channel].push_back(lane);
    for (const auto& [channel, members] : by_channel) {
      std::string label = name_of_channel(channel);
      heading(row(LaneRow::Kind::Channel, std::move(label), communicator, channel, true,
                  lanes_.size() > kFewLanes),
              members, [&, &own = members] {
                for (const std::size_t lane : own) {
                  LaneRow one = row(LaneRow::Kind::Rank, fmt::format("rank {}", lanes_[lane].rank),
                                    communicator, 0, false, false);
                  one.rank = lanes_[lane].rank;
                  one.lanes.push_back(id(lane));
                  rows_.push_back(std::move(one));
                }
              });
    }
  }

  const Document& document_;
  const State& state_;
  std::span<const LaneKey> lanes_;
  int depth_ = 0;
  std::vector<LaneRow> rows_;
};

}  // namespace

void Rows::update(const Document& document, const State& state) {
  if (document_ == &document && grouping_ == state.grouping && turned_ == state.turned) return;
  document_ = &document;
  grouping_ = state.grouping;
  turned_ = state.turned;
  rows_ = RowMaker(document, state).run();
  row_of_.assign(document.replay->lanes().size(), -1);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (const LaneId lane : rows_[i].lanes) {
      row_of_[static_cast<std::size_t>(lane)] = static_cast<int>(i);
    }
    if (rows_[i].compute)
      row_of_[static_cast<std::size_t>(*rows_[i].compute)] = static_cast<int>(i);
  }
}

int Rows::row_of(LaneId lane) const {
  const auto at = static_cast<std::size_t>(lane);
  return at < row_of_.size() ? row_of_[at] : -1;
}

}  // namespace ringside::gui
