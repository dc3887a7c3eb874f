#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/simulate.h"

namespace ringside {

/// One row of the table of fidelities: how detailed a simulation is.
struct Fidelity {
  std::string_view name;
  std::string_view what;  ///< one line for help texts
  Result<SimResult> (*run)(const SimRequest& request);
  bool takes_steps = false;  ///< a trace can contain its steps
};

inline constexpr std::string_view kAutoFidelity = "auto";
inline constexpr std::string_view kModelFidelity = "model";

/// Returns all fidelities, the most detailed first. The automatic choice comes last.
std::span<const Fidelity> fidelities();

/// errors  InvalidArgument: unknown name; the message suggests the nearest one
Result<const Fidelity*> parse_fidelity(std::string_view name);

/// The fidelity that `auto` chooses for a call, and the reason.
struct PickedFidelity {
  const Fidelity* fidelity = nullptr;
  std::string why;
};

/// Chooses `event` if it takes about a second or if a trace is requested, else `flow`.
/// errors  as plan_channels()
Result<PickedFidelity> pick_fidelity(const SimRequest& request);

}  // namespace ringside
