#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "engine/topology/paths/system.h"
#include "engine/topology/sources/nccl_xml.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

/// Returns all properties of each link, in an order that gtest can compare.
std::vector<std::tuple<NodeKind, int, NodeKind, int, LinkKind, float>> links_of(
    const System& system) {
  std::vector<std::tuple<NodeKind, int, NodeKind, int, LinkKind, float>> links;
  for (const Link& link : system.links) {
    links.emplace_back(link.from.kind, link.from.index, link.to.kind, link.to.index, link.kind,
                       link.bandwidth);
  }
  return links;
}

TEST(NcclXmlGolden, EveryHostPrintsAsXmlThatReadsBackTheSame) {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(oracle::topology_path(""))) {
    if (entry.path().extension() != ".xml") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto host = load_nccl_xml(entry.path().string());
    ASSERT_TRUE(host) << host.error().message;
    const std::string printed = to_nccl_xml(*host);
    const auto again = parse_nccl_xml(printed, "printed");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_nccl_xml(*again), printed);
    const int nranks = 2 * static_cast<int>(gpus_of(*host).size());
    const Host* const ours[] = {&*again};
    const Host* const theirs[] = {&*host};
    const auto mine = make_systems({.hosts = ours, .first_rank = 0, .nranks = nranks}, {});
    const auto given = make_systems({.hosts = theirs, .first_rank = 0, .nranks = nranks}, {});
    ASSERT_TRUE(mine && given);
    ASSERT_EQ(mine->size(), given->size());
    for (std::size_t i = 0; i < given->size(); ++i) {
      EXPECT_TRUE(links_of((*mine)[i]) == links_of((*given)[i]));
    }
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace ringside
