#include "tests/support/oracle.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/shared.h"

namespace ringside::oracle {
namespace {

std::string folder() { return shared_folder() + "/oracle"; }

}  // namespace

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/golden")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Json load_golden(const std::string& name) {
  const std::string path = folder() + "/golden/" + name + ".json";
  std::ifstream file{path};
  if (!file) throw std::runtime_error("cannot read " + path);
  return Json::parse(file);
}

std::string topology_path(const std::string& xml) { return folder() + "/topologies/" + xml; }

}  // namespace ringside::oracle
