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

struct Setting {
  std::string name, value;
};

/// What strikes the job, and in the log of whom.
enum class IncidentKind {
  None,
  OpenDevice,    ///< a device that cannot be opened; the job goes on without it
  NoRoute,       ///< the first rank cannot be reached
  OtherVersion,  ///< a host has another release
  DuplicateGpu,  ///< two ranks took one GPU
  ShortRing,     ///< the ranks do not agree on the rings
  NvlsBind,      ///< the multicast of the NVSwitches is out of order
  ShmFull,       ///< /dev/shm is too small
  Memlock,       ///< memory may not be pinned
  BadGid,        ///< the GID index names no usable address
  CudaMemory,    ///< no GPU memory is left
  Completion,    ///< a NIC gives up on its peer, in the midst of the run
  LinkFlap,      ///< its port goes down and up again before that
};
struct Incident {
  IncidentKind kind = IncidentKind::None;
  int host = -1;            ///< whose ranks say so; -1: all
  std::string device = {};  ///< that is concerned
  std::string detail = {};  ///< an error's words, a value
};

/// In what a host's processes differ from the others'.
struct HostDifference {
  std::optional<NcclVersion> version = {};
  std::vector<Setting> settings = {};  ///< besides the job's
  bool lacks_nvls = false;             ///< where the job's others have it
};

/// A job whose log is wanted.
struct LogRequest {
  JobHosts hosts;
  NcclVersion version = {};
  std::optional<Subsystems> shown = {};  ///< nothing: the version's default
  Environment environment = {};          ///< what the engine decides by; nothing: no variable set
  std::vector<Setting> settings = {};    ///< of all processes; the log echoes them
  /// Communicators besides the one of all ranks: so many times one for each node, and one for each
  /// place within the nodes, as tensor and data parallel training makes them.
  int repeat = 0;
  int calls = 0;           ///< collectives of each communicator; shown by COLL and TUNING
  std::uint64_t seed = 1;  ///< of pids, addresses, pointers, times
  bool is_stdout = false;  ///< what NCCL writes to stdout itself has no prefix there

  // What a misconfiguration sets.
  std::map<int, HostDifference> differences = {};  ///< by host
  std::optional<NetInterface> bootstrap = {};      ///< of all hosts, instead of their own
  std::string broken_plugin = {};                  ///< why the network plugin does not load
  bool refuses_p2p = false;                        ///< the driver grants no peer access over PCIe
  bool has_partial_nvls = false;  ///< some hosts have it, so that the job does without
  Incident incident = {};
  int unheard = -1;  ///< the process whose log was not collected
};

}  // namespace ringside
