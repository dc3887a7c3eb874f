#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace ringside {

/// The counts of an export.
struct HtmlCounts {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  ///< size of the page
};

/// Writes the trace as one self-contained HTML page that plays it: timeline, topology, chunks.
/// About 12 bytes per event.
///
/// title    title of the page
/// errors   System: the stream failed; Unsupported: more than kMostEventsOfPage events
Result<HtmlCounts> export_html(const TraceFile& file, const std::string& title, std::ostream& out);

inline constexpr std::uint64_t kMostEventsOfPage = 2'000'000;

/// A file of trace/page, embedded at build time.
struct EmbeddedPage {
  std::string_view name;
  std::string_view text;
};
extern const std::span<const EmbeddedPage> kTracePages;

}  // namespace ringside
