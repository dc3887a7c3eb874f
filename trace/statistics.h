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

/// The activity of one channel of one rank. Its primitives run one after the other.
struct ChannelStatistics {
  std::uint32_t communicator = 0;
  Rank rank{0};
  ChannelId channel{0};
  std::uint64_t primitives = 0;
  Bytes sent;           ///< by primitives that send, to each of their peers
  Nanoseconds busy{0};  ///< the sum of all primitives' durations, waiting included
  /// Of `busy`, the time in receives before the matching send had begun: the sender came late, the link
  /// is not the cause. Ranks behind the late one receive from a sender that has begun and waits itself:
  /// they show it as busy, so that waiting points at the first cause. Where a receive has several
  /// senders, the sum over those that came late, though it waits for them at the same time.
  Nanoseconds waiting{0};

  /// returns  sent / busy; 0 where nothing was sent or no time passed
  [[nodiscard]] BytesPerSecond achieved() const;
};

/// All calls of one collective that ran the same way.
struct CollectiveStatistics {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  bool is_modelled = false;  ///< at least one: copies replaced a switch or network that reduces
  std::uint64_t count = 0;   ///< collectives: distinct (communicator, sequence)
  std::uint64_t calls = 0;   ///< on all ranks together
  Bytes bytes;               ///< of all calls
  Nanoseconds total{0};      ///< of all calls
  Nanoseconds longest{0};    ///< call

  /// returns  per call; 0 without calls
  [[nodiscard]] Bytes mean_bytes() const;
  [[nodiscard]] Nanoseconds mean_time() const;
};

struct CommunicatorStatistics {
  std::uint32_t communicator = 0;
  std::uint64_t ranks = 0;  ///< that have recorded something
};

struct TraceStatistics {
  std::uint64_t primitives = 0;
  std::uint64_t collective_calls = 0;
  std::int64_t begin_ns = 0;    ///< the first beginning, on the file's clock; 0 without events
  std::int64_t end_ns = 0;      ///< the last end
  std::uint64_t ranks = 0;      ///< of the largest communicator
  std::uint64_t transfers = 0;  ///< sends with their receives
  std::uint64_t unmatched_halves = 0;                 ///< sends or receives without the other
  std::vector<CommunicatorStatistics> communicators;  ///< by id
  std::vector<ChannelStatistics> channels;            ///< by communicator, rank, channel
  std::vector<CollectiveStatistics> collectives;      ///< by collective, algorithm, protocol

  [[nodiscard]] Nanoseconds span() const { return Nanoseconds{end_ns - begin_ns}; }
};

/// Adds up what is known of a trace, event by event, for a reader that visits the events anyway.
class StatisticsBuilder {
 public:
  StatisticsBuilder();
  ~StatisticsBuilder();

  void add(const TraceEvent& event);
  void add(const TraceTransfer& transfer);

  /// unmatched  halves, as the matcher counts them
  TraceStatistics finish(std::uint64_t unmatched) &&;

 private:
  struct Sums;
  std::unique_ptr<Sums> sums_;
};

/// Reads all events once; memory grows with channels and collectives, not with events.
TraceStatistics statistics_of(const TraceFile& file);

}  // namespace ringside
