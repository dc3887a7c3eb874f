#pragma once

#include <cstdint>

#include "base/result.h"
#include "sim/fabric/settings.h"

/// The counts of a fabric of leaf switches. Private to this folder.
namespace ringside {

/// What joins the pods: nothing, core switches, or cables between each two groups (dragonfly+).
enum class ClosTop : std::uint8_t { None, Cores, Pairs };

/// The counts of the fabric, from which all numbers of switches and links are computed.
struct ClosPlan {
  ClosTop top = ClosTop::None;
  bool has_spines = false;
  int hosts = 0, nics = 0;  ///< nics: of the host with the most NICs
  int hosts_per_leaf = 1;
  int groups = 1;  ///< of hosts that share leaves
  int rails = 1;   ///< leaves of a group in one plane
  int planes = 1;
  int groups_per_pod = 1;
  int pods = 1;
  int ups = 0;     ///< links from a leaf upwards
  int spines = 0;  ///< spines of a pod in a plane
  int tops = 0;    ///< links from a spine upwards; with pairs: cables from one group to another
  int nics_of_leaf = 0;
  BytesPerSecond nic, up, core;  ///< rate of a link below a leaf, below a spine, above a spine

  [[nodiscard]] int leaves() const { return planes * groups * rails; }
  [[nodiscard]] int leaves_of_pod() const { return groups_per_pod * rails; }
  /// Returns the number of links from a leaf to one of its spines.
  [[nodiscard]] int ups_to(int spine) const { return (ups - spine + spines - 1) / spines; }
  [[nodiscard]] std::int64_t ordered_pairs() const {
    return static_cast<std::int64_t>(planes) * pods * (pods - 1);
  }
  /// Returns the number of links above the spines, in both directions.
  [[nodiscard]] std::int64_t top_links() const {
    if (top == ClosTop::Pairs) return ordered_pairs() * tops;
    return 2LL * planes * pods * spines * tops;
  }
  [[nodiscard]] std::int64_t all_links() const {
    return 2LL * hosts * nics + 2LL * leaves() * ups + top_links();
  }
  /// Returns the number of sets of links that adaptive routing uses as one.
  [[nodiscard]] std::int64_t trunks() const {
    return 2LL * leaves() + (top == ClosTop::Pairs ? ordered_pairs() : 2LL * planes * pods);
  }
};

/// Computes the counts for hosts with up to `nics` NICs, the fastest of which has the rate `nic`.
/// errors  Corrupt: inconsistent counts; too many switches or links
Result<ClosPlan> plan_clos(const FabricSettings& asked, int hosts, int nics, BytesPerSecond nic);

}  // namespace ringside
