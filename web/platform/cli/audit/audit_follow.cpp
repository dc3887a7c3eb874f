#include "cli/audit/audit_follow.h"

#include "web/platform/absent.h"

namespace ringside::cli {

Result<audit::Audit> follow_logs(const std::vector<std::string>& /*logs*/, std::FILE* /*out*/,
                                 Clock& /*clock*/) {
  return not_in_browser("--follow", "it waits for files that grow");
}

}  // namespace ringside::cli
