#pragma once

#include <string>

#include "base/result.h"
#include "engine/channels/job.h"

namespace ringside::cli {

/// Pictures of a job: each different host with its CPUs, switches, GPUs and NICs once, and the order of the rings.
/// `all`: every ring, and every rank of it.
///
/// ascii  for a terminal    dot  for Graphviz    svg  complete in itself
/// errors  InvalidArgument: another `format`; the nearest is named
Result<std::string> draw(const std::string& format, const JobHosts& hosts, const Job& job,
                         bool all);

std::string draw_ascii(const JobHosts& hosts, const Job& job, bool all);
std::string draw_dot(const JobHosts& hosts, const Job& job, bool all);
std::string draw_svg(const JobHosts& hosts, const Job& job, bool all);

}  // namespace ringside::cli
