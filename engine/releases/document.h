#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/releases/releases.h"

namespace ringside {

/// All settings of a release: its file, overlaid on those of the releases that it is based on.
struct ReleaseDocument {
  YAML::Node root;
  std::string where;  ///< "nccl-2.27"; for messages
};

/// version  "2.30", or "2.30.7" up to the newest described patch. A patch that decides differently from later ones has
///          its own file; the others equal the next described one
/// errors   NotFound: the version is not described; the error names the known ones.  Corrupt: not YAML
Result<ReleaseDocument> load_release(std::string_view version);

}  // namespace ringside
