#pragma once

#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "base/vocabulary.h"
#include "engine/runtime/host_table.h"
#include "engine/tuning/choice.h"

namespace ringside {

/// What a choice on hosts depends on: the same on every rank.
struct HostSituation {
  Collective collective = Collective::AllReduce;
  Bytes bytes = {};  ///< call_bytes()
  int nranks = 1;
  bool is_crowded = false;  ///< more ranks than cores on a host: whoever waits must give way
  bool has_tcp = false;     ///< hosts or ranks joined by tcp
  Bytes cache{2 << 20};     ///< a core's second level
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
};

/// What the user insists on.
struct HostWishes {
  std::optional<Algorithm> algorithm = {};
  std::optional<Protocol> protocol = {};
  int nchannels = 0;  ///< 0: as tuned
  Bytes slot = {};    ///< 0: as tuned
};

/// How a collective runs over host memory: by the wishes, else by the table, else by the ring.
/// errors  Unsupported: the algorithm that is wished for does not do the collective; those that do are
///         named.  InvalidArgument: as choose_host() and check_reduction()
Result<Choice> choose_on_host(const HostSituation& situation, const HostWishes& wishes = {},
                              const HostTable& table = usual_host_table());

/// Data that a slot carries unless something else is asked for. Simple: 8 of them, out and in, fill no more
/// than a core's cache of the second level; at most 128 KiB, beyond which nothing is gained. Over tcp at most
/// 64 KiB: the kernel's own copies want that cache, too (4 ranks, 64 MiB: 66 ms, 119 ms by 128 KiB).
Bytes host_slot(Protocol protocol, Bytes cache, bool has_tcp);

/// Whether the algorithm joins nodes, so that the ranks of one host have to play several.
bool needs_nodes(Algorithm algorithm);

/// Whether a switch or a network that reduces takes part, which hosts have not: they model it.
bool is_modelled(Algorithm algorithm);

/// Ranks to a node where the ranks of one host play several nodes, alike in length.
int played_ranks_per_node(int nranks);

}  // namespace ringside
