#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/json_answer.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

using nlohmann::json;

json topo(const std::vector<std::string>& words) { return json_answer("topo", words); }

std::string snake_case(const std::string& camel) {
  std::string snake;
  for (std::size_t i = 0; i < camel.size(); ++i) {
    const auto c = static_cast<unsigned char>(camel[i]);
    if (std::isupper(c) && i > 0 && std::islower(static_cast<unsigned char>(camel[i - 1]))) {
      snake += '_';
    }
    snake += static_cast<char>(std::tolower(c));
  }
  return snake;
}

/// The golden document's keys in our spelling, all the way down.
json in_our_words(const json& golden) {
  if (golden.is_array()) {
    json list = json::array();
    for (const json& item : golden) list.push_back(in_our_words(item));
    return list;
  }
  if (!golden.is_object()) return golden;
  json object = json::object();
  for (const auto& [key, value] : golden.items()) {
    std::string ours = snake_case(key);
    if (ours == "n_channels" || ours == "n_hops" || ours == "n_hosts" || ours == "n_heads") {
      ours.erase(1, 1);
    }
    if (ours == "coll_net") ours = "collnet";
    object[ours] = in_our_words(value);
  }
  return object;
}

/// Wherever the golden document has a value, ours has the same; numbers may differ in the last digit
/// of single precision, which the two print differently.
void expect_within(const json& golden, const json& ours, const std::string& where) {
  if (golden.is_object()) {
    for (const auto& [key, value] : golden.items()) {
      ASSERT_TRUE(ours.contains(key)) << where << "." << key;
      expect_within(value, ours[key], where + "." + key);
    }
  } else if (golden.is_array()) {
    ASSERT_EQ(golden.size(), ours.size()) << where;
    for (std::size_t i = 0; i < golden.size(); ++i) {
      expect_within(golden[i], ours[i], where + "[" + std::to_string(i) + "]");
    }
  } else if (golden.is_number()) {
    const double value = golden.get<double>();
    EXPECT_NEAR(value, ours.get<double>(), 1e-5 * std::abs(value)) << where;
  } else {
    EXPECT_EQ(golden, ours) << where;
  }
}

TEST(TopoGolden, TheJsonEqualsTheGoldenData) {
  for (const auto& [name, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"dgx-h100-2nodes", {"--on", "dgx-h100", "--nodes", "2"}},
           {"dgx-1v-1nodes", {"--on", "dgx-1v"}},
           {"dgx-a100-4nodes", {"--on", "dgx-a100", "--nodes", "4"}},
           {"gb300-2tray-2nodes", {"--on", "gb300-nvl72", "--nodes", "4", "--nvl-domain", "2"}}}) {
    SCOPED_TRACE(name);
    const json golden = json::parse(oracle::load_golden(name).dump());
    std::vector<std::string> asked = words;
    asked.insert(asked.end(), {"--nccl", "2.30"});
    const json ours = topo(asked);
    EXPECT_EQ(ours["schema"], "ringside.topo/1");
    EXPECT_EQ(ours["nranks"], golden["nRanks"]);
    EXPECT_EQ(ours["rank_to_node"], golden["rankToNode"]);
    for (const char* key : {"rings", "trees"}) EXPECT_EQ(ours[key], golden[key]) << key;
    EXPECT_EQ(ours["nchannels"], golden["comm"]["nChannels"]);
    EXPECT_EQ(ours["nvls_channels"], golden["comm"]["nvlsChannels"]);
    EXPECT_EQ(ours["p2p_channels"], golden["comm"]["p2pnChannels"]);
    EXPECT_EQ(ours["p2p_channels_per_peer"], golden["comm"]["p2pnChannelsPerPeer"]);
    if (golden.contains("nvls")) {
      EXPECT_EQ(ours["nvls"]["heads"], golden["nvls"]["heads"]);
    }
    for (std::size_t i = 0; i < golden["systems"].size(); ++i) {
      const json& node = golden["systems"][i];
      expect_within(in_our_words(node["topo"]), ours["system"][i], "system");
      expect_within(in_our_words(node["search"]), ours["graphs"]["search"][i], "search");
    }
    expect_within(in_our_words(golden["merged"]), ours["graphs"]["merged"], "merged");
  }
}

}  // namespace
}  // namespace ringside
