#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// Which of a host's interfaces or cards are meant, in the grammar of NCCL_SOCKET_IFNAME and NCCL_IB_HCA: `eth,ib`
/// names that begin so; `=eth0,eth1` exactly these; `^docker,lo` none that begins so; `^=eth0` not exactly this. A
/// card's port may follow its name: `mlx5_0:1`.
struct NameRule {
  struct Name {
    std::string text;
    int port = -1;  ///< -1: any
  };
  std::vector<Name> names;
  bool is_exact = false;
  bool is_exclusion = false;

  /// port  -1 for what has none
  [[nodiscard]] bool fits(std::string_view name, int port = -1) const;
};

NameRule read_name_rule(std::string_view text);

}  // namespace ringside
