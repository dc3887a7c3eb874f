#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/probe/machine.h"

namespace ringside {
class NvmlDriver;
}

namespace ringside::probe {

/// The sources of a machine's description. sources_here() returns those of this machine; tests pass
/// a folder and fixed values.
struct Sources {
  std::string root = {};  ///< prefix of /sys, /proc and /dev; empty: this machine
  std::string host = {};
  std::string kernel = {};
  std::vector<Interface> interfaces = {};
  Limits limits = {};
  SharedMemory shm = {};
  std::map<std::string, std::string> variables = {};
  /// Output of `nft list ruleset` or of `iptables-save`; firewall_source names the command.
  std::string firewall_source = {};
  std::optional<std::string> firewall_text = {};
  std::vector<Backend> backends = {};
  std::string pytorch_text = {};  ///< output of pytorch_question(); empty: there is no PyTorch
  std::string verbs_library = {};
  NvmlDriver* nvml = nullptr;  ///< null: no driver
};

/// errors  System: the interfaces cannot be listed
Result<Sources> sources_here();

/// Reads the machine. Missing or unreadable files leave fields empty.
Machine read_machine(const Sources& sources);

/// Parses the rules that drop or reject packets from `nft list ruleset` or `iptables-save`. Omits
/// rules about invalid packets, address sets and forwarding.
Firewall read_firewall(const std::string& source, const std::string& text);

/// Returns the libraries of nccl, mpi and gloo that the loader finds, with their reported versions.
std::vector<Backend> backends_here();

/// Returns the command that asks python3 for its PyTorch. It prints a line for each fact, such as `offers gloo`.
const char* pytorch_question();
/// Parses the output of pytorch_question(). Omits lines that it does not know.
PyTorch read_pytorch(const std::string& text);

/// Returns a file name such as libibverbs.so.1.14.44.0; empty if the loader finds none.
std::string verbs_library_here();

}  // namespace ringside::probe
