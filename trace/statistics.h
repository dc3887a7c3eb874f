#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/vocabulary.h"
#include "ringside/trace_reader.h"
#include "ringside/units.h"
#include "trace/match.h"

namespace ringside {

/// The activity of one channel of one rank. Primitives overlap where several groups of warps share
/// the channel (NVLS, trees).
struct ChannelStatistics {
  std::uint32_t communicator = 0;
  Rank rank{0};
  ChannelId channel{0};
  std::uint64_t primitives = 0;
  Bytes sent;                    ///< bytes of sending primitives, counted for each peer
  Nanoseconds busy{0};           ///< time in at least one primitive, waiting included
  Nanoseconds in_primitives{0};  ///< sum of all primitives' durations
  /// The part of `busy` in receives before the matching send had begun: the sender was late, not
  /// the link. Ranks that receive from a rank which itself waits count as busy, so waiting points
  /// at the first cause. If a receive has several late senders, their waits are added up although
  /// they overlap.
  Nanoseconds waiting{0};

  /// returns  sent / busy; 0 if no bytes were sent or no time passed
  [[nodiscard]] BytesPerSecond achieved() const;
};

/// All calls with the same collective, algorithm and protocol.
struct CollectiveStatistics {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  /// In at least one call, copies replaced a switch or network that reduces.
  bool is_modelled = false;
  std::uint64_t count = 0;  ///< number of collectives: distinct (communicator, sequence)
  std::uint64_t calls = 0;  ///< number of calls over all ranks
  Bytes bytes;              ///< sum over all calls
  Nanoseconds total{0};     ///< sum over all calls
  Nanoseconds longest{0};   ///< longest call

  /// returns  mean per call; 0 without calls
  [[nodiscard]] Bytes mean_bytes() const;
  [[nodiscard]] Nanoseconds mean_time() const;
};

/// Counts of one communicator.
struct CommunicatorStatistics {
  std::uint32_t communicator = 0;
  std::uint64_t ranks = 0;  ///< ranks with events
};

/// Counts of a whole trace.
struct TraceStatistics {
  std::uint64_t primitives = 0;
  std::uint64_t collective_calls = 0;
  std::int64_t begin_ns = 0;           ///< first begin, on the file's clock; 0 without events
  std::int64_t end_ns = 0;             ///< last end
  std::uint64_t ranks = 0;             ///< ranks of the largest communicator
  std::uint64_t transfers = 0;         ///< matched sends and receives
  std::uint64_t unmatched_halves = 0;  ///< sends or receives without counterpart
  std::vector<CommunicatorStatistics> communicators;  ///< by id
  std::vector<ChannelStatistics> channels;            ///< by communicator, rank, channel
  std::vector<CollectiveStatistics> collectives;      ///< by collective, algorithm, protocol

  [[nodiscard]] Nanoseconds span() const { return Nanoseconds{end_ns - begin_ns}; }
};

/// Computes statistics from events and transfers that the caller visits.
class StatisticsBuilder {
 public:
  StatisticsBuilder();
  ~StatisticsBuilder();

  void add(const TraceEvent& event);
  void add(const TraceTransfer& transfer);

  /// unmatched  number of unmatched halves, as TransferMatcher counts them
  TraceStatistics finish(std::uint64_t unmatched) &&;

 private:
  struct Sums;
  std::unique_ptr<Sums> sums_;
};

/// Computes the statistics of a file. Memory grows with channels and collectives, not with events.
TraceStatistics statistics_of(const TraceFile& file);

}  // namespace ringside
