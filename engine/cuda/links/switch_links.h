#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "engine/cuda/device/device_memory.h"
#include "engine/cuda/device/switch_slots.h"
#include "engine/runtime/host/connect.h"

namespace ringside {

class Bootstrap;

/// Bytes at the start of a connection's shared pages that ProcessLinks uses. SwitchLinks uses the bytes after them.
inline constexpr std::size_t kBytesOfLinks = 512;

/// The slots of a rank's groups behind a switch, in memory of its node's GPUs. They are made on first use and kept.
///
/// The head of the first group leads: it makes the memory, sends the file to the other members, and releases them when
/// all have reached a step. For this it uses the pages and sockets of its connections in that group, which already
/// exist.
///
/// Threads    one at a time
/// Ownership  bootstrap, memory and connections outlive it
class SwitchLinks {
 public:
  SwitchLinks(Bootstrap& bootstrap, DeviceMemory& memory)
      : bootstrap_(bootstrap), memory_(memory) {}

  using FindEnd = std::function<const TransportEnd&(const ConnectionId& id)>;
  /// Makes the slots of those groups that have none yet. All members of a node call it with the same groups.
  /// wanted  in the order of switches_of()
  /// end_of  returns this rank's end of a connection
  /// errors  Timeout: a member did not call it.  System: the driver's error; Aborted
  Status connect(std::span<const SwitchName> wanted, const FindEnd& end_of, Deadline deadline);

  [[nodiscard]] bool has_all(std::span<const SwitchName> names) const {
    return std::ranges::all_of(names, [this](const auto& name) { return slots_.contains(name); });
  }

  /// Returns the slots of a group.
  /// shape  connect() has made them
  [[nodiscard]] SwitchSlots slots_of(const SwitchName& name) const { return slots_.at(name); }

 private:
  class Node;
  Result<SwitchSlots> make_slots(Node& node, Bytes size, Deadline deadline);

  Bootstrap& bootstrap_;
  DeviceMemory& memory_;
  std::map<SwitchName, SwitchSlots> slots_;
  /// Steps that both sides of a connection have reached
  std::map<ConnectionId, std::uint32_t> steps_;
};

}  // namespace ringside
