#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "study/simulation.h"
#include "trace/replay/critical_path.h"

/// Where the time of a simulated call goes: which links are busy when, and which chain of steps is the longest.
namespace ringside::study {

/// Links of one sort, represented by the one that is busy longest.
struct LinkUsage {
  std::string kind;  ///< their names without numbers: "node *: GPU * -> NVSwitch"
  SimLink busiest;
  std::int64_t links = 0;  ///< that carried something
  double bytes =
      0;  ///< of the busiest, on the wire: the payload over the share of the rate that carries it
  double share = 0;       ///< of the time, the part that its bytes need: 0 .. 1
  double mean_share = 0;  ///< of them all
  std::vector<double> over_time =
      {};  ///< of its rate, the part used in each span: 0 .. 1; empty: unknown
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
  std::string crossing = {};  ///< the link that delayed the chunk; empty: none
  Seconds carried{};          ///< of the leg, until the chunk had crossed it
};

/// The time of one term.
struct TimeTerm {
  std::string
      what;  ///< "bandwidth of node *: GPU * -> NVSwitch", "latency over the network", "launch"
  Seconds time{};
};

/// A stretch of the critical path in one term.
struct Stretch {
  Seconds begin{}, end{};
  std::string what;
};

/// A part of the call in which one term takes most of the critical path.
struct Phase {
  Seconds begin{}, end{};
  std::string what;
  double share = 0;  ///< of that part: 0 .. 1
};

struct Profile {
  SimRow row;
  std::vector<LinkUsage> links;    ///< the busiest first
  Seconds span{};                  ///< of one entry of LinkUsage::over_time
  std::vector<ProfileLeg> path;    ///< in the order of time
  std::string no_path;             ///< why there is none; empty: there is
  std::vector<Stretch> stretches;  ///< of the path, in the order of time
  std::vector<TimeTerm> terms;     ///< their sums, the longest first: together the call's time
  std::vector<Phase> phases;       ///< in the order of time
};

/// Simulates the call once: the load of links, and each step if there are few enough to be kept.
///
/// errors  as simulate_call()
Result<Profile> profile_call(const SimPlan& plan, const SimCall& call,
                             const std::function<void(double)>& progress = {});

/// "node *: GPU * -> NVSwitch": a link's name without its numbers.
std::string link_kind(const std::string& name);

}  // namespace ringside::study
