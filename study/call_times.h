#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/hangs/program.h"
#include "study/simulation.h"

namespace ringside::study {

/// A kind of call of a scenario, simulated.
struct CallTime {
  std::string groups;  ///< the family's name
  std::string call;    ///< all_reduce
  int ranks = 0;
  int hosts = 0;
  Bytes bytes;
  Seconds alone{};           ///< with the links for itself
  Seconds time{};            ///< while other groups of the family on the same hosts call, too
  BytesPerSecond busbw{};    ///< while the other groups call, too
  std::string limit;         ///< the link that limits, or limit_of()
  std::string fidelity;      ///< that it was simulated by
  double error_percent = 0;  ///< SimRow::error_percent
  std::int64_t times = 0;    ///< number of times that the played programs make it
};

/// The typical error of these calls together, weighted by the time that each takes; 0 without any.
double error_percent_of(const std::vector<CallTime>& calls);

/// How long the calls of a program's groups take on a cluster: each kind is simulated once.
///
/// Rank r is GPU r mod G of host r / G, where each host has G; hosts of an NVLink domain are filled one after the
/// other. Groups of one family on the same hosts call at the same time, as they do in training: a NIC's wire that
/// several of them use carries all their data. The difference to the time of the busiest link for the call's own
/// bytes is added to the call. Groups of different families do not slow each other down.
///
/// Threads  one
class CallClock {
 public:
  /// base    the cluster and the simulation settings: its calls are set here; nodes none: as many as the ranks need
  ///
  /// Ranks that do not fill whole NVLink domains take as many hosts of each one, if they divide: 512 ranks on
  /// gb200-nvl72 take 16 of the 18 hosts of 8 domains. base.job.nvl_domain overrides that.
  /// errors  as load_job(). InvalidArgument: hosts with different numbers of GPUs, more ranks than GPUs
  static Result<CallClock> make(SimQuestion base, int ranks);
  ~CallClock();
  CallClock(CallClock&&) noexcept;

  [[nodiscard]] int gpus_per_host() const;
  /// The number of hosts of the ranks, in whole NVLink domains.
  [[nodiscard]] int hosts() const;

  /// How many hosts of each NVLink domain the job takes, as a sentence; empty: all.
  [[nodiscard]] const std::string& note() const;

  /// GPUs of all nodes that the cluster has by its `nodes`; without that key, GPUs of hosts().
  [[nodiscard]] int gpus() const;

  /// The kind of path between two ranks: paths of one kind have the same rate and latency.
  [[nodiscard]] int way(int a, int b);

  /// Simulates such a call of a group, if no equal one is known: a transfer by its Step::way, between the first two
  /// ranks that had such a path; both halves of a send_recv around the whole group. Between GPUs of different numbers
  /// on two hosts it takes as long as between those of the one's number or the other's, whichever is slower.
  /// group   index in the program's groups
  /// errors  as simulate_call(); InvalidArgument: a group with other GPUs on one host than on another
  Status learn(const hangs::Program& program, const hangs::Step& call, int group);

  /// shape  learn() was called for it
  [[nodiscard]] Seconds time(const hangs::Step& call, int group) const;

  [[nodiscard]] const std::vector<CallTime>& calls() const;

 private:
  struct Impl;
  explicit CallClock(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::study
