#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "study/simulation.h"
#include "trace/replay/critical_path.h"

/// Analyses where the time of a simulated call goes: the load of links over time, and the critical
/// path.
namespace ringside::study {

/// Links of one kind, represented by the busiest of them.
struct LinkUsage {
  std::string kind;  ///< common name without numbers: "node *: GPU * -> NVSwitch"
  SimLink busiest;
  std::int64_t links = 0;  ///< number of links that carried bytes
  /// Bytes on the busiest link: the payload divided by the share of the rate that carries payload.
  double bytes = 0;
  /// Time that the busiest link needs for its bytes, divided by the call's time: 0 .. 1.
  double share = 0;
  double mean_share = 0;  ///< mean of that share over all links
  /// Used share of the busiest link's rate in each span: 0 .. 1; empty: unknown.
  std::vector<double> over_time = {};
};

/// One leg of the critical path.
struct ProfileLeg {
  Seconds begin{}, end{};
  int rank = 0;
  int channel = 0;
  std::uint32_t step = 0;
  Primitive primitive = Primitive::Copy;
  PathCause cause = PathCause::Begin;
  int peer = -1;
  std::string crossing = {};  ///< link that delayed the chunk; empty: none
  Seconds carried{};          ///< part of the leg until the chunk had crossed that link
};

/// The total time of one term.
struct TimeTerm {
  /// "bandwidth of node *: GPU * -> NVSwitch", "latency of steps over the network", "launch"
  std::string what;
  Seconds time{};
};

/// A part of the critical path with one term.
struct Stretch {
  Seconds begin{}, end{};
  std::string what;
};

/// A part of the call in which one term takes most of the critical path.
struct Phase {
  Seconds begin{}, end{};
  std::string what;
  double share = 0;  ///< share of the term in this part: 0 .. 1
};

/// Where the time of one simulated call goes.
struct Profile {
  SimRow row;
  std::vector<LinkUsage> links;    ///< the busiest first
  Seconds span{};                  ///< length of one entry of LinkUsage::over_time
  std::vector<ProfileLeg> path;    ///< in time order
  std::string no_path;             ///< reason why `path` is empty; empty if it is not
  std::vector<Stretch> stretches;  ///< of the path, in time order
  /// Sums over the stretches, the longest first; they add up to the call's time.
  std::vector<TimeTerm> terms;
  std::vector<Phase> phases;  ///< in time order
};

/// Simulates the call once, with the load of links, and with each step if there are few enough to keep; then the row has
/// SimRow::path_limit, too.
/// errors  as simulate_call()
Result<Profile> profile_call(const SimPlan& plan, const SimCall& call,
                             const std::function<void(double)>& progress = {});

/// Returns a link's name without its numbers: "node *: GPU * -> NVSwitch".
std::string link_kind(const std::string& name);

}  // namespace ringside::study
