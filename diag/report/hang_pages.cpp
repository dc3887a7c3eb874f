#include "diag/report/hang_pages.h"

#include <fmt/format.h>

#include <string>

#include "diag/report/finding_pages.h"

namespace ringside::hang {

Result<std::string_view> page_of(std::string_view kind) {
  constexpr std::string_view kPrefix = "hang_";
  std::string known;
  for (const FindingPage& page : kFindingPages) {
    if (!page.name.starts_with(kPrefix)) continue;
    const std::string_view name = page.name.substr(kPrefix.size());
    if (name == kind) return page.text;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("no page about '{}'", kind),
               "there are " + known};
}

}  // namespace ringside::hang
