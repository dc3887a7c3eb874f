#pragma once

#include <string>

#include "study/explain/topo_facts.h"

namespace ringside::cli {

/// Returns a job for people: each kind of node with its paths in the layout of `nvidia-smi topo -m`, the graphs found,
/// the channels built from them.
///
/// all      every row, however long; otherwise what fits 100 columns and a screen, with a note on the rest
std::string topo_text(const JobHosts& hosts, const Job& job, bool all);

/// Returns the ranks of a ring with a bar wherever it leaves a node: `0 7 6 | 9 10`.
std::string ring_text(const Job& job, const study::TopoFacts& facts, int channel);

}  // namespace ringside::cli
