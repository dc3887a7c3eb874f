#include "sim/surroundings.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/suggest.h"

namespace ringside {
namespace {

constexpr std::array<const char*, kNetKinds> kNets{"ib",      "roce",      "efa", "tcp",
                                                   "fastrak", "slingshot", "tcpx"};
constexpr std::array<const char*, kLaunchStyles> kLaunches{"process", "threads", "graph"};

/// Prefixes of device names.
constexpr std::array<std::pair<std::string_view, NetKind>, 15> kDevices{
    {{"mlx5", NetKind::InfiniBand},
     {"ibp", NetKind::InfiniBand},
     {"ib", NetKind::InfiniBand},
     {"rocep", NetKind::Roce},
     {"bnxt_re", NetKind::Roce},
     {"rdmap", NetKind::Efa},
     {"efa", NetKind::Efa},
     {"fastrak", NetKind::FasTrak},
     {"tcpx", NetKind::Tcpx},
     {"gpudirecttcpx", NetKind::Tcpx},
     {"cxi", NetKind::Slingshot},
     {"hsn", NetKind::Slingshot},
     {"eth", NetKind::Tcp},
     {"ens", NetKind::Tcp},
     {"eno", NetKind::Tcp}}};

template <typename Word>
Result<Word> parse(const char* what, std::string_view name, std::span<const char* const> known) {
  const auto found =
      std::ranges::find(known, name, [](const char* one) { return std::string_view(one); });
  if (found != known.end()) return static_cast<Word>(found - known.begin());
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown {} '{}'", what, name),
               suggestion(name, std::vector<std::string_view>(known.begin(), known.end()))};
}

}  // namespace

const char* to_string(NetKind kind) { return kNets[static_cast<std::size_t>(kind)]; }
const char* to_string(LaunchStyle style) { return kLaunches[static_cast<std::size_t>(style)]; }

Result<NetKind> parse_net_kind(std::string_view name) {
  return parse<NetKind>("network", name, kNets);
}
Result<LaunchStyle> parse_launch_style(std::string_view name) {
  return parse<LaunchStyle>("launch style", name, kLaunches);
}

NetKind likely_net(const Job& job) {
  if (job.systems.empty() || job.systems.front().nets.empty()) return NetKind::InfiniBand;
  const NetInfo& net = job.systems.front().nets.front();
  if (const auto given = parse_net_kind(net.link); given) return *given;
  const std::string_view name = net.name;
  const auto found =
      std::ranges::find_if(kDevices, [&](const auto& one) { return name.starts_with(one.first); });
  return found == kDevices.end() ? NetKind::InfiniBand : found->second;
}

Surroundings likely_surroundings(const Job& job) {
  return {.net = likely_net(job),
          .domain_spans_hosts = std::ranges::any_of(
              job.systems, [](const System& system) { return system.nhosts > 1; })};
}

}  // namespace ringside
