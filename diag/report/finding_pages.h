#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A page of docs/findings: its text, and its name without folder and ending, which is the finding's id.
struct FindingPage {
  std::string_view name;
  std::string_view text;
};

/// All pages, sorted by name, including the index, README.
extern const std::span<const FindingPage> kFindingPages;

}  // namespace ringside
