#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ringside::job {

/// The rank of a process or a GPU. A library's line or a launcher's table shows it; other lines, such as the
/// kernel's, name only the process id or the bus.
///
/// A host's name is compared up to its first dot, its address completely; empty: unknown.
class ProcessRanks {
 public:
  /// shape  pid >= 0, rank >= 0; of two ranks for one process the later counts
  void know(std::string_view host, std::int64_t pid, int rank);
  /// shape  bus_id as NCCL counts it: `1b000` is 0x1b000
  void know_gpu(std::string_view host, std::int64_t bus_id, int rank);

  /// The rank of that process. If the host is unknown, or nothing else is known of it, the only rank with that
  /// process id on any host: containers have names of their own.
  /// returns  -1: unknown, or several ranks are possible
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
