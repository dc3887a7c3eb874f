#include <cstdint>
#include <string>

#include "base/assert.h"
#include "sim/fabric/cluster_file.h"
#include "sim/fabric/kinds.h"

/// Feeds a cluster file from a stranger: it is refused with the place of the error and the fix, or read as a fabric
/// whose paths consist of its links.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const auto check = [](const Error& error) {
    RINGSIDE_ASSERT(error.message.starts_with("c.yaml"), "an error without its place: {}",
                    error.message);
    RINGSIDE_ASSERT(!error.help.empty(), "no fix: {}", error.message);
  };
  const std::string text(data, data + size);
  static_cast<void>(is_cluster_text(text));
  auto file = parse_cluster(text, "c.yaml");
  if (!file) {
    check(file.error());
    return 0;
  }
  std::vector<FabricHosts> hosts;
  for (const ClusterFile::Nodes& nodes : file->nodes) {
    hosts.push_back({.count = nodes.count, .nics = {{50e9}, {25e9}}});
  }
  const auto fabric = make_fabric(file->fabric, std::move(hosts));
  if (!fabric) {
    check(fabric.error());
    return 0;
  }
  const Fabric& made = **fabric;
  const int last = made.nhosts() - 1;
  RINGSIDE_ASSERT(made.shape().bisection.value >= 0, "bisection {}", made.shape().bisection.value);
  for (std::uint64_t flow = 0; flow < 4; ++flow) {
    for (const FabricPort to : {FabricPort{last, 0}, FabricPort{last / 2, 1}, FabricPort{0, 1}}) {
      const FabricRoute route = made.route({0, 0}, to, flow);
      for (const int link : route.links) {
        RINGSIDE_ASSERT(made.link(link).rate.value > 0, "a way over {}", made.link(link).name);
      }
    }
  }
  if (const auto placed = place_nodes(file->placement, made.nhosts(), 1)) {
    RINGSIDE_ASSERT(placed->front() >= 0 && placed->front() <= last, "node {}", placed->front());
  } else {
    RINGSIDE_ASSERT(!placed.error().help.empty(), "no fix: {}", placed.error().message);
  }
  return 0;
}
