#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

/// NCCL's own answers on many node types; the format is in the README beside them.
namespace ringside::oracle {

/// The folder of golden data; nothing where this checkout has none beside it.
std::optional<std::string> folder();

/// "dgx-h100-2nodes", ... sorted; empty without the folder.
std::vector<std::string> golden_names();

/// golden/<name>.json; the test fails (throws) where it cannot be read.
Json load_golden(const std::string& name);

/// The path of topologies/<xml>, of a "hosts" entry.
std::string topology_path(const std::string& xml);

}  // namespace ringside::oracle

/// Opens a test that compares with the golden data.
#define RINGSIDE_SKIP_WITHOUT_ORACLE() \
  if (!ringside::oracle::folder())     \
  GTEST_SKIP() << "no golden data: set RINGSIDE_SHARED to the folder that holds oracle/"
