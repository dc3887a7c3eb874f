#pragma once

#include "base/result.h"
#include "base/vocabulary.h"
#include "engine/runtime/calls/call.h"
#include "engine/runtime/host/host_table.h"
#include "engine/transport/transport.h"
#include "engine/tuning/choice.h"
#include "ringside/units.h"

namespace ringside {

/// The inputs of a choice on hosts: the same on every rank.
struct HostSituation {
  Collective collective = Collective::AllReduce;
  Bytes bytes = {};  ///< call_bytes()
  int nranks = 1;
  bool crosses_hosts = false;
  bool is_crowded = false;  ///< more ranks than cores on a host: ranks that wait must yield
  const Transport* transport = &usual_transport();  ///< the slowest that joins the ranks
  Bytes cache{2 << 20};                             ///< a core's second level
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
};

/// How a collective runs over host memory: by the settings, else by the table, else by the ring.
/// errors  Unsupported: the requested algorithm does not do the collective; those that do are
///         named.  InvalidArgument: as make_choice() and check_reduction()
Result<Choice> choose_on_host(const HostSituation& situation, const CallWishes& wishes = {},
                              const HostTable& table = usual_host_table());

/// The data that a slot carries by default. Simple: 8 of them, out and in, fill no more
/// than a core's cache of the second level, and are no longer than the transport's best length.
Bytes host_slot(Protocol protocol, Bytes cache, const Transport& transport);

/// The number of channels of a call.
int host_channel_count(const CallWishes& wishes);

/// Ranks to a node where the ranks of one host play several nodes, alike in length.
int played_ranks_per_node(int nranks);

}  // namespace ringside
