#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringside::job {

/// Computes the ranks of each host from a batch script's options or Slurm's variables: `--nodelist=gpu-[15-18]`,
/// `--ntasks-per-node=8`. Slurm assigns ranks in blocks, host by host in the list's order, unless --distribution
/// requests another order.
///
/// source  sbatch(1), --nodelist, --ntasks-per-node, --distribution
class SlurmLayout {
 public:
  /// Takes any line of a script or of a job's output; lines without options, variables of Slurm, or a phrase such as
  /// `4 nodes x 8 GPUs` are ignored.
  void take(std::string_view line);

  /// Returns the ranks of a host, ascending; none if the host is not in the list or the ranks per host are unknown.
  [[nodiscard]] std::vector<int> ranks_of(std::string_view host) const;

 private:
  std::vector<std::string> hosts_;
  int tasks_ = 0;          ///< tasks per host; 0: unknown
  int nodes_ = 0;          ///< number of hosts in another option; 0: unknown
  bool is_dealt_ = false;  ///< ranks are not assigned in blocks
};

/// Returns the hosts of a list in Slurm's short form, `gpu-[15-18,20]` or `a1,a2`, with leading zeros kept. Returns
/// none if the text is not a list or has more than 4,096 hosts.
std::vector<std::string> expand_hosts(std::string_view list);

}  // namespace ringside::job
