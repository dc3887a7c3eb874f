#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/tuning/model.h"
#include "ringside/units.h"
#include "sim/surroundings.h"
#include "sim/system_group.h"

namespace ringside {

/// Size classes of calls, for which errors are listed: up to 64 KiB, below 16 MiB, and larger.
inline constexpr std::size_t kSizeClasses = 3;
std::size_t size_class_of(Bytes bytes);

/// Constants for the performance that GPUs, links and networks achieve, relative to a host's
/// description and to NCCL's own formulas. They are read from models/*.yaml, which give the unit
/// and source of each constant, for each kind of hardware.
/// unit  latencies us, rates GB/s = 1e9 bytes/s; a share is relative to the rate in the description
struct SimModel {
  using PerProtocol = std::array<double, kProtocols>;
  using PerClass = std::array<double, kGpuClasses>;

  /// The launch of a collective.
  struct Launch {
    double adds = 0;  ///< time added once
    /// Lower bound of a collective's time, per GPU of one process.
    double least_per_gpu = 0;
  };
  /// The time that a pipeline loses before it reaches its rate: most x (1 - exp(-t / over)), t the
  /// busiest link's time.
  struct Ramp {
    double most = 0;
    double over = 1;
  };
  struct Link {
    /// Share of the NIC's stated latency that a message takes in addition to `step`.
    double nic = 1;
    double stream = 0;   ///< maximum rate of one connection; 0: no limit
    PerProtocol step{};  ///< latency of a message
    /// Share of the rate that carries data or the protocol's own overhead; 1: all of it.
    PerProtocol share{};
    Ramp ramp;
  };
  /// Shares of NVLink's rate between two GPUs, by algorithm.
  struct Uses {
    double ring = 1, tree = 1, exchange = 1;
  };

  std::string name;
  std::array<Launch, kLaunchStyles> launch;
  /// Time from the launch to the first step, and from the last step to the end.
  PerProtocol kernel{};
  Link nvlink, pci;
  Uses nvlink_uses;
  PerClass nvlink_generation{};  ///< share of NVLink's rate between two GPUs, by GPU class
  double host_bridge = 1;        ///< share of the rate of GPU traffic that crosses a CPU
  double pci_rate = 1;           ///< share of the PCIe rate that NCCL plans with
  /// Maximum rates between devices of two sockets, by CPU vendor; NCCL's own rates there serve its
  /// choices. NUMA nodes of one AMD socket use the last one.
  double socket_intel = 0, socket_amd = 0, socket_other = 0;
  PerClass nvswitch_step{};   ///< latency of a multicast or load-reduce
  PerClass nvswitch_share{};  ///< share of NVLink's rate, for both
  /// Factor on `nvswitch_share` if the same kernels also serve the network.
  double nvswitch_across = 1;
  /// Maximum rate of a GPU's sends on one channel: what its threads can copy.
  PerClass channel{};
  /// Round-trip time of the 8 chunks in flight on an exchange's channel.
  double exchange_window = 0;
  double exchange_across = 1;  ///< share of the NICs' rate that exchanges achieve
  /// Time for which a GPU's proxy handles one remote peer before it turns to the next.
  double exchange_post = 0;
  std::array<Link, kNetKinds> net;

  /// Median error of predictions in %, and the number of systems, by size class. The constants were
  /// fitted without the predicted group of systems.
  struct ErrorRow {
    std::array<double, kSizeClasses> percent{}, systems{};
    std::array<double, kSizeClasses> nccl{};  ///< of NCCL's own model where it was nearer; else 0
  };
  std::array<ErrorRow, kGpuLinks> errors_one_node;  ///< by link between the GPUs
  std::array<ErrorRow, kNetKinds> errors_several;   ///< by network between the hosts
  struct TypicalError {
    double percent = 0;
    int systems = 0;
  };
  [[nodiscard]] TypicalError typical_error(Bytes bytes, const SystemGroup& group) const;
  /// Returns the typical error of NCCL's own model on the same systems, in %, if it was smaller than the simulation's;
  /// else 0.
  [[nodiscard]] double nearer_nccl_error(Bytes bytes, const SystemGroup& group) const;
  /// The same of the times by which NCCL chooses, on all systems.
  std::array<double, kSizeClasses> error_nccl{};
};

/// Loads the model that is embedded in ringside.
/// errors  Corrupt: data that break the grammar (a test loads it)
Result<SimModel> load_sim_model();

/// Loads a model for the user's own machines.
/// path    file in the form of models/*.yaml
/// errors  as read_file(). Corrupt: with file:line and the fix
Result<SimModel> load_sim_model(const std::string& path);

}  // namespace ringside
