#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace ringside {
namespace {

struct Constant {
  std::string path;
  std::map<std::string, std::string> columns;
  [[nodiscard]] double number(const std::string& name) const { return std::stod(columns.at(name)); }
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<Constant> read_constants() {
  std::ifstream file(std::string(RINGSIDE_SOURCE) + "/sim/models/constants.csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<Constant> all;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cells_of(line);
    Constant one{cells.at(0), {}};
    for (std::size_t i = 0; i < names.size(); ++i) one.columns[names[i]] = cells.at(i);
    all.push_back(std::move(one));
  }
  return all;
}

/// nvlink.step.ll is the first value of the list `step` in `nvlink`; for a+b, that of a.
double number_at(const YAML::Node& document, const std::string& path) {
  const std::map<std::string, std::size_t> places{{"ll", 0}, {"ll128", 1}, {"simple", 2}};
  YAML::Node at = YAML::Clone(document);
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    part = part.substr(0, part.find('+'));
    at.reset(at.IsSequence() ? at[places.at(part)] : at[part]);
  }
  return at.as<double>();
}

// Each fitted constant equals the built-in one, lies within physical limits where few systems measure it, and names
// its source.
TEST(Constants, AreThoseThatShipAndStayNearTheirPriorsWhereFewSystemsMeasureThem) {
  const YAML::Node model =
      YAML::LoadFile(std::string(RINGSIDE_SOURCE) + "/sim/models/measured.yaml");
  const std::vector<Constant> all = read_constants();
  ASSERT_GT(all.size(), 50U);
  constexpr int kFew = 3;
  for (const Constant& one : all) {
    const double value = one.number("value");
    EXPECT_NEAR(number_at(model, one.path), value, 1e-3 * value) << one.path;
    EXPECT_LT(one.number("low"), one.number("high")) << one.path;
    EXPECT_FALSE(one.columns.at("source").empty()) << one.path;
    EXPECT_FALSE(one.columns.at("what").empty()) << one.path;
    std::istringstream systems(one.columns.at("systems"));
    if (std::distance(std::istream_iterator<std::string>(systems), {}) >= kFew) continue;
    EXPECT_GE(value, one.number("low") * 0.999) << one.path;
    EXPECT_LE(value, one.number("high") * 1.001) << one.path;
  }
}

}  // namespace
}  // namespace ringside
