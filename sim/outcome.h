#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/simulate.h"

/// Request checks and error texts that all fidelities share.
namespace ringside {

/// Checks that a request can be simulated.
/// errors  InvalidArgument: slots_per_chunk is not in 1 .. kSlots; rings over other ranks than the network's; an exchange
///         of more ranks than can be simulated (all-to-all: 4096, others: 32768). More than kMaxSlotsPerChunk slots are
///         accepted, although only one chunk then fits a connection: simulate() reports the deadlock, if there is one
Status check_request(const SimRequest& request);

/// Returns the error InvalidArgument: two ranks exchange messages, but no route joins them.
Error no_route_between(Rank from, Rank to);
/// Returns the error InvalidArgument: no route joins the sender to a switch that reduces.
Error no_route_through_switch(Rank sender);

/// Returns a text such as `rank 0 channel 0 step 1 waits for a chunk from rank 3`.
std::string waits_text(int rank, int channel, std::uint32_t step, bool receives, int peer);
/// Returns the text about a received chunk that is not the expected one (`due_...`), for steps_do_not_fit().
std::string mismatch_text(int rank, int channel, std::uint32_t step, std::int64_t due_chunk,
                          std::int64_t due_piece, std::int64_t chunk, std::int64_t piece);
/// Returns the text about chunks that wait in a connection at the end, for steps_do_not_fit().
std::string unreceived_text(std::int64_t chunks, Rank sender);

/// Returns the error of a deadlock, Timeout.  waits  texts of all waiting ranks; the message quotes the
/// first few
Error stuck_at(Seconds time, const std::vector<std::string>& waits);
/// Returns the error Corrupt: the recorded programs of the ranks contradict each other.  what  how, as text
Error steps_do_not_fit(Collective collective, const std::string& what);

/// Finds the links that need the longest time for their bytes: among all links, and among a
/// fabric's links.
class BusiestLink {
 public:
  explicit BusiestLink(const SimNetwork& network) : network_(network) {}

  /// needs  time that the link needs for all its bytes; each link is noted once
  void note(int link, Seconds needs);
  /// Sets the busiest links in the result.
  void write_to(SimResult& result) const;

 private:
  const SimNetwork& network_;
  int link_ = -1, fabric_link_ = -1;
  Seconds busiest_{}, in_fabric_{};
};

/// Checks that the busiest link can carry its bytes in the result's time.
/// errors  Corrupt: it cannot, which is a bug of the simulator; the result must be discarded
Status check_against_links(const SimRequest& request, const SimResult& result);

/// Sets the busiest links and the loads in the result.
void set_loads(const SimNetwork& network, LoadSums sums, SimResult& result);

}  // namespace ringside
