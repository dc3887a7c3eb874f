#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string_view>

#include "base/fd.h"
#include "sim/fabric/platform.h"

namespace ringside {
namespace {

/// The links that a message crosses between two hosts.
struct Way {
  std::vector<std::string> links;
  double latency = 0;
  double rate = 0;
};
using Ways = std::map<std::pair<std::string, std::string>, Way>;

/// Prints the routes that SimGrid reads from the file. SimGrid has one engine per process.
void print_simgrids_ways(const std::string& path, const std::string& into) {
  char name[] = "ringside_test";
  char level[] = "--log=root.thres:critical";
  char* arguments[] = {name, level, nullptr};
  int count = 2;
  simgrid::s4u::Engine engine(&count, arguments);
  engine.load_platform(path);
  engine.seal_platform();
  std::ofstream out(into);
  out.precision(17);
  for (const simgrid::s4u::Host* from : engine.get_all_hosts()) {
    for (const simgrid::s4u::Host* to : engine.get_all_hosts()) {
      if (from == to) continue;
      std::vector<simgrid::s4u::Link*> links;
      double latency = 0;
      from->route_to(to, links, &latency);
      double rate = 1e30;
      for (const simgrid::s4u::Link* link : links) rate = std::min(rate, link->get_bandwidth());
      out << from->get_cname() << ' ' << to->get_cname() << ' ' << latency << ' ' << rate;
      for (const simgrid::s4u::Link* link : links) out << ' ' << link->get_cname();
      out << '\n';
    }
  }
}

/// returns  nullopt if SimGrid dies of the file
std::optional<Ways> simgrids_ways(const std::string& path) {
  const std::string into = testing::TempDir() + "ways_" + std::to_string(getpid());
  const pid_t child = fork();
  if (child == 0) {
    print_simgrids_ways(path, into);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return std::nullopt;
  EXPECT_EQ(status, 0) << "SimGrid refuses " << path;
  Ways ways;
  std::ifstream lines(into);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string from, to;
    Way route;
    words >> from >> to >> route.latency >> route.rate;
    for (std::string link; words >> link;) route.links.push_back(link);
    ways[{from, to}] = route;
  }
  std::filesystem::remove(into);
  return ways;
}

Ways our_ways(const std::string& path) {
  const auto text = read_file(path);
  const auto platform = parse_platform(*text, path);
  EXPECT_TRUE(platform) << platform.error().message << ": " << platform.error().help;
  Ways ways;
  if (!platform) return ways;
  const int hosts = static_cast<int>(platform->hosts.size());
  for (int from = 0; from < hosts; ++from) {
    for (int to = 0; to < hosts; ++to) {
      const auto links = from == to ? std::nullopt : platform_route(*platform, from, to);
      if (!links) continue;
      Way route{.links = {}, .latency = 0, .rate = 1e30};
      for (const int id : *links) {
        const PlatformLink& link = platform->links[static_cast<std::size_t>(id)];
        if (std::ranges::find(route.links, link.name) != route.links.end()) continue;
        route.links.push_back(link.name);
        route.latency += link.latency.count();
        route.rate = std::min(route.rate, link.rate.value);
      }
      ways[{platform->hosts[static_cast<std::size_t>(from)].name,
            platform->hosts[static_cast<std::size_t>(to)].name}] = route;
    }
  }
  return ways;
}

class EachPlatform : public testing::TestWithParam<std::string> {};

// Names differ, what is behind them may not: links of ours and of SimGrid's correspond one to one. Star is a
// word that SimGrid 3.32's files do not know yet. Two chassis of a dragonfly have ways in 3.32 that omit a link, and
// below the top of a fat tree with several ports its choice of one is another.
TEST_P(EachPlatform, HasTheWaysThatSimGridFinds) {
  const std::string path =
      std::string(RINGSIDE_SOURCE) + "/tests/fabric/platforms/" + GetParam() + ".xml";
  const std::optional<Ways> found = simgrids_ways(path);
  if (!found && std::string_view(RINGSIDE_SIMGRID_VERSION).starts_with("4."))
    GTEST_SKIP() << "SimGrid 4.0 dies of a signal when it reads " << path;
  ASSERT_TRUE(found) << "SimGrid died of a signal";
  const Ways &theirs = *found, ours = our_ways(path);
  ASSERT_FALSE(theirs.empty());
  ASSERT_EQ(ours.size(), theirs.size());
  std::map<std::string, std::string> ours_of, theirs_of;
  for (const auto& [pair, their] : theirs) {
    const std::string what = pair.first + " to " + pair.second;
    ASSERT_TRUE(ours.contains(pair)) << what;
    const Way& our = ours.at(pair);
    ASSERT_NEAR(our.latency, their.latency, 1e-12) << what;
    ASSERT_NEAR(our.rate / their.rate, 1, 1e-12) << what;
    ASSERT_EQ(our.links.size(), their.links.size())
        << what << testing::PrintToString(our.links) << testing::PrintToString(their.links);
    for (std::size_t i = 0; i < our.links.size(); ++i) {
      const auto& [known, is_new] = ours_of.try_emplace(their.links[i], our.links[i]);
      ASSERT_EQ(known->second, our.links[i]) << what << ": " << their.links[i];
      const auto& [back, is_new_back] = theirs_of.try_emplace(our.links[i], their.links[i]);
      ASSERT_EQ(back->second, their.links[i]) << what << ": " << our.links[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Platforms, EachPlatform,
                         testing::Values("cabinets", "dijkstra", "dragonfly", "fat_tree_2",
                                         "fat_tree_3", "fat_tree_ports", "floyd", "full", "nested",
                                         "torus_2d", "torus_3d", "torus_small", "two_clusters"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace ringside
