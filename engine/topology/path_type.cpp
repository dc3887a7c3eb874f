#include "engine/topology/path_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/suggest.h"

namespace ringside {
namespace {

/// Indexed by the enumerator.
constexpr std::array<const char*, 12> kNames{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                             "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
constexpr std::array<std::string_view, 12> kWords{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                  "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};

}  // namespace

const char* to_string(PathType type) { return kNames.at(static_cast<std::size_t>(type)); }

Result<PathType> parse_path_type(std::string_view text) {
  const auto found = std::find(kWords.begin(), kWords.end(), text);
  if (found == kWords.end()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("unknown path type '{}'", text),
                 suggestion(text, kWords)};
  }
  return static_cast<PathType>(found - kWords.begin());
}

}  // namespace ringside
