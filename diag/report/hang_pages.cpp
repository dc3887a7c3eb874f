#include "diag/report/hang_pages.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringside::hang {

Result<std::string_view> page_of(std::string_view kind) {
  constexpr std::string_view kPrefix = "hang-";
  std::string known;
  for (const HangPage& page : kHangPages) {
    const std::string_view name = page.name.substr(std::min(kPrefix.size(), page.name.size()));
    if (name == kind) return page.text;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("no page about '{}'", kind),
               "there are " + known};
}

}  // namespace ringside::hang
