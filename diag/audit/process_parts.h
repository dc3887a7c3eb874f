#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "diag/audit/evidence.h"
#include "diag/logparse/channel_records.h"
#include "diag/logparse/init_records.h"

/// The lines of one process about one communicator, in a shard of the logs. Lines of connections, rings and trees do
/// not name their communicator: they belong to the one that the process is creating (from 2.18 on, its `Init START`),
/// or to the one whose `Init COMPLETE` comes next (before).
namespace ringside::audit {

inline constexpr std::uint32_t kNone = 0xffffffff;

/// All lines `Channel c : a -> b via x` of a part that differ in their channel alone. Millions of them are most of an
/// audit's memory.
struct Link {
  std::int32_t rank = -1;  ///< the rank that prints it
  std::int32_t peer = -1;
  std::uint64_t channels = 0;  ///< bit c: channel c; bit 63: that and beyond
  std::int32_t proxy = -1;
  std::uint32_t count = 0;  ///< lines
  std::int16_t net_device = -1;
  std::uint16_t net = 0;  ///< of Shard::nets
  logs::Via via = logs::Via::Unknown;
  logs::Direction direction = logs::Direction::None;
  std::int8_t connection = -1;
  bool gdr : 1 = false;
  bool copy_engine : 1 = false;
};
static_assert(sizeof(Link) == 32);

/// A hash of all kept calls of a part.
struct CallSum {
  /// The sum of calls s1, s2, s3 is (s1 * factor + s2) * factor + s3, modulo 2^64.
  static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;  ///< of their signatures, in order

  void add(std::uint32_t signature) {
    sum = sum * kFactor + signature;
    ++count;
  }
  /// Appends the calls of `later`.
  void append(const CallSum& later);
  friend bool operator==(const CallSum&, const CallSum&) = default;
};

/// One process in one communicator. -1, 0 and kNone: unknown, as in CommEvent.
///
/// Order  the fields that most lines need come first
struct CommPart {
  std::uint64_t comm = 0;  ///< pointer; 0: no line has named it yet
  CallSum calls = {};
  std::uint32_t ncalls = 0;
  std::uint32_t op_count = 0;  ///< of the last call that is kept
  std::uint32_t speaker = 0;
  std::int32_t rank = -1, nranks = -1;
  std::uint64_t comm_id = 0, parent = 0;
  std::int32_t color = -1, child = -1;
  std::int64_t bus_id = -1;
  std::int16_t cuda_device = -1, nvml_device = -1;
  std::int32_t nnodes = -1, mnnvl = -1;
  std::int32_t coll_channels = -1, nvls_channels = -1, p2p_channels = -1;
  std::int32_t ring_channels = -1;  ///< `Channel 00/16`: 16, of rank 0
  bool is_started = false, is_complete = false, is_destroyed = false, is_aborted = false;
  bool is_rccl = false;
  bool is_headless = false;  ///< its `Init START` is lost
  float init_s = -1, bootstrap_s = -1;
  logs::Place first = {};          ///< line
  std::uint16_t network = 0xffff;  ///< of Shard::nets
};

/// `Ring c : previous -> rank -> next`
struct RingHop {
  std::uint32_t part = kNone;
  std::int32_t channel = -1, rank = -1, next = -1;
};

/// `Channel c/n : ranks`
struct RingList {
  std::uint32_t part = kNone;
  std::int32_t channel = -1;
  bool is_whole = true;
  std::uint32_t at = 0, count = 0;  ///< in Shard::ring_ranks
};

/// `Trees [0] .. [1] ..` of a rank: its parent, which it sends to, by channel.
struct TreeUps {
  std::uint32_t part = kNone;
  std::int32_t rank = -1;
  std::uint32_t at = 0, count = 0;  ///< in Shard::ups
};

/// One call of a collective.
struct CallMark {
  std::uint32_t signature =
      0;  ///< of function, count, type, operation, root; kAnyCall: a torn line's
  std::uint32_t part = kNone;
  std::uint32_t op_count = 0;  ///< the lower half: how far the rank's own counter is
  logs::Place place;
};
inline constexpr std::uint32_t kAnyCall = 0;

/// The current state of a speaker.
///
/// Order  the fields that every line needs come first: one cache line
struct alignas(64) SpeakerParts {
  std::uint32_t current = kNone;      ///< the part that unnamed lines belong to
  std::uint32_t last_called = kNone;  ///< of the last line that named a communicator
  std::uint64_t last_pointer = 0;
  std::uint64_t records = 0;
  bool has_topology = false;  ///< a line of a topology's dump was seen
  bool is_closed = false;     ///< current is complete and this version has no Init START
  std::uint8_t ntids = 0;
  std::uint16_t network = 0xffff;      ///< of Shard::nets: the network of the next communicator
  std::uint32_t dump = kNone;          ///< of Shard::dumps: its own, if kept
  std::array<std::int32_t, 8> tids{};  ///< the first of them
  std::vector<std::uint32_t> parts = {};
  std::vector<std::uint64_t> pointers = {};  ///< CommPart::comm of each, contiguous
};

}  // namespace ringside::audit
