#pragma once

#include <string>
#include <vector>

#include "diag/audit/finding.h"
#include "harness/probe/machine.h"

namespace ringside::probe {

/// What would be wrong with a job here, before one runs: findings of audit's ids, worst first. A healthy machine has none.
std::vector<audit::Finding> judge(const Machine& machine);

/// What the engine would use on this machine, and why.
struct Plan {
  std::string interface;  ///< its name and address; empty: none fits
  std::string interface_why;
  std::string transport_why;
  std::vector<std::string> rdma_devices;  ///< active ports, device:port
  std::string rdma_why;
  std::string backend;  ///< nccl, gloo, mpi; empty: none is there
  std::string backend_why;
};
Plan plan_of(const Machine& machine);

/// What a variable does, where it is known; empty: not.
std::string meaning_of(const std::string& variable);

}  // namespace ringside::probe
