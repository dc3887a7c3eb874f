#pragma once

#include <optional>
#include <string>

#include "base/env.h"
#include "base/result.h"

namespace ringside {

/// The settings for RDMA: NCCL's variables, with NCCL's defaults.
/// source  docs/formats/nccl-warnings.md; NCCL 2.30's defaults
struct RdmaSettings {
  bool is_disabled = false;  ///< NCCL_IB_DISABLE
  std::string names = {};    ///< NCCL_IB_HCA, in the grammar of name_rule.h; empty: all
  int gid_index = -1;        ///< NCCL_IB_GID_INDEX; -1: choose_gid() chooses
  int roce_version = 2;      ///< NCCL_IB_ROCE_VERSION_NUM: of the candidate GIDs
  bool wants_ipv6 = false;   ///< NCCL_IB_ADDR_FAMILY=AF_INET6
  int timeout = 20;          ///< NCCL_IB_TIMEOUT: 4.096 us x 2^timeout until a packet is sent again
  int retries = 7;           ///< NCCL_IB_RETRY_CNT
  int partition = 0;         ///< NCCL_IB_PKEY: index in the port's table
  int service_level = 0;     ///< NCCL_IB_SL
  int traffic_class = 0;     ///< NCCL_IB_TC
  int queues = 1;            ///< NCCL_IB_QPS_PER_CONNECTION: of each port
  /// NCCL_IB_SPLIT_DATA_ON_QPS: whether every slot is split over all queues
  bool splits_data = false;
  bool merges_ports = true;  ///< NCCL_IB_MERGE_NICS: the ports of one card serve one connection
  /// NCCL_IB_PCI_RELAXED_ORDERING: 0 without, 1 and 2 (auto) with
  bool has_relaxed_ordering = true;
};

/// errors  InvalidArgument: a number that is invalid or out of range, an unknown address family
Result<RdmaSettings> rdma_settings_from(const Environment& environment);

}  // namespace ringside
