#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/channels/parameters.h"
#include "harness/logs/connections.h"
#include "harness/logs/host_network.h"
#include "harness/logs/log_communicator.h"
#include "harness/logs/log_request.h"

namespace ringside {

/// A host of the job.
struct LogHost {
  std::string name = {};
  NetInterface interface = {};  ///< for bootstrap, and with RDMA for out-of-band messages
  HostNetwork network = {};
  NcclVersion version = {};
  std::vector<Setting> settings = {};
  bool lacks_nvls = false;
};

/// A process with one GPU.
struct LogProcess {
  int host = 0;
  int local = 0;  ///< index among the host's processes
  int pid = 0;
  std::string cpus = {};  ///< CPUs near its GPU: hexadecimal groups, as in /sys
};

/// Communicators that are created at the same time. Each process is in at most one.
struct Generation {
  std::vector<LogCommunicator> communicators;
  std::vector<int> of_process;  ///< by process: index; -1: in none
};

/// The job that a log describes: its processes, and the engine's decisions for each communicator,
/// as the job's NCCL release decides. Releases before 2.18 are approximated by the features that
/// they lack: PXN before 2.12, NVLS before 2.17 (over several nodes: 2.18), NVLink domains before
/// 2.20.
///
/// Threads    immutable after make()
class LogJob {
 public:
  /// errors  as make_job(), parse_topology_parameters(), parse_channel_parameters(), Tuner::make()
  static Result<LogJob> make(LogRequest request);

  [[nodiscard]] const LogRequest& request() const { return request_; }
  [[nodiscard]] const std::vector<LogHost>& hosts() const { return hosts_; }
  [[nodiscard]] const std::vector<LogProcess>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<Generation>& generations() const { return generations_; }
  [[nodiscard]] const LogHost& host_of(int process) const {
    return hosts_[static_cast<std::size_t>(processes_[static_cast<std::size_t>(process)].host)];
  }
  /// Both return values for the processes of that host.
  [[nodiscard]] ConnectionRules rules(const LogHost& host) const;
  [[nodiscard]] Subsystems shown(const LogHost& host) const;

 private:
  explicit LogJob(LogRequest request) : request_(std::move(request)) {}
  Status read_environment();
  void name_hosts();
  Status add_generations();
  Result<std::shared_ptr<const CommunicatorLayout>> layout_of(const JobHosts& hosts) const;
  Result<Generation> world() const;
  Result<Generation> node_groups() const;
  Result<Generation> place_groups() const;
  void number(Generation& generation, int index) const;

  LogRequest request_;
  std::string release_;  ///< release that decides, as load_release() takes it
  TopologyParameters topology_;
  ChannelParameters channels_;
  TuningParameters tuning_;
  bool has_cumem_ = true;
  std::vector<LogHost> hosts_;
  std::vector<LogProcess> processes_;
  std::vector<int> run_of_host_;
  std::vector<Generation> generations_;
};

}  // namespace ringside
