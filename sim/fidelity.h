#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/simulate.h"

namespace ringside {

/// How closely a simulation looks: one row of the table.
struct Fidelity {
  std::string_view name;
  std::string_view what;  ///< for people, in a line
  Result<SimResult> (*run)(const SimRequest& request);
  bool takes_steps = false;  ///< that a trace can hold
};

inline constexpr std::string_view kAutoFidelity = "auto";
inline constexpr std::string_view kModelFidelity = "model";

/// All fidelities, the closest to reality first; the one that chooses comes last.
std::span<const Fidelity> fidelities();

/// errors  InvalidArgument: no such name; the nearest is named
Result<const Fidelity*> parse_fidelity(std::string_view name);

/// What `auto` takes for a call, and why.
struct PickedFidelity {
  const Fidelity* fidelity = nullptr;
  std::string why;
};

/// Event where it takes a second or so, or a trace is asked for; else flow.
/// errors  as plan_channels()
Result<PickedFidelity> pick_fidelity(const SimRequest& request);

}  // namespace ringside
