#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/collectives/direct_step.h"
#include "engine/collectives/role.h"

/// What of DeviceBlock and DeviceEnd is about messages that go without a slot, by Simple alone.
namespace ringside {

/// What a receiver sends its sender at the begin of each call in which messages may be stored into its output: the right
/// to write there from now on, which no other sender has, and the address.
struct DeviceCredit {
  std::uint64_t calls = 0;      ///< stored with release, behind the rest
  std::byte* output = nullptr;  ///< where the receiver sees it
  std::int64_t window = 0;      ///< DeviceLaunch::windows
};

/// How a sender reaches an output that lies in registered memory of another process.
struct DeviceWindows {
  /// [window x ranks + rank]: from where that rank sees it to where this one does
  const std::int64_t* offsets = nullptr;
  std::int32_t ranks = 0;
};

/// Simple: DirectStores of a block.
struct DeviceDirect {
  /// [turn x strands + strand]: its first step; null: all goes through slots
  const std::int32_t* first = nullptr;
  const DirectStep* steps = nullptr;
  const std::int64_t* shift = nullptr;  ///< [sending end]: bytes
  /// Of each strand's steps together: a bit an end that one takes from, and that one stores to.
  std::uint64_t from_ends[Strands::kMost] = {};
  std::uint64_t to_ends[Strands::kMost] = {};
  DeviceWindows windows;
};

}  // namespace ringside
