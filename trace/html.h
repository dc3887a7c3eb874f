#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ringside/trace_export.h"

namespace ringside {

inline constexpr std::uint64_t kMostEventsOfPage = 2'000'000;

/// A file of trace/page, embedded at build time.
struct EmbeddedPage {
  std::string_view name;
  std::string_view text;
};
extern const std::span<const EmbeddedPage> kTracePages;

}  // namespace ringside
