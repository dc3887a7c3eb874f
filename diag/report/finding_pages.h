#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A page of docs/findings: its text, and its name without folder and ending, which is the finding's id.
struct FindingPage {
  std::string_view name;
  std::string_view text;
};

/// All of them, sorted by name; README, the index, is one.
extern const std::span<const FindingPage> kFindingPages;

}  // namespace ringside
