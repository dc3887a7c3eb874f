#include "cli/hang/hang_live.h"

#include "web/platform/absent.h"

namespace ringside::cli {

Result<std::unique_ptr<hang::Examination>> examine_live(std::uint16_t /*port*/) {
  return not_in_browser("--live", "it connects to a running job");
}

}  // namespace ringside::cli
