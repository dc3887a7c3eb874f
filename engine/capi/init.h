#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "ringside/ringside.h"
#include "ringside/units.h"
#include "ringside/unreceived_messages.h"

/// How communicators of ringside.h are made; api/ makes those of communicator.h by it, too.

namespace ringside {

/// What the C API has no word for.
struct InitExtras {
  std::string description = "default_pg";
  /// Name by which faults select the communicator; empty: its own
  std::string family = {};
  /// Whether the rank's flight recorder and status service know the communicator.
  bool is_recorded = true;
  /// As CommunicatorConfig
  std::function<void(const UnreceivedMessages&)> when_left = {};
};

/// As rsGetUniqueId().
/// join_timeout  that the next rank may take to join after one has
Status make_unique_id(rsUniqueId* id, Seconds join_timeout = Seconds{8});

/// As rsCommInitRankConfig(). config  may be null
Status init_communicator(rsComm_t* comm, int nranks, const rsUniqueId& id, int rank,
                         const rsConfig_t* config, const InitExtras& extras = {});

}  // namespace ringside
