#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringside::job {

/// The ranks of each host, by a batch script's options or Slurm's variables: `--nodelist=gpu-[15-18]`,
/// `--ntasks-per-node=8`. Slurm assigns ranks in blocks, host by host in the list's order, unless --distribution
/// requests another order.
///
/// source  sbatch(1), --nodelist, --ntasks-per-node, --distribution
class SlurmLayout {
 public:
  /// Takes any line, of a script or of a job's output.
  void take(std::string_view line);

  /// returns  ascending; empty: the host is not in the list, or the number of ranks of a host is unknown
  [[nodiscard]] std::vector<int> ranks_of(std::string_view host) const;

 private:
  std::vector<std::string> hosts_;
  int tasks_ = 0;          ///< a host's
  int nodes_ = 0;          ///< as another option counts them; 0: none does
  bool is_dealt_ = false;  ///< not assigned in blocks
};

/// `gpu-[15-18,20]`, `a1,a2`: the hosts of a list in Slurm's short form, leading zeros kept.
/// returns  empty: it is no list, or has more than 4,096 hosts
std::vector<std::string> expand_hosts(std::string_view list);

}  // namespace ringside::job
