#include "engine/debuglog/warning_text.h"

#include <fmt/format.h>

#include "base/verbs_status.h"

namespace ringside {
namespace {

/// ncclResult_t
enum Code { kCuda = 1, kSystem = 2, kInternal = 3, kUsage = 5, kRemote = 6 };

std::string propagation(NcclVersion version, std::string_view place, std::string_view function,
                        int code, std::string_view thread = "") {
  if (version.is_from(30)) return fmt::format("{} ({}) -> {}{}", place, function, code, thread);
  return fmt::format("{} -> {}{}", place, code, thread);
}

/// Appends the errors of the callers, from ncclCommInitRank's thread on.
void append_init(std::vector<std::string>& lines, NcclVersion version, int code) {
  lines.push_back(propagation(version, "init.cc:1393", "initTransportsRank", code));
  if (version.is_before(14)) return;
  lines.push_back(propagation(version, "init.cc:1548", "ncclCommInitRankFunc", code));
  lines.push_back(propagation(version, "group.cc:64", "ncclAsyncJobMain", code, " [Async thread]"));
}

std::vector<std::string> to_init(NcclVersion version, std::string_view place,
                                 std::string_view function, int code) {
  std::vector<std::string> lines;
  if (!place.empty()) lines.push_back(propagation(version, place, function, code));
  append_init(lines, version, code);
  return lines;
}

std::string_view ib_file(NcclVersion version, std::string_view part) {
  if (version.is_before(29)) return "transport/net_ib.cc";
  return part;
}

std::string address(const NetInterface& interface, int port) {
  return fmt::format("{}<{}>", interface.address, port);
}

}  // namespace

std::string result_text(NcclVersion version, const WarnPlace& place, int result) {
  return propagation(version, fmt::format("{}:{}", place.file, place.line), place.function, result);
}

void write_warning(DebugLog& log, LineThread thread, const Warning& warning) {
  log.warn(thread, warning.place, warning.message);
  for (const std::string& line : warning.propagation) log.info(thread, line);
}

Warning duplicate_gpu_warning(NcclVersion version, int rank, int other, std::int64_t bus_id) {
  Warning warning{{"init.cc", 943, "initTransportsRank"}, {}, to_init(version, "", "", kUsage)};
  warning.message = version.is_from(30)
                        ? "Multiple Ranks are using the same GPU/Partition. Set "
                          "NCCL_MULTI_RANK_GPU_ENABLE=1 to allow this."
                        : fmt::format(
                              "Duplicate GPU detected : rank {} and rank {} both on CUDA "
                              "device {:x}",
                              rank, other, bus_id);
  return warning;
}

Warning other_version_warning(NcclVersion version, int rank, NcclVersion other, int other_rank) {
  if (version.is_from(23)) {
    return {{"init.cc", 917, "initTransportsRank"},
            fmt::format("Mismatched NCCL version detected : rank {} version {} rank {} version {}",
                        rank, version_code(version), other_rank, version_code(other)),
            to_init(version, "", "", kUsage)};
  }
  // The message that ranks exchange is a structure that grows with each version. The sizes are examples.
  const auto message_size = [](NcclVersion of) { return 96 + 8 * of.minor; };
  return {{"bootstrap.cc", 60, "bootstrapNetRecv"},
          fmt::format("Message truncated : received {} bytes instead of {}", message_size(other),
                      message_size(version)),
          to_init(version, "bootstrap.cc:553", "bootstrapAllGather", kInternal)};
}

Warning connect_warning(NcclVersion version, const NetInterface& to, int port,
                        std::string_view error) {
  Warning warning{{"misc/socket.cc", 484, "socketStartConnect"},
                  {},
                  to_init(version, "misc/socket.cc:567", "ncclSocketConnect", kSystem)};
  warning.propagation.insert(warning.propagation.begin() + 1,
                             propagation(version, "bootstrap.cc:285", "bootstrapInit", kSystem));
  if (version.is_before(10)) {
    warning.message = fmt::format("Connect to {} failed : {}", address(to, port), error);
  } else if (version.is_before(16)) {
    warning.message = fmt::format("Net : Connect to {} failed : {}", address(to, port), error);
  } else if (version.is_before(24)) {
    warning.message =
        fmt::format("socketStartConnect: Connect to {} failed : {}", address(to, port), error);
  } else if (version.is_before(27)) {
    warning.message = fmt::format(
        "socketPollConnect: connect returned {}, exceeded error retry count (35)", error);
  } else {
    warning.message = fmt::format(
        "socketPollConnect: connect to {} returned {}, exceeded error retry count after 35 "
        "attempts",
        address(to, port), error);
  }
  return warning;
}

std::string connect_retry_text(NcclVersion version, std::string_view error, int attempt) {
  if (version.is_before(24)) return fmt::format("Call to connect returned {}, retrying", error);
  return fmt::format(
      "socketPollConnect: connect returned {}, retrying ({}/34) after sleep for {} msec", error,
      attempt, 100 * attempt);
}

Warning register_memory_warning(NcclVersion version) {
  return {{"misc/ibvwrap.cc", 190, "wrap_ibv_reg_mr"},
          version.is_before(12) ? "Call to ibv_reg_mr failed"
                                : "Call to ibv_reg_mr_iova2 failed with error Cannot allocate "
                                  "memory",
          {propagation(version, fmt::format("{}:763", ib_file(version, "transport/net_ib/reg.cc")),
                       "ncclIbRegMr", kSystem),
           propagation(version, "transport/net.cc:822", "sendProxyConnect", kSystem),
           propagation(version, "proxy.cc:1321", "proxyConnInit", kSystem, " [Proxy Thread]"),
           propagation(version, "transport/net.cc:409", "sendConnect", kSystem),
           propagation(version, "init.cc:1393", "initTransportsRank", kSystem)}};
}

Warning open_device_warning(NcclVersion version, std::string_view hca) {
  return {{ib_file(version, "transport/net_ib/init.cc"), 225, "ncclIbInitDevices"},
          fmt::format("NET/IB : Unable to open device {}", hca)};
}

Warning modify_qp_warning(NcclVersion version, const Hca& hca, int gid_index,
                          const NetInterface& own, const NetInterface& peer) {
  Warning warning{
      {"misc/ibvwrap.cc", 236, "wrap_ibv_modify_qp"},
      {},
      {propagation(version, fmt::format("{}:981", ib_file(version, "transport/net_ib/connect.cc")),
                   "ncclIbRtrQp", kSystem),
       propagation(version, "transport/net.cc:774", "sendProxyConnect", kSystem),
       propagation(version, "proxy.cc:1321", "proxyConnInit", kSystem, " [Proxy Thread]")}};
  if (version.is_before(24)) {
    warning.message = "Call to ibv_modify_qp failed with error Invalid argument";
  } else {
    warning.message = fmt::format(
        "Call to ibv_modify_qp failed with 22 Invalid argument, on dev {}:{}, curr state INIT, "
        "next "
        "state RTR, local GID index {}, local GID ::ffff:{}, remote GID ::ffff:{}",
        hca.name, hca.port, gid_index, own.address, peer.address);
  }
  append_init(warning.propagation, version, kSystem);
  return warning;
}

Warning completion_warning(NcclVersion version, const NetInterface& peer, int port, int status,
                           std::string_view hca) {
  Warning warning{
      {ib_file(version, "transport/net_ib/p2p.cc"), 1295, "ncclIbLogCompletionWithError"},
      {},
      {propagation(version, "transport/net.cc:1165", "sendProxyProgress", kRemote),
       propagation(version, "proxy.cc:714", "progressOps", kRemote),
       propagation(version, "proxy.cc:894", "ncclProxyProgress", kRemote, " [Progress Thread]")}};
  // Vendor syndromes of ConnectX adapters, as in the logs that docs/formats 4 quotes: 129 means that all retries failed.
  const int vendor = status == 12 ? 129 : 81;
  const std::string from = address(peer, port);
  if (version.is_before(10)) {
    warning.message = fmt::format(
        "NET/IB : Got completion with error {}, opcode 1, len 0, vendor err {}", status, vendor);
  } else if (version.is_before(20)) {
    warning.message = fmt::format(
        "NET/IB : Got completion from peer {} with error {}, opcode 1, len 0, vendor err {} (Send)",
        from, status, vendor);
  } else if (version.is_before(28)) {
    warning.message = fmt::format(
        "NET/IB : Got completion from peer {} with status={} opcode=1 len=0 vendor err {} (Send)",
        from, status, vendor);
    if (version.is_from(22)) warning.message += fmt::format(" hca {}", hca);
  } else {
    warning.message = fmt::format(
        "NET/IB: Got completion from peer {} with status={}({}) opcode=IBV_WC_RDMA_WRITE(1) "
        "vendor_err={} req_type=Send hca {}",
        from, verbs_status_name(status), status, vendor, hca);
  }
  return warning;
}

Warning async_event_warning(NcclVersion version, std::string_view hca, std::string_view event) {
  Warning warning{{ib_file(version, "transport/net_ib/common.cc"), 96, "ncclIbAsyncThreadMain"},
                  {}};
  if (version.is_before(20)) {
    warning.message = fmt::format("NET/IB : Got async event : {}", event);
  } else if (version.is_before(23)) {
    warning.message = fmt::format("NET/IB : {}:1 Got async event : {}", hca, event);
  } else if (version.is_before(28)) {
    warning.message = fmt::format("NET/IB : {}:1 Got async error event: {}", hca, event);
  } else {
    warning.message = fmt::format("NET/IB : {}:1 Got non-fatal async event: {}(10)", hca, event);
  }
  return warning;
}

Warning shared_memory_warning(NcclVersion version, std::string_view path, std::int64_t size) {
  Warning warning{{"misc/shmutils.cc", 72, "ncclShmOpen"},
                  {},
                  to_init(version, "misc/shmutils.cc:113", "ncclShmOpen", kSystem)};
  if (version.is_before(12)) {
    warning.place = {"include/shm.h", 28, "shmSetup"};
    warning.message = "Call to posix_fallocate failed : No space left on device";
  } else {
    warning.message =
        fmt::format("Error: failed to extend {} to {} bytes{}", path, size,
                    version.is_from(22) ? ", error: No space left on device (28)" : "");
  }
  return warning;
}

Warning nvls_bind_warning(NcclVersion version) {
  Warning warning{{"transport/nvls.cc", 254, "nvlsGroupBindMem"},
                  {},
                  to_init(version, "transport/nvls.cc:409", "ncclNvlsBufferSetup", kCuda)};
  warning.message =
      version.is_before(27)
          ? "Cuda failure 401 'the operation cannot be performed in the present state'"
          : "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 1073741824 : CUDA error "
            "401 'the operation cannot be performed in the present state'.\n"
            "This is usually caused by a system or configuration error in the Fabric Manager or "
            "NVSwitches.\nSet NCCL_NVLS_ENABLE=0 to continue without it.";
  return warning;
}

Warning cuda_memory_warning(NcclVersion version) {
  return {{"include/alloc.h", 221, "ncclCudaCallocDebug"},
          version.is_from(19) ? "Cuda failure 2 'out of memory'" : "Cuda failure 'out of memory'",
          to_init(version, "transport.cc:88", "ncclTransportP2pSetup", kCuda)};
}

Warning ring_lacks_rank_warning(NcclVersion version, int ring, int rank) {
  return {{"graph/rings.cc", 43, "ncclBuildRings"},
          fmt::format("Error : ring {} does not contain rank {}", ring, rank),
          to_init(version, "graph/connect.cc:478", "ncclTopoPostset", kInternal)};
}

Warning remote_closed_warning(NcclVersion version, const NetInterface& peer, int port) {
  Warning warning{{"misc/socket.cc", 58, "socketProgress"},
                  {},
                  to_init(version, "bootstrap.cc:553", "bootstrapAllGather", kRemote)};
  warning.message =
      version.is_before(16)
          ? fmt::format("Net : Connection closed by remote peer {}", address(peer, port))
          : fmt::format("socketProgress: Connection closed by remote peer {}", address(peer, port));
  return warning;
}

std::string p2p_refused_text(int a, int b) {
  return fmt::format(
      "P2P is disabled between connected GPUs {} and {}. You can repress this message with "
      "NCCL_IGNORE_DISABLED_P2P=1.",
      a, b);
}

}  // namespace ringside
