#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/vocabulary.h"
#include "ringside/trace_reader.h"
#include "ringside/units.h"

namespace ringside {

/// One collective over all ranks. A rank's send or receive counts as one of its own.
struct CallSummary {
  std::uint32_t communicator = 0;
  std::uint32_t sequence = 0;
  Collective collective = Collective::AllReduce;
  std::optional<Algorithm> algorithm;  ///< nothing: not recorded
  std::optional<Protocol> protocol;
  Bytes bytes;                 ///< of the largest buffer, as nccl-tests counts it
  int nranks = 0;              ///< of the communicator
  int recorded = 0;            ///< ranks with the call in the trace
  std::int64_t begin_ns = 0;   ///< the first rank entered
  std::int64_t all_in_ns = 0;  ///< the last recorded rank entered
  std::int64_t end_ns = 0;     ///< the last rank left
  std::int32_t last_rank = 0;  ///< that entered last
  bool is_endless = false;     ///< it never ended on some rank, see calls_of()
  /// The busbw that a model predicts (study::expect_busbw()); nothing: no prediction
  std::optional<BytesPerSecond> expected_busbw = {};

  /// Returns the time from the first rank's entry to the last rank's; nothing if only one rank is recorded.
  [[nodiscard]] std::optional<Nanoseconds> skew() const;
  /// Size over the time from the last rank's entry to the end.
  /// returns  nothing for a call without size or end
  [[nodiscard]] std::optional<BytesPerSecond> algbw() const;
  [[nodiscard]] std::optional<BytesPerSecond> busbw() const;
};

/// All calls of one collective, size, number of ranks and choice.
struct SizeSummary {
  Collective collective = Collective::AllReduce;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  Bytes bytes;
  int nranks = 0;
  std::uint64_t count = 0;
  // Medians over the calls that have the value.
  std::optional<BytesPerSecond> algbw, busbw, expected_busbw;
  std::optional<Nanoseconds> skew;
  std::optional<Nanoseconds> longest_skew;
  std::int32_t last_rank = -1;        ///< the rank that entered last most often; -1: unknown
  std::uint64_t last_rank_count = 0;  ///< how often
};

/// Returns the collectives of a trace by their begin.
///
/// A call never ended on a rank if the trace says so (kNeverEnded), or if it is the rank's newest one and either has no
/// event of its end or has fewer primitives than the rank's previous call of that type and size: it was given up. A
/// file with unreadable places shows only the former.
std::vector<CallSummary> calls_of(const TraceFile& file);

/// Sums them up, by collective and size.
std::vector<SizeSummary> sizes_of(const std::vector<CallSummary>& calls);

}  // namespace ringside
