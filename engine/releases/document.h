#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/releases/releases.h"

namespace ringside {

/// All that is known of a release: its file over those of the releases that it is based on.
struct ReleaseDocument {
  YAML::Node root;
  std::string where;  ///< "nccl-2.27"; for messages
};

/// version  "2.30", or "2.30.7" up to the newest patch release that is described. A patch that decides
///          otherwise than those after it has a file of its own; the others are as the next described one
/// errors   NotFound: a version that is not described; the known ones are named. Corrupt: no YAML
Result<ReleaseDocument> load_release(std::string_view version);

}  // namespace ringside
