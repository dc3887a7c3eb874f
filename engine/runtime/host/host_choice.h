#pragma once

#include "base/result.h"
#include "base/vocabulary.h"
#include "engine/runtime/calls/call.h"
#include "engine/runtime/host/host_table.h"
#include "engine/transport/transport.h"
#include "engine/tuning/choice.h"
#include "ringside/units.h"

namespace ringside {

/// The inputs of choose_on_host(). They are the same on every rank.
struct HostSituation {
  Collective collective = Collective::AllReduce;
  Bytes bytes = {};  ///< call_bytes()
  int nranks = 1;
  bool crosses_hosts = false;
  /// Whether a host has more ranks than cores, so that waiting ranks must yield
  bool is_crowded = false;
  const Transport* transport = &usual_transport();  ///< the slowest transport between the ranks
  Bytes cache{2 << 20};                             ///< size of a core's L2 cache
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
};

/// Chooses how a collective runs over host memory: as set by the user, else as the table says, else by the ring.
/// errors  Unsupported: the requested algorithm does not support the collective; the error names those that do.
///         InvalidArgument: as make_choice() and check_reduction()
Result<Choice> choose_on_host(const HostSituation& situation, const CallSettings& settings = {},
                              const HostTable& table = usual_host_table());

/// Returns the default size of a slot's data: 4 KiB for LL, 16 KiB for LL128. For Simple, 8 slots for sending and 8 for
/// receiving fit into a core's L2 cache, and a slot is 16 KiB to Transport::longest_slot.
Bytes host_slot(Protocol protocol, Bytes cache, const Transport& transport);

/// Returns the number of channels of a call.
int host_channel_count(const CallSettings& settings);

/// Returns the number of ranks per node if the ranks of one host act as several nodes: half of the ranks if their number
/// is even and above 2, else 1.
int played_ranks_per_node(int nranks);

}  // namespace ringside
