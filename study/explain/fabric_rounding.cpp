#include "study/explain/fabric_rounding.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wording.h"
#include "sim/fabric/fabric_word.h"

namespace ringside::study {
namespace {

bool is_oversubscribed(const Fabric& fabric) {
  return std::ranges::any_of(fabric.shape().tiers,
                             [](const FabricTier& tier) { return tier.oversubscription > 1.01; });
}

/// Returns whether all routes between the hosts pass one switch: those to the same NIC, and those to another rail.
bool share_leaves(const Fabric& fabric, std::span<const int> hosts) {
  return std::ranges::all_of(hosts.subspan(1), [&](int host) {
    const FabricPort first{hosts.front(), 0};
    const int last = fabric.nics_of(host) - 1;
    return fabric.route(first, {host, 0}, 0).switches == 1 &&
           fabric.route(first, {host, last}, 0).switches == 1;
  });
}

}  // namespace

std::optional<double> asked_instead(const Fabric& fabric, std::size_t tier) {
  const FabricSettings& settings = fabric.settings();
  const bool has_ratio = settings.kind != FabricKind::Torus &&
                         settings.kind != FabricKind::Switch &&
                         settings.kind != FabricKind::Platform;
  if (!has_ratio || tier == 0) return {};
  const double is = fabric.shape().tiers[tier].oversubscription;
  const double wanted = tier == 1 ? settings.oversubscription : settings.spine_oversubscription;
  const bool is_close = is > 0.99 * wanted && is < 1.01 * wanted;
  return is_close ? std::nullopt : std::optional(wanted);
}

std::string ratio_text(double over) { return fmt::format("{:.3g}:1", over); }

std::string rounding_text(const Fabric& fabric) {
  const FabricShape shape = fabric.shape();
  std::string text;
  for (std::size_t tier = 1; tier < shape.tiers.size(); ++tier) {
    const std::optional<double> asked = asked_instead(fabric, tier);
    if (!asked) continue;
    const FabricTier& one = shape.tiers[tier];
    text += fmt::format("{}{} is {}, not {}", text.empty() ? "" : ", ", one.name,
                        ratio_text(one.oversubscription), ratio_text(*asked));
  }
  return text.empty() ? text : text + ": links are whole";
}

std::string fabric_note(const Fabric& fabric, std::span<const int> hosts) {
  std::string text = rounding_text(fabric);
  if (hosts.size() < 2 || !is_oversubscribed(fabric) || !share_leaves(fabric, hosts)) return text;
  if (!text.empty()) text += "; ";
  return text + fmt::format(
                    "all {} hosts are below the same leaf switches, so oversubscription has "
                    "no effect",
                    hosts.size());
}

std::string leaf_note(const Fabric& fabric, std::size_t nics, std::size_t gpus) {
  const FabricSettings& settings = fabric.settings();
  const bool has_leaves = settings.kind != FabricKind::Switch && settings.kind != FabricKind::Torus;
  if (!has_leaves || settings.rails != Rails::None || nics == 0 || nics >= gpus) return {};
  // Another number is the user's own.
  const auto hosts = static_cast<std::size_t>(settings.hosts_per_leaf);
  if (hosts != kLeafPorts / nics) return {};
  return fmt::format(
      "{} below a leaf, as its {} ports to hosts hold hosts of {}; --set "
      "fabric.hosts_per_leaf=N changes that",
      plural(hosts, "host", "hosts"), kLeafPorts, plural(nics, "NIC", "NICs"));
}

}  // namespace ringside::study
