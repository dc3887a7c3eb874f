#pragma once

#include <string>
#include <vector>

#include "diag/audit/finding.h"
#include "harness/probe/machine.h"

namespace ringside::probe {

/// Returns problems that a job would have on this machine: findings with audit's ids, worst first.
/// Empty for a healthy machine.
std::vector<audit::Finding> judge(const Machine& machine);

/// The engine's choices on this machine, with the reasons.
struct Plan {
  std::string interface;  ///< name and address; empty: no interface fits
  std::string interface_why;
  std::string transport_why;
  std::vector<std::string> rdma_devices;  ///< active ports, device:port
  std::string rdma_why;
  std::string backend;  ///< nccl, gloo or mpi; empty: not available
  std::string backend_why;
};
Plan plan_of(const Machine& machine);

/// Returns a description of a variable; empty: unknown variable.
std::string meaning_of(const std::string& variable);

}  // namespace ringside::probe
