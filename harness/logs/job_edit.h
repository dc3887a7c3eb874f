#pragma once

#include <functional>
#include <string>

#include "engine/topology/host_edit.h"
#include "harness/logs/host_network.h"
#include "harness/logs/log_request.h"

/// What a misconfiguration asks of a job, and changes in it. Private to this folder.
namespace ringside {

int count_hosts(const LogRequest& request);
/// An NVLink domain of several hosts counts as one, where the version knows them.
int count_nodes(const LogRequest& request);
int count_ranks(const LogRequest& request);

// Of the first host.
int gpus_per_host(const LogRequest& request);
NetworkKind network_kind(const LogRequest& request);
int count_nics(const LogRequest& request);
std::string first_nic(const LogRequest& request);
bool is_roce(const LogRequest& request);
bool has_gdr(const LogRequest& request);
bool has_nvlink(const LogRequest& request);
/// The GPUs, the version and the number of nodes allow it.
bool has_nvls(const LogRequest& request);
/// Two GPUs that have no NVLink.
bool shares_pci_switch(const LogRequest& request);

/// GPUs may copy to each other over PCIe wherever they are: lost NVLinks need not lead to shared memory.
bool reaches_everywhere(const LogRequest& request);

/// The host that an incident strikes: not the first one, where there are others.
int struck_host(const LogRequest& request);

void edit_all_hosts(LogRequest& request, const std::function<void(Host&)>& edit);
void edit_host(LogRequest& request, int index, const std::function<void(Host&)>& edit);
void forget_gdr(Host& host);

/// The engine decides as if the variable had that value.
void decide_by(LogRequest& request, const std::string& name, const std::string& value);

}  // namespace ringside
