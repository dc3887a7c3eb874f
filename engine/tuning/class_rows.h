#pragma once

#include "engine/releases/yaml_keys.h"
#include "engine/tuning/model.h"

namespace ringside {

/// Reads a table with one row for each GPU class.
/// errors  Corrupt: a class is missing, or another key is present
template <typename Row>
Status read_classes(YamlKeys keys, std::array<Row, kGpuClasses>& table) {
  constexpr const char* kNames[] = {"volta", "ampere", "hopper", "blackwell"};
  for (std::size_t i = 0; i < kGpuClasses; ++i) keys.read(kNames[i], table[i]);
  return keys.finish();
}

}  // namespace ringside
