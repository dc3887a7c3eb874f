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
  HostPci pci = {};  ///< the PCI function; for a GPU or NIC with its properties, except for numbers
  HostNet net = {};  ///< for a NIC
  int ports = 1;     ///< for a NIC; each port is a network device
  bool has_guid = true;  ///< the network devices are distinguished
};
using HostKinds = std::map<std::string, HostKind>;

/// Reads the declarations under `kinds:`.
/// errors  Corrupt: as parse_host_yaml
Result<HostKinds> read_host_kinds(const YamlMapping& root);

/// Reads the keys of a NIC's kind except `is`; does not check for unknown keys.
/// errors  Corrupt: as parse_host_yaml
Result<HostKind> read_nic_keys(const YamlMapping& kind);

/// Expands `1b:00.0` to `0000:1b:00.0`; returns other texts unchanged.
std::string full_bus_id(const std::string& text);

/// A device and the number of links to it.
struct CountedWord {
  std::string word;
  int count = 1;
};
/// Parses `WHAT xCOUNT`, such as `05:00.0 x4`; x1 may be omitted.
/// errors  InvalidArgument: no word, or a count outside 1 .. 64 (a real GPU has at most 18 NVLinks)
Result<CountedWord> parse_counted(const std::string& text);

}  // namespace ringside
