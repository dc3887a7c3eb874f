#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/collectives/direct_step.h"
#include "engine/collectives/role.h"

/// The parts of DeviceBlock and DeviceEnd for messages that bypass slots; only for Simple.
namespace ringside {

/// Sent by a receiver at the start of each call in which messages may be stored into its output: the exclusive right
/// to write there from now on, and the address.
struct DeviceCredit {
  std::uint64_t calls = 0;      ///< stored last, with release
  std::byte* output = nullptr;  ///< address at the receiver
  std::int64_t window = 0;      ///< DeviceLaunch::windows
};

/// How a sender accesses an output in registered memory of another process.
struct DeviceWindows {
  /// [window x ranks + rank]: this rank's address of that rank's memory - that rank's own address
  const std::int64_t* offsets = nullptr;
  std::int32_t ranks = 0;
};

/// The DirectStores of a block, for Simple.
struct DeviceDirect {
  /// [turn x strands + strand]: index of its first step; null: all messages use slots
  const std::int32_t* first = nullptr;
  const DirectStep* steps = nullptr;
  const std::int64_t* shift = nullptr;  ///< [sending end]: bytes
  /// [strand]: one bit per end from which any step receives directly, or to which any step stores directly.
  std::uint64_t from_ends[Strands::kMost] = {};
  std::uint64_t to_ends[Strands::kMost] = {};
  DeviceWindows windows;
};

}  // namespace ringside
