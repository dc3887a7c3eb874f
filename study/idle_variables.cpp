#include "study/idle_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ringside::study {
namespace {

/// Variables of NCCL, its network plugins and PyTorch for logs, addresses, timeouts and details of RDMA. Their effect on
/// the time of a transfer is not modelled. Variables that turn a transport off are not in the list, because they are.
constexpr std::array<std::string_view, 42> kIdle{"FI_EFA_FORK_SAFE",
                                                 "FI_EFA_USE_DEVICE_RDMA",
                                                 "FI_EFA_USE_HUGE_PAGE",
                                                 "FI_PROVIDER",
                                                 "NCCL_ASYNC_ERROR_HANDLING",
                                                 "NCCL_BLOCKING_WAIT",
                                                 "NCCL_COMM_BLOCKING",
                                                 "NCCL_CONF_FILE",
                                                 "NCCL_CUMEM_ENABLE",
                                                 "NCCL_CUMEM_HOST_ENABLE",
                                                 "NCCL_DEBUG",
                                                 "NCCL_DEBUG_FILE",
                                                 "NCCL_DEBUG_SUBSYS",
                                                 "NCCL_DMABUF_ENABLE",
                                                 "NCCL_HOSTID",
                                                 "NCCL_IB_ADAPTIVE_ROUTING",
                                                 "NCCL_IB_ADDR_FAMILY",
                                                 "NCCL_IB_AR_THRESHOLD",
                                                 "NCCL_IB_CUDA_SUPPORT",
                                                 "NCCL_IB_GID_INDEX",
                                                 "NCCL_IB_HCA",
                                                 "NCCL_IB_PCI_RELAXED_ORDERING",
                                                 "NCCL_IB_PKEY",
                                                 "NCCL_IB_QPS_PER_CONNECTION",
                                                 "NCCL_IB_RETRY_CNT",
                                                 "NCCL_IB_ROCE_VERSION_NUM",
                                                 "NCCL_IB_SL",
                                                 "NCCL_IB_SPLIT_DATA_ON_QPS",
                                                 "NCCL_IB_TC",
                                                 "NCCL_IB_TIMEOUT",
                                                 "NCCL_LAUNCH_MODE",
                                                 "NCCL_NET_PLUGIN",
                                                 "NCCL_NSOCKS_PERTHREAD",
                                                 "NCCL_RAS_ENABLE",
                                                 "NCCL_SET_STACK_SIZE",
                                                 "NCCL_SOCKET_FAMILY",
                                                 "NCCL_SOCKET_IFNAME",
                                                 "NCCL_SOCKET_NTHREADS",
                                                 "NCCL_SOCKET_RETRY_CNT",
                                                 "NCCL_WORK_FIFO_BYTES",
                                                 "TORCH_NCCL_ASYNC_ERROR_HANDLING",
                                                 "TORCH_NCCL_BLOCKING_WAIT"};
static_assert(std::ranges::is_sorted(kIdle));

}  // namespace

bool is_idle_variable(std::string_view name) { return std::ranges::binary_search(kIdle, name); }

std::vector<std::string> idle_notes(const JobOptions& options) {
  std::vector<std::string> notes;
  for (const std::string& setting : options.set) {
    const std::string name = setting.substr(0, setting.find('='));
    if (!is_idle_variable(name)) continue;
    notes.push_back(fmt::format("{} decides nothing here: it is ignored", name));
  }
  return notes;
}

}  // namespace ringside::study
