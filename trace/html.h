#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ringside/trace_export.h"

namespace ringside {

/// Chosen: a browser draws a page of so many events within seconds.
inline constexpr std::uint64_t kMostEventsOfPage = 2'000'000;

/// A file of trace/page, embedded at build time.
struct EmbeddedPage {
  std::string_view name;
  std::string_view text;
};
/// The first one is the page that export_html() fills.
extern const std::span<const EmbeddedPage> kTracePages;

}  // namespace ringside
