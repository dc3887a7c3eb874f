#include "study/scenario/scenario_parts.h"

namespace ringside::study {

/// No signal ends this process, so none has to remove the folder for it.
Result<EvidenceFolder> EvidenceFolder::make(const std::string& named) {
  if (!named.empty()) return EvidenceFolder(named, {}, std::nullopt);
  RINGSIDE_TRY(TemporaryFolder temporary, TemporaryFolder::make("run"));
  return EvidenceFolder({}, {}, std::move(temporary));
}

}  // namespace ringside::study
