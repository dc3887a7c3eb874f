#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ringside::job {

/// Which rank a process or a GPU is. A library's line or a launcher's table tells it, and lines of others, the kernel's
/// among them, name the process id or the bus alone.
///
/// A host's name is compared up to its first dot, its address whole; empty: no line says it.
class ProcessRanks {
 public:
  /// shape  pid >= 0, rank >= 0; of two ranks for one process the later counts
  void know(std::string_view host, std::int64_t pid, int rank);
  /// shape  bus_id as NCCL counts it: `1b000` is 0x1b000
  void know_gpu(std::string_view host, std::int64_t bus_id, int rank);

  /// On that host; where no host is said, or only one that nothing else is known of, the only rank of that number
  /// anywhere: containers have names of their own.
  /// returns  -1: nothing tells, or several ranks are meant
  [[nodiscard]] int rank_of(std::string_view host, std::int64_t pid) const;
  [[nodiscard]] int rank_of_gpu(std::string_view host, std::int64_t bus_id) const;

 private:
  using Ranks = std::map<std::pair<std::int64_t, std::string>, int>;
  [[nodiscard]] int find(const Ranks& ranks, std::string_view host, std::int64_t number) const;

  Ranks processes_;
  Ranks gpus_;
  std::map<std::string, int> hosts_;  ///< that are known, and how often
};

/// The process id in a line of the kernel's: `Killed process 4711 (`, `,pid=4711,`, `pid=4711, name=`.
/// returns  -1: there is none
std::int64_t pid_in_kernel_line(std::string_view line);

}  // namespace ringside::job
