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

/// Size classes of calls, whose errors are listed separately: up to 64 KiB, below 16 MiB, from there on.
inline constexpr std::size_t kSizeClasses = 3;
std::size_t size_class_of(Bytes bytes);

/// What GPUs, links and networks achieve, compared with a host's description and NCCL's own formulas:
/// models/*.yaml, where each constant has its unit and its source. By kind of hardware, never by system.
/// unit  latencies us, rates GB/s = 1e9 bytes/s; a share is of the rate that the description gives
struct SimModel {
  using PerProtocol = std::array<double, kProtocols>;
  using PerClass = std::array<double, kGpuClasses>;

  /// Of a collective.
  struct Launch {
    double adds = 0;  ///< once
    double least_per_gpu =
        0;  ///< of one process: no collective is shorter than this for all of them
  };
  /// A pipeline gets to its rate by and by: most x (1 - exp(-t / over)), t the busiest link's time.
  struct Ramp {
    double most = 0;
    double over = 1;
  };
  struct Link {
    double nic = 1;      ///< share of the NIC's stated latency that a message takes besides `step`
    double stream = 0;   ///< most that one connection carries; 0: no bound
    PerProtocol step{};  ///< latency of a message
    PerProtocol
        share{};  ///< 1: all of the rate carries data, or what the protocol must send with it
    Ramp ramp;
  };
  /// Of NVLink between two GPUs, by what uses it.
  struct Uses {
    double ring = 1, tree = 1, exchange = 1;
  };

  std::string name;
  std::array<Launch, kLaunchStyles> launch;
  PerProtocol kernel{};  ///< from the launch to the first step, and from the last to the end
  Link nvlink, pci;
  Uses nvlink_uses;
  PerClass nvlink_generation{};  ///< share of NVLink's rate between two GPUs, by what they are
  double host_bridge = 1;        ///< share of what crosses a CPU between GPUs
  double pci_rate = 1;           ///< of PCIe's rate as NCCL plans with it, what a link carries
  /// Most that devices of two sockets get across, by who made the CPU; NCCL's rates there are for its choices. NUMA nodes of
  /// one AMD socket have the last one.
  double socket_intel = 0, socket_amd = 0, socket_other = 0;
  PerClass nvswitch_step{};    ///< of a multicast or a load-reduce
  PerClass nvswitch_share{};   ///< of NVLink's rate, of both
  double nvswitch_across = 1;  ///< and of that, where the same kernels serve the network too
  PerClass channel{};          ///< most that a GPU sends on one channel: what its threads copy
  double exchange_window = 0;  ///< round trip that 8 chunks of an exchange's channel wait for
  double exchange_across = 1;  ///< share of the NICs' rate that exchanges get
  double exchange_post =
      0;  ///< until a GPU's proxy turns from one peer on another host to the next
  std::array<Link, kNetKinds> net;

  /// Median error of predictions for groups of systems that the constants had not seen, in %, and on how many systems, by size
  /// class.
  struct ErrorRow {
    std::array<double, kSizeClasses> percent{}, systems{};
    std::array<double, kSizeClasses> nccl{};  ///< of NCCL's own model where it was nearer; else 0
  };
  std::array<ErrorRow, kGpuLinks> errors_one_node;  ///< by what joins the GPUs
  std::array<ErrorRow, kNetKinds> errors_several;   ///< by what joins the hosts
  struct TypicalError {
    double percent = 0;
    int systems = 0;
  };
  [[nodiscard]] TypicalError typical_error(Bytes bytes, const SystemGroup& group) const;
  /// Of NCCL's own model on the same systems, where it was nearer than the simulation; 0: it was not.
  [[nodiscard]] double nearer_nccl_error(Bytes bytes, const SystemGroup& group) const;
  /// The same of the times by which NCCL chooses, on all systems.
  std::array<double, kSizeClasses> error_nccl{};
};

/// The model that comes with ringside.
/// errors  Corrupt: data that break the grammar (a test loads it)
Result<SimModel> load_sim_model();

/// path  of a file in the same form, for one's own machines
/// errors  as read_file(). Corrupt: with the place, and the fix
Result<SimModel> load_sim_model(const std::string& path);

}  // namespace ringside
