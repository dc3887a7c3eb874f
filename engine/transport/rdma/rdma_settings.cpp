#include "engine/transport/rdma/rdma_settings.h"

#include <fmt/format.h>

#include "engine/transport/rdma/rdma_message.h"

namespace ringside {
namespace {

/// -1, as NCCL has it for "not set", leaves `value` as it is.
Status read_number(const Environment& environment, const char* name, int least, int most,
                   int& value) {
  if (environment(name) == "-1") return {};
  RINGSIDE_TRY(const std::optional<std::int64_t> given, env_int(environment, name, least, most));
  if (!given) return {};
  value = static_cast<int>(*given);
  return {};
}

Status read_switch(const Environment& environment, const char* name, bool& value) {
  int number = value ? 1 : 0;
  RINGSIDE_TRY(read_number(environment, name, 0, 2, number));
  value = number != 0;
  return {};
}

}  // namespace

Result<RdmaSettings> rdma_settings_from(const Environment& environment) {
  RdmaSettings settings;
  settings.names = environment("NCCL_IB_HCA").value_or("");
  RINGSIDE_TRY(read_switch(environment, "NCCL_IB_DISABLE", settings.is_disabled));
  RINGSIDE_TRY(read_switch(environment, "NCCL_IB_SPLIT_DATA_ON_QPS", settings.splits_data));
  RINGSIDE_TRY(read_switch(environment, "NCCL_IB_MERGE_NICS", settings.merges_ports));
  RINGSIDE_TRY(
      read_switch(environment, "NCCL_IB_PCI_RELAXED_ORDERING", settings.has_relaxed_ordering));
  RINGSIDE_TRY(read_number(environment, "NCCL_IB_GID_INDEX", 0, 65535, settings.gid_index));
  RINGSIDE_TRY(read_number(environment, "NCCL_IB_ROCE_VERSION_NUM", 1, 2, settings.roce_version));
  // The limits are the bit widths of the queue pair's attributes.
  RINGSIDE_TRY(read_number(environment, "NCCL_IB_TIMEOUT", 0, 31, settings.timeout));
  RINGSIDE_TRY(read_number(environment, "NCCL_IB_RETRY_CNT", 0, 7, settings.retries));
  RINGSIDE_TRY(read_number(environment, "NCCL_IB_PKEY", 0, 65535, settings.partition));
  RINGSIDE_TRY(read_number(environment, "NCCL_IB_SL", 0, 15, settings.service_level));
  RINGSIDE_TRY(read_number(environment, "NCCL_IB_TC", 0, 255, settings.traffic_class));
  RINGSIDE_TRY(read_number(environment, "NCCL_IB_QPS_PER_CONNECTION", 1,
                           static_cast<int>(kMostRdmaQueues / kMostRdmaPorts), settings.queues));
  const std::string family = environment("NCCL_IB_ADDR_FAMILY").value_or("AF_INET");
  settings.wants_ipv6 = family == "AF_INET6";
  if (family != "AF_INET" && family != "AF_INET6") {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("environment variable NCCL_IB_ADDR_FAMILY='{}' is no address family", family),
        "give AF_INET or AF_INET6, or unset it"};
  }
  return settings;
}

}  // namespace ringside
