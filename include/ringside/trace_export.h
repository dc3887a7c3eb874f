#pragma once

#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/trace_reader.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace RINGSIDE_API ringside {

/// Counts of what export_perfetto() has written.
struct PerfettoCounts {
  std::uint64_t events = 0;            ///< without those of kind Peer
  std::uint64_t arrows = 0;            ///< arrows from a send to the matching receive
  std::uint64_t unmatched_halves = 0;  ///< sends or receives without an arrow
};

/// Writes the trace as Chrome JSON, for ui.perfetto.dev and chrome://tracing: one process per rank,
/// one thread per channel, one thread for whole collectives, one arrow per transfer. Slices that overlap
/// are in further threads of the channel; steps of no length are slices of 1 ns, one for all of a kind
/// that follow each other at the same time. Events are in the order of the file. The output is
/// deterministic.
///
/// unit     ts, dur: us, with three decimals, on the file's clock
/// errors   System: the stream failed
/// on_progress  receives the completed share of the file, 0 .. 1, now and then; may be empty
/// source   "Trace Event Format" (Google), sections Complete Events, Flow Events, Metadata Events
Result<PerfettoCounts> export_perfetto(const TraceFile& file, std::ostream& out,
                                       const std::function<void(double)>& on_progress = {});

/// Counts of what export_html() has written.
struct HtmlCounts {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  ///< size of the page
};

/// Writes the trace as one page that plays it in a browser: timeline, topology, chunks. Nothing is loaded from elsewhere.
/// About 12 bytes an event.
///
/// title    what the page is called
/// errors   System: the stream takes no more; Unsupported: more events than a browser holds
Result<HtmlCounts> export_html(const TraceFile& file, const std::string& title, std::ostream& out);

}  // namespace ringside
