#pragma once

#include <string>

#include "base/json.h"
#include "study/asked_job.h"

namespace ringside::cli {

/// Returns a cluster's fabric as a tree of tiers, top down: switches, cables, rates,
/// oversubscription; then bisection, routing, degraded links, and the place of the job.
std::string fabric_text(const study::AskedFabric& asked);

/// Returns the same for `topo --json`.
/// unit  rates GB/s, latencies us
Json fabric_document(const study::AskedFabric& asked);

/// Draws the fabric: dot for Graphviz, or svg. all: every switch and host.
/// errors  InvalidArgument: another `format`; the nearest is named
Result<std::string> draw_fabric(const std::string& format, const study::AskedFabric& asked,
                                bool all);

/// "400 Gbit/s"
std::string gbits(BytesPerSecond rate);

}  // namespace ringside::cli
