#pragma once

#include <memory>
#include <string>

#include "engine/runtime/calls/executor.h"
#include "engine/runtime/host/connect.h"
#include "engine/runtime/host/host_table.h"

namespace ringside {

/// The options of a host executor. Every rank passes the same values, except for `table_path`.
struct HostOptions {
  const Transport* transport = nullptr;  ///< null: the fastest one between two ranks
  /// This rank's table; if ranks' tables differ, all use the built-in one
  std::string table_path = host_table_path();
  /// Ranks per simulated node on one host; 0: hosts are nodes, and one host simulates several only if an algorithm
  /// needs them
  int ranks_per_node = 0;
};

/// Makes an executor that runs calls on the cores of hosts: channel 0 on the thread that calls run(), each other
/// channel on its own thread. It makes Connections when a call first needs them.
/// shape   call drain() before the next run(): the channels work on one call at a time
/// errors  as Connections::make(); Corrupt: this rank's table is invalid
Result<std::unique_ptr<Executor>> make_host_executor(const HostOptions& options,
                                                     const ExecutorSetup& setup);

}  // namespace ringside
