#include "cli/hang/hang_watch.h"

#include "web/platform/absent.h"

namespace ringside::cli {

Result<std::unique_ptr<hang::Examination>> watch_for_hang(const std::string& /*folder*/,
                                                          Seconds /*longest*/, Clock& /*clock*/) {
  return not_in_browser("--watch", "it waits for files that grow");
}

}  // namespace ringside::cli
