#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// Selects interfaces or adapters by name, in the grammar of NCCL_SOCKET_IFNAME and NCCL_IB_HCA: `eth,ib` matches names
/// with these prefixes; `=eth0,eth1` exactly these names; `^docker,lo` all names without these prefixes; `^=eth0` all
/// other names. An adapter's port may follow its name: `mlx5_0:1`.
struct NameRule {
  struct Name {
    std::string text;
    int port = -1;  ///< -1: any port
  };
  std::vector<Name> names;
  bool is_exact = false;
  bool is_exclusion = false;

  /// Returns whether the rule selects the name.
  /// port  -1: the device has no ports
  [[nodiscard]] bool fits(std::string_view name, int port = -1) const;
};

NameRule read_name_rule(std::string_view text);

}  // namespace ringside
