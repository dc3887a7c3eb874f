#include "engine/collectives/prove_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringside {
namespace {

std::size_t index_of(const std::vector<Rank>& ranks, Rank rank) {
  return static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
}

}  // namespace

Result<PortEnd> Lines::end_of(const Peer& peer, Rank me, bool sends) {
  Line& line = peer.group != nullptr
                   ? group_line(*peer.group)
                   : pair_line(sends ? me : peer.rank, sends ? peer.rank : me, peer.index);
  if (peer.group != nullptr &&
      (line.senders != peer.group->senders || line.receivers != peer.group->receivers)) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("group {} has other members for rank {}", peer.group->id, to_int(me))};
  }
  const std::vector<Rank>& side = sends ? line.senders : line.receivers;
  const std::size_t place = index_of(side, me);
  if (place == side.size()) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("rank {} has a port to a group it is no member of", to_int(me))};
  }
  return PortEnd{&line, place};
}

Line& Lines::pair_line(Rank from, Rank to, int index) {
  Line*& line = pairs_[{to_int(from), to_int(to), index}];
  if (line == nullptr) line = make({from}, {to}, -1, SwitchGroup::Medium::NvSwitch);
  return *line;
}

Line& Lines::group_line(const SwitchGroup& group) {
  Line*& line = groups_[group.id];
  if (line == nullptr) line = make(group.senders, group.receivers, group.id, group.medium);
  return *line;
}

Line* Lines::make(std::vector<Rank> senders, std::vector<Rank> receivers, int group,
                  SwitchGroup::Medium medium) {
  auto line = std::make_unique<Line>();
  line->group = group;
  line->medium = medium;
  const bool is_pair = group < 0;
  for (const Rank sender : senders) {
    line->in.push_back({sender, is_pair ? receivers[0] : kNoRank, group, medium});
  }
  for (const Rank receiver : receivers) {
    line->out.push_back({kNoRank, receiver, group, medium});
  }
  line->sent.resize(senders.size());
  line->taken.resize(receivers.size());
  line->senders = std::move(senders);
  line->receivers = std::move(receivers);
  lines_.push_back(std::move(line));
  return lines_.back().get();
}

}  // namespace ringside
