#include "cli/topo/fabric_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "base/wording.h"
#include "study/explain/fabric_rounding.h"

namespace ringside::cli {
namespace {

using study::AskedFabric;

std::string with_commas(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

/// Returns the oversubscription that the file requests, if whole numbers of links do not give it.
std::string asked_text(const Fabric& fabric, std::size_t tier) {
  const std::optional<double> asked = study::asked_instead(fabric, tier);
  return asked ? fmt::format(" ({} asked)", study::ratio_text(*asked)) : "";
}

std::string hosts_of(const AskedFabric& asked) {
  std::string text;
  for (const HostRun& run : asked.cluster.kinds) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", run.host.name, run.count);
  }
  return text;
}

/// Returns the nodes of a job, as ranges if they ascend. Otherwise their order is part of the placement. Long texts are
/// cut at a comma.
std::string nodes_of(const std::vector<int>& nodes) {
  constexpr std::size_t kMost = 60;
  std::string text;
  if (std::ranges::is_sorted(nodes)) {
    text = format_ranks(nodes);
  } else {
    text = fmt::format("{}", fmt::join(nodes, ","));
  }
  if (text.size() <= kMost) return text;
  const std::size_t comma = text.rfind(',', kMost);
  return text.substr(0, comma == std::string::npos ? kMost : comma) + ",...";
}

const char* name_of(Placement::Kind kind) {
  switch (kind) {
    case Placement::Kind::Packed:
      return "packed";
    case Placement::Kind::Scattered:
      return "scattered";
    case Placement::Kind::Listed:
      break;
  }
  return "listed";
}

std::string routing_of(const FabricSettings& settings) {
  if (settings.kind == FabricKind::Torus) return "dimension by dimension";
  if (settings.kind == FabricKind::Platform) return "routes as SimGrid finds them";
  return settings.routing == Routing::Adaptive
             ? "adaptive routing"
             : fmt::format("static routing, seed {}", settings.seed);
}

}  // namespace

std::string gbits(BytesPerSecond rate) { return fmt::format("{:g} Gbit/s", rate.value * 8 / 1e9); }

std::string fabric_text(const AskedFabric& asked) {
  const Fabric& fabric = *asked.fabric;
  const FabricSettings& settings = fabric.settings();
  const FabricShape shape = fabric.shape();
  std::string text =
      fmt::format("fabric of {}: {}", asked.cluster.file.name, to_string(settings.kind));
  if (settings.rails != Rails::None) text += fmt::format(", rails {}", to_string(settings.rails));
  text += fmt::format(", {}\n\n", routing_of(settings));
  for (const std::string& part : shape.parts) text += fmt::format("  {}\n", part);
  if (!shape.parts.empty()) text += "\n";
  // From the top down, for each level: its cables to the level above (`|`), or among the switches of the top level
  // (`=`), then its switches.
  for (std::size_t i = shape.parts.empty() ? shape.levels.size() : 0; i-- > 0;) {
    const FabricLevel& level = shape.levels[i];
    if (i + 1 < shape.levels.size() || shape.tiers.size() > shape.levels.size()) {
      const FabricTier& tier = shape.tiers[i + 1];
      const bool is_lateral = i + 1 == shape.levels.size();  // cables among these switches
      text += fmt::format(
          "  {} {:<6}   {}: {} of {}, {}{}\n", is_lateral ? "=" : "|", "", tier.name,
          with_commas(tier.cables) + (tier.cables == 1 ? " cable" : " cables"), gbits(tier.rate),
          study::ratio_text(tier.oversubscription), asked_text(fabric, i + 1));
    }
    text +=
        fmt::format("  {:<6}     {} x {}\n", level.name, with_commas(level.switches), level.holds);
  }
  const FabricTier& nics = shape.tiers.front();
  text += fmt::format("  | {:<6}   {}: {} cables of {}\n", "", nics.name, with_commas(nics.cables),
                      gbits(nics.rate));
  text += fmt::format("  {:<6}     {}\n\n", "host", hosts_of(asked));
  text += fmt::format("bisection: {}, what one half of the hosts can send to the other at once\n",
                      format_bandwidth(shape.bisection));
  if (settings.hop_latency.count() > 0) {
    text += fmt::format("latency: {} a switch beyond {}\n", format_time(settings.hop_latency),
                        Fabric::kSwitchesInStep);
  }
  for (const LinkRule& rule : settings.rules) {
    text += rule.share == 0 ? fmt::format("down: {}\n", rule.text)
                            : fmt::format("{:g} % left: {}\n", 100 * rule.share, rule.text);
  }
  text += fmt::format("placement: {}, {} {} of {}\n", name_of(asked.cluster.file.placement.kind),
                      asked.nodes.size() == 1 ? "node" : "nodes", nodes_of(asked.nodes),
                      asked.cluster.nnodes());
  return text;
}

Json fabric_document(const AskedFabric& asked) {
  const Fabric& fabric = *asked.fabric;
  const FabricSettings& settings = fabric.settings();
  const FabricShape shape = fabric.shape();
  Json levels = Json::array(), tiers = Json::array(), rules = Json::array();
  for (const FabricLevel& level : shape.levels) {
    levels.push_back({{"name", level.name}, {"switches", level.switches}, {"holds", level.holds}});
  }
  for (const FabricTier& tier : shape.tiers) {
    tiers.push_back({{"name", tier.name},
                     {"cables", tier.cables},
                     {"rate_gbs", in_gbs(tier.rate)},
                     {"oversubscription", tier.oversubscription}});
  }
  for (const LinkRule& rule : settings.rules) {
    rules.push_back({{"link", rule.text}, {"share", rule.share}});
  }
  return {{"cluster", asked.cluster.file.name},
          {"kind", to_string(settings.kind)},
          {"rails", to_string(settings.rails)},
          {"routing", to_string(settings.routing)},
          {"seed", settings.seed},
          {"hosts", shape.hosts},
          {"levels", std::move(levels)},
          {"tiers", std::move(tiers)},
          {"parts", shape.parts},
          {"bisection_gbs", in_gbs(shape.bisection)},
          {"hop_latency_us", in_us(settings.hop_latency)},
          {"core_latency_us", in_us(settings.core_latency)},
          {"rules", std::move(rules)},
          {"placement", name_of(asked.cluster.file.placement.kind)},
          {"nodes", asked.nodes}};
}

}  // namespace ringside::cli
