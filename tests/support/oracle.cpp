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

std::string answers(const std::string& release) {
  return folder() + (release.empty() ? "/golden" : "/versions/" + release);
}

}  // namespace

std::vector<std::string> golden_releases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/versions")) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> golden_names(const std::string& release) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(answers(release))) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Json load_golden(const std::string& name, const std::string& release) {
  const std::string path = answers(release) + "/" + name + ".json";
  std::ifstream file{path};
  if (!file) throw std::runtime_error("cannot read " + path);
  return Json::parse(file);
}

std::string topology_path(const std::string& xml) { return folder() + "/topologies/" + xml; }

}  // namespace ringside::oracle
