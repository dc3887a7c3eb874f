#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/hangs/program.h"
#include "study/simulation.h"

namespace ringside::study {

/// The simulated time of one kind of call of a scenario.
struct CallTime {
  std::string groups;  ///< name of the group family
  std::string call;    ///< name of the call: all_reduce
  int ranks = 0;
  int hosts = 0;
  Bytes bytes;
  Seconds alone{};  ///< time without other traffic
  /// Time while other groups of the family on the same hosts make the same call.
  Seconds time{};
  BytesPerSecond busbw{};    ///< with that traffic
  std::string limit;         ///< name of the busiest link, or limit_of()
  std::string fidelity;      ///< fidelity of the simulation
  double error_percent = 0;  ///< SimRow::error_percent
  std::int64_t times = 0;    ///< number of such calls that CallClock::learn() was called for
};

/// Returns the typical error of these calls together, weighted by the time that each takes; 0 without any.
double error_percent_of(const std::vector<CallTime>& calls);

/// How long the calls of a program's groups take on a cluster: each kind is simulated once.
///
/// Rank r is GPU r mod G of host r / G, where each host has G GPUs; the hosts of an NVLink domain
/// are filled one after the other. Groups of one family on the same hosts call at the same time, as
/// in training, so a NIC that several of them use carries the data of all. The call's time then
/// grows by (time of the busiest link with all groups) - (time of the busiest link with this group
/// alone). Groups of different families do not slow each other down.
///
/// Threads  one
class CallClock {
 public:
  /// base    cluster and simulation settings. Of its `calls`, the collective, the type and the sizes are replaced by
  ///         those of each call. Without `nodes`, the job has as many as the ranks need
  ///
  /// If the ranks do not fill whole NVLink domains, each domain contributes the same number of hosts, if that divides:
  /// 512 ranks on gb200-nvl72 take 16 of the 18 hosts of 8 domains. base.job.nvl_domain overrides that.
  /// errors  as load_job(). InvalidArgument: hosts with different numbers of GPUs, more ranks than GPUs
  static Result<CallClock> make(SimQuestion base, int ranks);
  ~CallClock();
  CallClock(CallClock&&) noexcept;

  [[nodiscard]] int gpus_per_host() const;
  /// Returns the number of hosts that the ranks use, in whole NVLink domains.
  [[nodiscard]] int hosts() const;

  /// Returns a sentence about the hosts that the job uses of each NVLink domain, or as
  /// fabric_note() about its fabric; empty: nothing to say.
  [[nodiscard]] const std::string& note() const;

  /// Returns the GPUs of all nodes that the cluster has by its `nodes` key; without that key, the
  /// GPUs of hosts().
  [[nodiscard]] int gpus() const;

  /// Returns the class of the path between two ranks. Paths of one class have the same rate and
  /// latency.
  [[nodiscard]] int path_class(int a, int b);

  /// Simulates the call of a group, unless the time of an equal call is known, and counts it in CallTime::times. Call it
  /// once for each call of the programs.
  /// - A transfer is simulated between the first two ranks whose path had its class (Step::path_class). Between GPUs of
  ///   different local indices on two hosts, it takes the slower of the transfers between equal indices.
  /// - A send_recv is one call around the whole group.
  /// - A collective is simulated over the group.
  /// group   index in the program's groups
  /// errors  as simulate_call(). InvalidArgument: the group uses different GPUs on different hosts, or different
  ///         numbers of hosts in different NVLink domains. Unsupported: the group uses a part of an NVLink domain, and
  ///         the cluster has a fabric
  Status learn(const hangs::Program& program, const hangs::Step& call, int group);

  /// Returns the time of a call; 0 if learn() has not succeeded for it, or if the call moves nothing.
  [[nodiscard]] Seconds time(const hangs::Step& call, int group) const;

  [[nodiscard]] const std::vector<CallTime>& calls() const;

 private:
  struct Impl;
  explicit CallClock(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::study
