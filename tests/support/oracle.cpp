#include "tests/support/oracle.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/env.h"

namespace ringside::oracle {

std::optional<std::string> folder() {
  const std::string shared = env_text("RINGSIDE_SHARED").value_or(RINGSIDE_DEFAULT_SHARED);
  const std::string oracle = shared + "/oracle";
  if (!std::filesystem::is_directory(oracle + "/golden")) return std::nullopt;
  return oracle;
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  if (const auto oracle = folder()) {
    for (const auto& entry : std::filesystem::directory_iterator(*oracle + "/golden")) {
      if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Json load_golden(const std::string& name) {
  const std::string path = folder().value() + "/golden/" + name + ".json";
  std::ifstream file{path};
  if (!file) throw std::runtime_error("cannot read " + path);
  return Json::parse(file);
}

std::string topology_path(const std::string& xml) {
  return folder().value() + "/topologies/" + xml;
}

}  // namespace ringside::oracle
