#pragma once

#include <map>
#include <string>

#include "engine/topology/host.h"
#include "engine/topology/sources/yaml_mapping.h"

namespace ringside {

/// The common properties of devices of one kind in a host YAML: `kinds:` declares it, the tree names
/// it. Private to this folder.
struct HostKind {
  enum class What { Switch, Gpu, Nic } what = What::Switch;
  HostPci pci = {};  ///< the function; of a GPU or NIC with what it carries, but for its numbers
  HostNet net = {};  ///< of a NIC
  int ports = 1;     ///< of a NIC; each is a network device
  bool has_guid = true;  ///< the network devices are distinguished
};
using HostKinds = std::map<std::string, HostKind>;

/// errors  Corrupt: as parse_host_yaml
Result<HostKinds> read_host_kinds(const YamlMapping& root);

/// The keys of a NIC's kind but `is`, none of them checked for being known.
/// errors  Corrupt: as parse_host_yaml
Result<HostKind> read_nic_keys(const YamlMapping& kind);

/// `1b:00.0` is short for `0000:1b:00.0`; anything else stays.
std::string full_bus_id(const std::string& text);

/// `WHAT xCOUNT`, such as `05:00.0 x4`; x1 may be omitted.
/// errors  InvalidArgument: no word, or a count outside 1 .. 64
struct CountedWord {
  std::string word;
  int count = 1;
};
Result<CountedWord> parse_counted(const std::string& text);

}  // namespace ringside
