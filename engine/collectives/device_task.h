#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/collectives/chunk_rule.h"
#include "engine/collectives/role.h"

namespace ringside {

/// The position of an array in a block of memory.  unit  offset: bytes from the block's start
template <typename T>
struct TableOf {
  std::uint32_t offset = 0;
  std::int32_t count = 0;

  /// Returns the array, or null if it is empty.
  [[nodiscard]] RINGSIDE_HD const T* in(const std::byte* tables) const {
    return count == 0 ? nullptr : reinterpret_cast<const T*>(tables + offset);
  }
};

/// A SwitchGroup in GPU memory.
struct DeviceGroup {
  bool is_network = false;  ///< false: the NVSwitch
  std::int32_t id = 0;
  TableOf<Rank> senders = {};
  TableOf<Rank> receivers = {};
};

/// A Peer in GPU memory.
struct DevicePeer {
  Rank rank = kNoRank;
  std::int32_t index = 0;
  std::int32_t group = -1;  ///< index in the task's groups; -1: none

  [[nodiscard]] RINGSIDE_HD bool is_used() const { return rank != kNoRank || group >= 0; }
};

/// A ChannelTask without pointers. It and its tables are copied to a GPU unchanged, and are valid at any address.
/// Tables of many tasks share one block of memory. Made by flatten().
struct DeviceTask {
  Role role;
  ChunkRule rule;
  TableOf<Round> rounds;
  TableOf<Rank> owners;            ///< ChunkTables::owners, for rule
  TableOf<std::int64_t> bases;     ///< ChunkTables::bases, for rule
  TableOf<ChannelPart> parts;      ///< ChunkTables::parts, for rule
  TableOf<DevicePeer> recv_peers;  ///< [port number]
  TableOf<DevicePeer> send_peers;
  TableOf<DeviceGroup> groups;
};
static_assert(std::is_trivially_copyable_v<DeviceTask> && std::is_standard_layout_v<DeviceTask>);
static_assert(std::is_trivially_copyable_v<Round> && std::is_trivially_copyable_v<ChannelPart>);

/// A DeviceTask and the address of its tables: the task type that run_strand_alone() and run_channel() take on GPUs.
/// Ownership  both outlive the view
struct DeviceTaskView {
  const DeviceTask* task = nullptr;
  const std::byte* tables = nullptr;

  [[nodiscard]] RINGSIDE_HD const Role& role() const { return task->role; }
  [[nodiscard]] RINGSIDE_HD RoundList round_list() const {
    return {task->rounds.in(tables), task->rounds.count};
  }
  [[nodiscard]] RINGSIDE_HD std::int64_t loops() const { return task->rule.loops(); }
  [[nodiscard]] RINGSIDE_HD int turn_of(std::int64_t loop) const {
    return task->rule.turn_of(loop);
  }

  /// As ChunkMap::at().
  [[nodiscard]] RINGSIDE_HD ChunkSpan at(std::int64_t loop, int chunk) const {
    return task->rule.at(loop, chunk,
                         {task->owners.in(tables), task->bases.in(tables), task->parts.in(tables)});
  }
  [[nodiscard]] RINGSIDE_HD const DevicePeer& recv_peer(int port) const {
    return task->recv_peers.in(tables)[port];
  }
  [[nodiscard]] RINGSIDE_HD const DevicePeer& send_peer(int port) const {
    return task->send_peers.in(tables)[port];
  }
  [[nodiscard]] RINGSIDE_HD const DeviceGroup& group(const DevicePeer& peer) const {
    return task->groups.in(tables)[peer.group];
  }
};

}  // namespace ringside
