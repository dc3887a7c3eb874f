#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "diag/audit/evidence.h"
#include "diag/logparse/channel_records.h"
#include "diag/logparse/init_records.h"

/// A part holds the facts from the lines of one process about one communicator, in one shard of the logs.
///
/// Lines on connections, rings and trees do not name their communicator. From NCCL 2.18 on they belong to the last
/// `Init START` of the process, before 2.18 to its next `Init COMPLETE`.
namespace ringside::audit {

inline constexpr std::uint32_t kNone = 0xffffffff;

/// The lines `Channel c : a -> b via x` of a part that differ only in their channel. The size matters: links take most
/// of an audit's memory.
struct Link {
  std::int32_t rank = -1;  ///< the rank that prints it
  std::int32_t peer = -1;
  std::uint64_t channels = 0;  ///< bit c: channel c; bit 63: channels 63 and above
  std::int32_t proxy = -1;
  std::uint32_t count = 0;  ///< number of lines
  std::int16_t net_device = -1;
  std::uint16_t net = 0;  ///< index of Shard::nets
  logs::Via via = logs::Via::Unknown;
  logs::Direction direction = logs::Direction::None;
  std::int8_t connection = -1;
  bool gdr : 1 = false;
  bool copy_engine : 1 = false;
};
static_assert(sizeof(Link) == 32);

/// A hash of the sequence of calls of a part.
struct CallSum {
  /// The sum of calls s1, s2, s3 is (s1 * factor + s2) * factor + s3, modulo 2^64.
  /// 2^64 over the golden ratio, an odd number with well spread bits.
  static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;  ///< hash of the signatures in order

  void add(std::uint32_t signature) {
    sum = sum * kFactor + signature;
    ++count;
  }
  /// Appends the calls of `later`.
  void append(const CallSum& later);
  friend bool operator==(const CallSum&, const CallSum&) = default;
};

/// Takes a field of a part, unless it is `absent`: not stated.
template <typename T>
void take_known(T& to, std::type_identity_t<T> from, std::type_identity_t<T> absent) {
  if (from != absent) to = from;
}

/// One process in one communicator. -1, 0 and kNone mean unknown, as in CommEvent. The fields that most lines need come
/// first.
struct CommPart {
  std::uint64_t comm = 0;  ///< pointer in the process; 0: not named yet
  CallSum calls = {};
  std::uint32_t ncalls = 0;
  std::uint32_t op_count = 0;  ///< opCount of the last kept call
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
  bool is_headless = false;  ///< the `Init START` line is lost
  float init_s = -1, bootstrap_s = -1;
  logs::Place first = {};          ///< first line
  std::uint16_t network = 0xffff;  ///< index of Shard::nets
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
  std::uint32_t at = 0, count = 0;  ///< range of Shard::ring_ranks
};

/// `Trees [0] .. [1] ..` of a rank: the parent to which it sends, by channel.
struct TreeUps {
  std::uint32_t part = kNone;
  std::int32_t rank = -1;
  std::uint32_t at = 0, count = 0;  ///< range of Shard::ups
};

/// One logged collective call.
struct CallMark {
  /// Hash of function, count, type, operation and root; kAnyCall: the line is torn
  std::uint32_t signature = 0;
  std::uint32_t part = kNone;
  std::uint32_t op_count = 0;  ///< lower 32 bits of opCount
  logs::Place place;
};
inline constexpr std::uint32_t kAnyCall = 0;

/// The parsing state of a speaker. The fields that every line needs come first, in one cache line.
struct alignas(64) SpeakerParts {
  std::uint32_t current = kNone;      ///< the part to which lines without a communicator belong
  std::uint32_t last_called = kNone;  ///< the part of the last line that named a communicator
  std::uint64_t last_pointer = 0;
  std::uint64_t records = 0;
  bool has_topology = false;  ///< a line of a topology dump was seen
  bool is_closed = false;     ///< `current` is complete and this version has no Init START
  std::uint8_t ntids = 0;
  std::uint16_t network = 0xffff;      ///< index of Shard::nets: network of the next communicator
  std::uint32_t dump = kNone;          ///< index of Shard::dumps; kNone: no dump is kept
  std::array<std::int32_t, 8> tids{};  ///< the first thread ids
  std::vector<std::uint32_t> parts = {};
  std::vector<std::uint64_t> pointers = {};  ///< CommPart::comm of `parts`
};

}  // namespace ringside::audit
