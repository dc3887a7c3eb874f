#pragma once

#include <memory>
#include <string>

#include "engine/runtime/calls/executor.h"
#include "engine/runtime/host/connect.h"
#include "engine/runtime/host/host_table.h"

namespace ringside {

/// How calls run over host memory. Every rank gives the same.
struct HostOptions {
  const Transport* transport = nullptr;  ///< null: the fastest that there is between two ranks
  std::string table_path = host_table_path();  ///< of this rank; where ranks' differ, the usual one
  int ranks_per_node =
      0;  ///< nodes to play on one host; 0: hosts are nodes, and where an algorithm needs
          ///< several, one host plays them
};

/// Runs calls on the cores of hosts: channel 0 on the thread that calls run(), the others on one of their own
/// each, over Connections that are made when a call first needs them.
/// shape   drain() before the next run(): a host's channels work on one call at a time
/// errors  as Connections::make(); Corrupt: this rank's table of choices
Result<std::unique_ptr<Executor>> make_host_executor(const HostOptions& options,
                                                     const ExecutorSetup& setup);

}  // namespace ringside
