#include "harness/logs/write_begin.h"

#include <algorithm>

#include "engine/debuglog/start_text.h"
#include "harness/logs/incident_log.h"

namespace ringside {
namespace {

ReadAt read_at(const std::string& name) {
  const auto starts = [&name](std::string_view start) { return name.starts_with(start); };
  if (starts("NCCL_SOCKET") || starts("NCCL_COMM_ID") || starts("NCCL_OOB")) {
    return ReadAt::Bootstrap;
  }
  if (starts("NCCL_NET_GDR") || starts("NCCL_NET_DISABLE_INTRA")) return ReadAt::Topology;
  if (starts("NCCL_IB") || starts("NCCL_NET")) return ReadAt::Network;
  for (const std::string_view start :
       {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_SHM", "NCCL_TOPO", "NCCL_NVB", "NCCL_PXN",
        "NCCL_MNNVL", "NCCL_CUMEM", "NCCL_IGNORE_DISABLED_P2P"}) {
    if (starts(start)) return ReadAt::Topology;
  }
  return ReadAt::Channels;
}

/// NCCL ends the line with a period after whole numbers, except for variables that it reads as words or path types.
bool is_number(const Setting& setting) {
  const bool has_digits = !setting.value.empty() && std::ranges::all_of(setting.value, [](char c) {
    return c >= '0' && c <= '9';
  });
  return has_digits && !setting.name.ends_with("_LEVEL");
}

void write_versions(const RankView& rank, DebugLog& log) {
  const NcclVersion version = rank.version();
  const LineThread main = rank.main_thread();
  const std::string line = version_text(version);
  const bool all_print = version.is_from(22);
  if (all_print) log.info(main, line);
  if (!all_print && rank.rank == 0) {
    if (rank.job.request().is_stdout) {
      log.bare(line);
    } else {
      log.info(main, line);
    }
  }
  if (version.is_from(29)) log.info(main, git_version_text(version));
}

void write_sockets(const RankView& rank, LineThread thread, DebugLog& log) {
  std::vector<NetInterface> interfaces{rank.host().interface};
  if (rank.host().network.kind == NetworkKind::Socket && !rank.job.request().bootstrap) {
    // Further ports also carry data.
    for (const Hca& device : rank.host().network.devices) {
      if (device.name == interfaces.front().name) continue;
      interfaces.push_back({device.name, "10.21" + interfaces.front().address.substr(5)});
    }
  }
  log.info(Subsystem::Init | Subsystem::Net, thread, socket_interfaces_text(interfaces));
}

void write_ib(const RankView& rank, LineThread thread, DebugLog& log) {
  const HostNetwork& network = rank.host().network;
  const NcclVersion version = rank.version();
  for (const Hca& hca : network.devices) {
    if (version.is_from(27)) log.info(Subsystem::Net, thread, ib_device_text(hca));
    if (version.is_from(24)) log.info(Subsystem::Net, thread, virtual_device_text(hca));
  }
  log.info(Subsystem::Init | Subsystem::Net, thread,
           ib_devices_text(version, network.devices, rank.host().interface));
}

void write_plugin(const RankView& rank, LineThread thread, DebugLog& log) {
  const NcclVersion version = rank.version();
  const HostNetwork& network = rank.host().network;
  const std::string& broken = rank.job.request().broken_plugin;
  const Subsystems about = Subsystem::Init | Subsystem::Net;
  if (!broken.empty()) {
    log.info(about, thread, broken_net_plugin_text(version, broken));
    return;
  }
  const std::vector<std::string> lines = network.kind == NetworkKind::Ofi
                                             ? net_plugin_text(version, network.name)
                                             : no_net_plugin_text(version);
  for (const std::string& line : lines) log.info(about, thread, line);
  if (network.kind != NetworkKind::Ofi) return;
  for (const std::string& line : ofi_text(version, network.ofi)) log.info(about, thread, line);
}

/// Returns whether NCCL skips verbs altogether.
bool is_ib_disabled(const LogHost& host) {
  return std::ranges::any_of(host.settings, [](const Setting& setting) {
    return setting.name == "NCCL_IB_DISABLE" && setting.value != "0";
  });
}

void write_network(const RankView& rank, LineThread thread, DebugLog& log) {
  const NcclVersion version = rank.version();
  const Subsystems about = Subsystem::Init | Subsystem::Net;
  write_plugin(rank, thread, log);
  write_settings(rank, ReadAt::Network, thread, log);
  switch (rank.host().network.kind) {
    case NetworkKind::Ofi:
      break;
    case NetworkKind::Ib:
      write_ib(rank, thread, log);
      break;
    case NetworkKind::Socket:
      if (!is_ib_disabled(rank.host())) {
        log.info(about, thread, ib_no_device_text());
        if (version.is_from(28)) log.info(about, thread, failed_net_text("IB"));
      }
      write_sockets(rank, thread, log);
      break;
  }
  if (version.is_from(27)) {
    log.info(about, thread, initialized_net_text(rank.host().network.name));
  }
  if (version.is_from(19) && version.is_before(24)) {
    log.info(about, thread, net_device_version_text());
  }
}

}  // namespace

void write_settings(const RankView& rank, ReadAt moment, LineThread thread, DebugLog& log) {
  for (const Setting& setting : rank.host().settings) {
    if (read_at(setting.name) != moment) continue;
    const std::string line =
        env_echo_text(rank.version(), {setting.name, setting.value, is_number(setting)});
    if (rank.version().is_before(12)) {
      log.info(thread, line);
    } else {
      log.info(Subsystem::Env, thread, line);
    }
  }
}

void write_begin(const RankView& rank, DebugLog& log) {
  const NcclVersion version = rank.version();
  const LineThread main = rank.main_thread();
  if (version.is_from(29)) {
    log.info(Subsystem::Init, main, "ENV/Plugin: Could not find: libnccl-env.so");
  }
  write_settings(rank, ReadAt::Bootstrap, main, log);
  log.info(Subsystem::Init | Subsystem::Bootstrap, main,
           bootstrap_text(version, rank.host().interface));
  if (version.is_from(13)) {
    log.info(Subsystem::Init, main, driver_text(cuda_of(rank.job.request().version)));
  }
  write_versions(rank, log);
  const LineThread init = version.is_before(13) ? main : rank.init_thread();
  write_incident(rank, LogPhase::Kind::Begin, log);
  write_network(rank, init, log);
}

}  // namespace ringside
