#include "tests/support/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace ringside::oracle {
namespace {

/// Removes members that a golden file has and we do not compute.
Json without(Json object, std::initializer_list<const char*> keys) {
  if (!object.is_object()) return object;  // from a release that has none
  for (const char* key : keys) object.erase(key);
  return object;
}

Json each_of_systems(const Json& golden, const char* key) {
  Json list = Json::array();
  for (const Json& system : golden.at("systems")) list.push_back(system.at(key));
  return list;
}

Json golden_searches(const Json& golden) {
  Json list = each_of_systems(golden, "search");
  for (Json& graphs : list) {
    for (Json& graph : graphs) graph = without(std::move(graph), {"id", "collNet"});
  }
  return list;
}

Json golden_merged(const Json& golden) {
  Json graphs = golden.at("merged");
  for (Json& graph : graphs) graph = without(std::move(graph), {"id", "collNet"});
  return graphs;
}

Json golden_counts(const Json& golden) {
  Json counts = golden.at("comm");
  for (const char* key : {"nRanks", "nNodes"}) counts[key] = golden.at(key);
  return counts;
}

Json golden_channels(const Json& golden) {
  Json json = Json::object();
  for (const char* key : {"rankToNode", "rings", "trees", "treeDepth"}) json[key] = golden.at(key);
  for (const char* key : {"nvls", "collnet"}) {
    const Json part = golden.value(key, Json());
    json[key] = part.is_null() ? part : without(part, {"nHeads"});  // the lists show the number
  }
  return json;
}

Json golden_choices(const Json& golden) {
  const Json& choices = golden.at("choices");
  const Json& columns = choices.at("columns");
  Json json = Json::object();
  for (const auto& [collective, rows] : choices.items()) {
    if (collective == "columns") continue;
    Json& list = json[collective] = Json::array();
    for (const Json& row : rows) {
      Json& named = list.emplace_back(Json::object());
      for (std::size_t i = 0; i < row.size(); ++i) named[columns.at(i).get<std::string>()] = row[i];
    }
  }
  return json;
}

/// The golden files have about seven digits.
bool is_near(double golden, double ours) {
  return std::abs(golden - ours) <= 1e-5 * std::max(std::abs(golden), 1e-3);
}

class Comparing {
 public:
  void values(const std::string& where, const Json& golden, const Json& ours, bool measure) {
    if (golden.is_object() && ours.is_object()) {
      std::set<std::string> keys;
      for (const Json* one : {&golden, &ours}) {
        for (const auto& [key, value] : one->items()) keys.insert(key);
      }
      for (const std::string& key : keys) {
        values(fmt::format("{} {}", where, key), golden.value(key, Json()), ours.value(key, Json()),
               measure || is_measure(key));
      }
    } else if (golden.is_array() && ours.is_array() && golden.size() == ours.size()) {
      for (std::size_t i = 0; i < golden.size(); ++i) {
        values(fmt::format("{}[{}]", where, i), golden[i], ours[i], measure);
      }
    } else {
      ++result.checked;
      const bool are_numbers = measure && golden.is_number() && ours.is_number();
      if (are_numbers ? is_near(golden.get<double>(), ours.get<double>()) : golden == ours) return;
      result.differences.push_back(
          fmt::format("{}: {}, ours {}", where, golden.dump(), ours.dump()));
    }
  }

  Comparison result;
};

}  // namespace

const char* to_string(Part part) {
  constexpr const char* kNames[] = {"systems",         "searches",   "merged graphs", "counts",
                                    "rings and trees", "cost table", "choices"};
  return kNames[static_cast<std::size_t>(part)];
}

Json golden_part(const Json& golden, Part part) {
  switch (part) {
    case Part::Systems:
      return each_of_systems(golden, "topo");
    case Part::Searches:
      return golden_searches(golden);
    case Part::Merged:
      return golden_merged(golden);
    case Part::Counts:
      return golden_counts(golden);
    case Part::Channels:
      return golden_channels(golden);
    case Part::Costs:
      return without(golden.at("tuning"), {"ranksWithDifferentTable", "protos"});
    case Part::Choices:
      return golden_choices(golden);
  }
  return {};
}

bool is_measure(const std::string& key) {
  static const std::set<std::string> kMeasures{"bw",      "maxBw",   "totalBw",      "latency",
                                               "bwIntra", "bwInter", "latencyInter", "minNetBw",
                                               "links",   "lat_bw",  "timeUs"};
  return kMeasures.contains(key);
}

Comparison compare(const Json& golden, const Json& ours) {
  Comparing comparing;
  comparing.values("", golden, ours, false);
  return std::move(comparing.result);
}

}  // namespace ringside::oracle
