#pragma once

#include <functional>
#include <string>

#include "engine/topology/host_edit.h"
#include "harness/logs/host_network.h"
#include "harness/logs/log_request.h"

/// Queries and edits of a job for misconfigurations. Private to this folder.
namespace ringside {

int count_hosts(const LogRequest& request);
/// Counts an NVLink domain of several hosts as one node, if the version supports such domains.
int count_nodes(const LogRequest& request);
int count_ranks(const LogRequest& request);

// Properties of the first host:
int gpus_per_host(const LogRequest& request);
NetworkKind network_kind(const LogRequest& request);
int count_nics(const LogRequest& request);
std::string first_nic(const LogRequest& request);
bool is_roce(const LogRequest& request);
bool has_gdr(const LogRequest& request);
bool has_nvlink(const LogRequest& request);
/// Returns true if GPUs, version and number of nodes support NVLS.
bool has_nvls(const LogRequest& request);
/// Returns true if two GPUs without NVLink share a PCIe switch.
bool shares_pci_switch(const LogRequest& request);

/// Returns true if GPUs may use P2P over PCIe at any distance: then a lost NVLink does not lead to
/// shared memory.
bool reaches_everywhere(const LogRequest& request);

/// Returns the host that an incident affects: not the first one, if there are several.
int struck_host(const LogRequest& request);

void edit_all_hosts(LogRequest& request, const std::function<void(Host&)>& edit);
void edit_host(LogRequest& request, int index, const std::function<void(Host&)>& edit);
void forget_gdr(Host& host);

/// Makes the engine decide as if the variable had that value.
void decide_by(LogRequest& request, const std::string& name, const std::string& value);

}  // namespace ringside
