#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "engine/debuglog/start_text.h"
#include "engine/debuglog/subsystem.h"
#include "engine/debuglog/version.h"
#include "engine/topology/host.h"

namespace ringside {

/// An environment variable.
struct Setting {
  std::string name, value;
};

/// The incident of a job.
enum class IncidentKind {
  None,
  OpenDevice,    ///< a device cannot be opened; the job continues without it
  NoRoute,       ///< the first rank is unreachable
  OtherVersion,  ///< a host has another NCCL release
  DuplicateGpu,  ///< two ranks use one GPU
  ShortRing,     ///< the ranks disagree about the rings
  NvlsBind,      ///< NVSwitch multicast fails
  ShmFull,       ///< /dev/shm is too small
  Memlock,       ///< memory pinning is not allowed
  BadGid,        ///< the GID index has no usable address
  CudaMemory,    ///< out of GPU memory
  Completion,    ///< a NIC loses its peer during the run
  LinkFlap,      ///< as Completion, and the NIC's port goes down and up before
};

/// A problem that happens during the job.
struct Incident {
  IncidentKind kind = IncidentKind::None;
  int host = -1;            ///< host whose ranks log it; -1: all
  std::string device = {};  ///< affected device
  std::string detail = {};  ///< error text, or a value
};

/// The differences between one host's processes and the others.
struct HostDifference {
  std::optional<NcclVersion> version = {};
  std::vector<Setting> settings = {};  ///< in addition to the job's settings
  bool lacks_nvls = false;             ///< although the other hosts of the job have NVLS
};

/// The description of a job whose log is to be generated.
struct LogRequest {
  JobHosts hosts;
  NcclVersion version = {};
  std::optional<Subsystems> shown = {};  ///< none: the version's default
  Environment environment = {};          ///< variables that the engine uses; empty: none
  std::vector<Setting> settings = {};    ///< settings of all processes; the log echoes them
  /// Number of additional sets of communicators: one per node and one per local rank, as tensor and
  /// data parallel training creates them.
  int repeat = 0;
  int calls = 0;           ///< collectives per communicator; COLL and TUNING show them
  std::uint64_t seed = 1;  ///< for pids, addresses, pointers, times
  bool is_stdout = false;  ///< log to stdout: NCCL writes some of its lines there without prefix

  // Set by a misconfiguration:
  std::map<int, HostDifference> differences = {};  ///< by host
  std::optional<NetInterface> bootstrap = {};      ///< for all hosts, instead of their own
  std::string broken_plugin = {};                  ///< reason why the network plugin does not load
  bool refuses_p2p = false;                        ///< the driver grants no peer access over PCIe
  bool has_partial_nvls = false;  ///< only some hosts support NVLS, so the job does not use it
  Incident incident = {};
  int missing_log = -1;  ///< process whose log is missing; -1: none
};

}  // namespace ringside
