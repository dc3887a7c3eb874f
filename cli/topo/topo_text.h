#pragma once

#include <string>

#include "study/explain/topo_facts.h"

namespace ringside::cli {

/// What a person wants to see of a job: each kind of node with its paths as `nvidia-smi topo -m` lays
/// them out, the graphs found, the channels built of them.
///
/// all      every row, however long; else what fits 100 columns and a screen, with a word on the rest
std::string topo_text(const JobHosts& hosts, const Job& job, bool all);

/// The ranks of a ring with a bar wherever it leaves a node: `0 7 6 | 9 10`.
std::string ring_text(const Job& job, const study::TopoFacts& facts, int channel);

}  // namespace ringside::cli
