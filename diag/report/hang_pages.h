#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside {

/// A page of docs/findings on a kind of hang.
struct HangPage {
  std::string_view name;  ///< `hang-missing_rank`
  std::string_view text;  ///< Markdown
};

/// docs/findings/hang-*.md, in alphabetical order; embedded at build time.
extern const std::span<const HangPage> kHangPages;

}  // namespace ringside

namespace ringside::hang {

/// The page on a kind: what it means, how to confirm and to mend it, when it is a false alarm, an example.
/// errors  InvalidArgument: no such kind; it names those that there are
Result<std::string_view> page_of(std::string_view kind);

}  // namespace ringside::hang
