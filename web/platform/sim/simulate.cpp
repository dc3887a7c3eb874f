#include "sim/simulate.h"

#include "web/platform/absent.h"

namespace ringside {

Result<SimResult> simulate(const SimRequest& /*request*/) {
  return not_in_browser("--fidelity chunk", "it starts the program that simulates by SimGrid");
}

}  // namespace ringside
