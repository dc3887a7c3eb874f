#include "study/explain/fabric_rounding.h"

#include <fmt/format.h>

namespace ringside::study {

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

}  // namespace ringside::study
