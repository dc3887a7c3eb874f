#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>

#include "base/assert.h"

namespace ringside::logs {

/// The kind of a line. Each kind except the last four has a struct with the same name and kKind, in the header on the
/// right.
enum class RecordKind : std::uint8_t {
  Message,             ///< a line of the catalogue                                     message.h
  LibraryVersion,      ///< `NCCL version 2.19.3+cuda12.3`                         init_records.h
  Environment,         ///< `NCCL_X set by environment to y`                       init_records.h
  NetDevices,          ///< `NET/IB : Using [0]mlx5_0:1/IB ...`                    init_records.h
  NetworkInUse,        ///< `Using network IB`                                     init_records.h
  BootstrapInterface,  ///< `Bootstrap : Using eth0:10.0.0.1<0>`                   init_records.h
  CommEvent,           ///< `comm 0x.. rank .. - Init COMPLETE`                    init_records.h
  CommNodes,           ///< `comm 0x.. rank .. nRanks .. nNodes ..`                init_records.h
  InitTimings,         ///< `Init timings - ...`                                   init_records.h
  BootstrapTimings,    ///< `Bootstrap timings total ...`                          init_records.h
  ChannelCounts,       ///< `16 coll channels, ...`                                init_records.h
  GdrOfHca,            ///< `NET/IB : GPU Direct RDMA Enabled for HCA ...`         init_records.h
  GdrOfPair,           ///< `GPU Direct RDMA Enabled for GPU .. / HCA ..`          init_records.h
  ChannelEdge,         ///< `Channel 00/0 : 0[0] -> 1[1] via ...`               channel_records.h
  RingOrder,           ///< `Channel 00/16 : 0 1 2 ...`                         channel_records.h
  RingNeighbours,      ///< `Ring 00 : 2 -> 3 -> 4`                             channel_records.h
  TreeNeighbours,      ///< `Tree 0 : 2 -> 3 -> 4/-1/-1`                        channel_records.h
  Trees,               ///< `Trees [0] 4/-1/-1->3->2 ...`                       channel_records.h
  Connected,           ///< `Connected all rings ...`                           channel_records.h
  TopoSystem,          ///< `=== System : maxBw 48.0 ... ===` and its end          topo_records.h
  TopoNode,            ///< `+ PCI[24.0] - GPU/1B000 (0)`                          topo_records.h
  TopoPaths,           ///< `GPU/1B000 :GPU/1B000 (0/5000.0/LOC) ...`              topo_records.h
  GraphPattern,        ///< `Pattern 4, crossNic 0, ...`                           topo_records.h
  GraphChannel,        ///< ` 0 : NET/0 GPU/0 ... NET/0`                           topo_records.h
  CollCall,            ///< `AllReduce: opCount 1f ...`                            call_records.h
  TuningChoice,        ///< `AllReduce: 2097152 Bytes -> Algo RING ...`            call_records.h
  ApiCall,             ///< `NCCL CALL ncclGroupStart()`                           call_records.h
  ResultStack,         ///< `transport/net.cc:381 -> 6`                            call_records.h
  BenchmarkRank,       ///< `#  Rank  0 Group  0 Pid ..`                      benchmark_records.h
  BenchmarkHeading,    ///< the row of column names of nccl-tests             benchmark_records.h
  BenchmarkRow,        ///< a row of its table                                benchmark_records.h
  BenchmarkAverage,    ///< `# Avg bus bandwidth    : 48.2`                   benchmark_records.h
  Xid,                 ///< `NVRM: Xid (PCI:0000:1b:00): 79, ...`                host_records.h
  RasComm,             ///< a communicator of an ncclras report                   ras_records.h
  RasRank,             ///< a rank of an ncclras report                           ras_records.h
  Traceback,           ///< `Traceback (most recent call last):` and frames      host_records.h
  PythonError,         ///< `RuntimeError: text`, the end of a traceback         host_records.h
  Unknown,             ///< a NCCL line of no kind above; no struct
  Continuation,        ///< unprefixed text right after a prefixed line; no struct
  Fragment,            ///< an unrecognised piece of a torn line; no struct
  Text                 ///< output of other programs; no struct
};

inline constexpr int kRecordKinds = static_cast<int>(RecordKind::Text) + 1;

/// The word after `NCCL` in the prefix. None: the line has no NCCL prefix.
enum class Level : std::uint8_t { None, Info, Warn, Trace, Call };

/// The position of a line, ordered like the input. ParseReport::where() returns its file and line.
struct Place {
  std::uint32_t piece = 0;  ///< number of a part of a file
  std::uint32_t line = 0;   ///< line in the piece, counting '\n'
  friend auto operator<=>(Place, Place) = default;
};

/// One parsed line. A torn line gives a record for each beginning of a line in it.
///
/// Ownership  `line` and the views in the payload are valid only during RecordSink::take(); copy them to keep them
struct Record {
  static constexpr std::size_t kPayload = 96;

  RecordKind kind = RecordKind::Text;
  Level level = Level::None;
  bool is_torn = false;  ///< another line cut off its end: absent fields may be lost
  bool is_cut = false;   ///< NCCL's buffer, or ringside's limit of a line, cut it
  /// `[<dev>]`: the CUDA device selected in that thread; does not identify it
  std::int16_t device = -1;
  std::uint16_t repeats = 1;  ///< `[repeated 7x across cluster]` counts 7
  std::int32_t tid = -1;
  std::uint32_t speaker = 0;  ///< its writer: an index of the shard's SpeakerTable
  Place place;
  std::int64_t time_us = 0;   ///< wall time since 1970 as in the line, its zone ignored; 0: none
  std::string_view line;      ///< the logical line: unwrapped, without colours
  std::uint32_t text_at = 0;  ///< where its text begins, after all prefixes

  [[nodiscard]] std::string_view text() const { return line.substr(text_at); }

  /// Returns the payload.  shape  T::kKind == kind
  template <typename T>
  [[nodiscard]] const T& as() const {
    RINGSIDE_ASSERT(T::kKind == kind, "a record of kind {} read as {}", static_cast<int>(kind),
                    static_cast<int>(T::kKind));
    return *std::launder(reinterpret_cast<const T*>(payload_));
  }

  /// Sets the kind to T's and returns the default payload to fill.
  template <typename T>
  T& make() {
    static_assert(sizeof(T) <= kPayload && alignof(T) <= 8 && std::is_trivially_copyable_v<T>);
    kind = T::kKind;
    return *::new (payload_) T{};
  }

  /// Copies the meaning of another record, for another speaker and another place.
  void take_meaning(const Record& other) {
    kind = other.kind;
    std::memcpy(payload_, other.payload_, kPayload);
  }

 private:
  alignas(8) std::byte payload_[kPayload];
};

/// Returns the source location that an NCCL warning prints, `misc/socket.cc:58`, `f.cc:58 (f)` or a plugin's function
/// signature; empty for other levels.
std::string_view location(const Record& record);

/// Returns the kind's name, "channel_edge", which --explain-unparsed and tests print.
const char* to_string(RecordKind kind);

}  // namespace ringside::logs
