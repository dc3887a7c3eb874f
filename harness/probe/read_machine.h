#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/probe/machine.h"

namespace ringside {
class NvmlDriver;
}

namespace ringside::probe {

/// Where a machine is read from. sources_here() is this one; tests hand in a folder and answers of their own.
struct Sources {
  std::string root = {};  ///< before /sys, /proc and /dev; empty: this machine
  std::string host = {};
  std::string kernel = {};
  std::vector<Interface> interfaces = {};
  Limits limits = {};
  SharedMemory shm = {};
  std::map<std::string, std::string> variables = {};
  /// The text of `nft list ruleset` or of `iptables-save`; the source says which.
  std::string firewall_source = {};
  std::optional<std::string> firewall_text = {};
  std::vector<Backend> backends = {};
  std::string verbs_library = {};
  NvmlDriver* nvml = nullptr;  ///< null: no driver
};

/// errors  System: the interfaces cannot be listed
Result<Sources> sources_here();

/// Never fails: a missing or unreadable file is an answer.
Machine read_machine(const Sources& sources);

/// The rules that drop or refuse what comes in or goes out, of `nft list ruleset` or `iptables-save`. What only
/// concerns invalid packets, sets of addresses or forwarding is omitted.
Firewall read_firewall(const std::string& source, const std::string& text);

/// The libraries of nccl, mpi and gloo that the loader finds, with their reported versions.
std::vector<Backend> backends_here();

/// libibverbs.so.1.14.44.0; empty where the loader finds none.
std::string verbs_library_here();

}  // namespace ringside::probe
