#pragma once

#include <string>

#include "base/result.h"
#include "engine/channels/job.h"

namespace ringside::cli {

/// Draws a job: each different host once, with its CPUs, switches, GPUs and NICs, and the order of
/// the rings.
///
/// format  ascii: for a terminal; dot: for Graphviz; svg: self-contained
/// all     every ring, with all its ranks
/// errors  InvalidArgument: another `format`; the nearest is named
Result<std::string> draw(const std::string& format, const JobHosts& hosts, const Job& job,
                         bool all);

std::string draw_ascii(const JobHosts& hosts, const Job& job, bool all);
std::string draw_dot(const JobHosts& hosts, const Job& job, bool all);
std::string draw_svg(const JobHosts& hosts, const Job& job, bool all);

}  // namespace ringside::cli
