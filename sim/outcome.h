#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/simulate.h"

/// The common checks and error texts of all fidelities.
namespace ringside {

/// errors  InvalidArgument: slots_per_chunk beyond the 8 slots, rings of other ranks than the network's, an exchange
///         among too many
Status check_request(const SimRequest& request);

Error no_way_between(Rank from, Rank to);
Error no_way_through_switch(Rank sender);

/// `rank 0 channel 0 step 1 waits for a chunk from rank 3`
std::string waits_text(int rank, int channel, std::uint32_t step, bool receives, int peer);
std::string mismatch_text(int rank, int channel, std::uint32_t step, std::int64_t due_chunk,
                          std::int64_t due_piece, std::int64_t chunk, std::int64_t piece);
std::string unreceived_text(std::int64_t chunks, Rank sender);

/// waits  of all that wait; the first few are quoted
Error stuck_at(Seconds time, const std::vector<std::string>& waits);
Error steps_do_not_fit(Collective collective, const std::string& what);

/// Finds the links that need longest for their bytes: among all, and among a fabric's.
class BusiestLink {
 public:
  explicit BusiestLink(const SimNetwork& network) : network_(network) {}

  void note(int link, Seconds needs);
  /// Sets the result's fields of the busiest links.
  void write_to(SimResult& result) const;

 private:
  const SimNetwork& network_;
  int link_ = -1, fabric_link_ = -1;
  Seconds busiest_{}, in_fabric_{};
};

/// Whether the busiest link can have carried its bytes in the result's time.
/// errors  Corrupt: it cannot, which is a bug of the simulator, and there is no result
Status check_against_links(const SimRequest& request, const SimResult& result);

/// Sets the result's busiest links, and its loads.
void set_loads(const SimNetwork& network, LoadSums sums, SimResult& result);

}  // namespace ringside
