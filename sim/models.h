#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A data file that is embedded in the library. `name` has no folder and no file extension.
struct EmbeddedSimModel {
  std::string_view name;
  std::string_view text;
};

/// All files models/*.yaml, in alphabetical order.
extern const std::span<const EmbeddedSimModel> kSimModels;

}  // namespace ringside
