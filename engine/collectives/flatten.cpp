#include "engine/collectives/flatten.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "base/assert.h"

namespace ringside {
namespace {

constexpr std::size_t kAlignment = 8;  // bytes, of every entry

template <typename T>
TableOf<T> append(std::vector<std::byte>& tables, std::span<const T> entries) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
  if (entries.empty()) return {};
  const std::size_t offset = (tables.size() + kAlignment - 1) / kAlignment * kAlignment;
  tables.resize(offset + entries.size_bytes());
  RINGSIDE_ASSERT(tables.size() <= std::numeric_limits<std::uint32_t>::max(), "{} bytes of tables",
                  tables.size());
  std::memcpy(tables.data() + offset, entries.data(), entries.size_bytes());
  return {static_cast<std::uint32_t>(offset), static_cast<std::int32_t>(entries.size())};
}

/// The groups of a task's ports, without duplicates.
class Groups {
 public:
  std::int32_t number_of(const SwitchGroup* group) {
    if (group == nullptr) return -1;
    const auto at = std::ranges::find(seen_, group);
    if (at == seen_.end()) {
      seen_.push_back(group);
      return static_cast<std::int32_t>(seen_.size()) - 1;
    }
    return static_cast<std::int32_t>(at - seen_.begin());
  }

  TableOf<DeviceGroup> append_to(std::vector<std::byte>& tables) const {
    std::vector<DeviceGroup> flat;
    for (const SwitchGroup* group : seen_) {
      flat.push_back({.is_network = group->medium == SwitchGroup::Medium::Network,
                      .id = group->id,
                      .senders = append<Rank>(tables, group->senders),
                      .receivers = append<Rank>(tables, group->receivers)});
    }
    return append<DeviceGroup>(tables, flat);
  }

 private:
  std::vector<const SwitchGroup*> seen_;
};

TableOf<DevicePeer> append_peers(std::vector<std::byte>& tables, const std::vector<Peer>& peers,
                                 Groups& groups) {
  std::vector<DevicePeer> flat;
  for (const Peer& peer : peers) {
    flat.push_back(
        {.rank = peer.rank, .index = peer.index, .group = groups.number_of(peer.group.get())});
  }
  return append<DevicePeer>(tables, flat);
}

}  // namespace

DeviceTask flatten(const ChannelTask& task, std::vector<std::byte>& tables) {
  DeviceTask flat;
  flat.role = task.role();
  flat.rule = task.map.rule();
  flat.rounds = append<Round>(tables, task.rounds);
  flat.owners = append<Rank>(tables, task.map.owners());
  flat.bases = append<std::int64_t>(tables, task.map.bases());
  flat.parts = append<ChannelPart>(tables, task.map.parts());
  Groups groups;
  flat.recv_peers = append_peers(tables, task.recv_peers, groups);
  flat.send_peers = append_peers(tables, task.send_peers, groups);
  flat.groups = groups.append_to(tables);
  return flat;
}

}  // namespace ringside
