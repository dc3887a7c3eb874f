#pragma once

#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/trace_reader.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace RINGSIDE_API ringside {

/// What export_perfetto() has written.
struct PerfettoCounts {
  std::uint64_t events = 0;
  std::uint64_t arrows = 0;            ///< from a send to the receive that it fed
  std::uint64_t unmatched_halves = 0;  ///< sends or receives without an arrow
};

/// Writes the trace as Chrome's JSON, for ui.perfetto.dev and chrome://tracing: a process a rank, a
/// thread a channel, one more thread for the collectives as wholes, an arrow for each transfer. In the
/// order of the file, as it is read; the same file gives the same bytes.
///
/// unit     ts, dur: us, with three decimals, on the file's clock
/// errors   System: the stream takes no more
/// on_progress  called now and then with the share of the file that is done, 0 .. 1; may be empty
/// source   "Trace Event Format" (Google), sections Complete Events, Flow Events, Metadata Events
Result<PerfettoCounts> export_perfetto(const TraceFile& file, std::ostream& out,
                                       const std::function<void(double)>& on_progress = {});

/// What export_html() has written.
struct HtmlCounts {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  ///< of the page
};

/// Writes the trace as one page that plays it in a browser: timeline, topology, chunks. Nothing is loaded from elsewhere.
/// About 12 bytes an event.
///
/// title    what the page is called
/// errors   System: the stream takes no more; Unsupported: more events than a browser holds
Result<HtmlCounts> export_html(const TraceFile& file, const std::string& title, std::ostream& out);

}  // namespace ringside
