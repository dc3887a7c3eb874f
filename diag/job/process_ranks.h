#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ringside::job {

/// Maps processes and GPUs to ranks. NCCL's lines and launchers' tables state both; other lines, such as the kernel's,
/// name only the process id or the bus id.
///
/// Host names are compared up to the first dot, addresses completely. An empty host means unknown.
class ProcessRanks {
 public:
  /// Stores the rank of a process; a later call replaces it. Negative numbers, and processes after the first 2^20, are
  /// ignored.
  void know(std::string_view host, std::int64_t pid, int rank);
  /// Stores the rank of a GPU, likewise.  bus_id  as NCCL prints it: `1b000` is 0x1b000
  void know_gpu(std::string_view host, std::int64_t bus_id, int rank);

  /// Returns the rank of a process or GPU, or -1 if it is unknown or ambiguous. On a host with known ranks, an entry
  /// without a host counts, too. If `host` is empty, or no rank of it is known, returns the only rank with this number on
  /// any host, because containers have host names of their own.
  [[nodiscard]] int rank_of(std::string_view host, std::int64_t pid) const;
  [[nodiscard]] int rank_of_gpu(std::string_view host, std::int64_t bus_id) const;

 private:
  using Ranks = std::map<std::pair<std::int64_t, std::string>, int>;
  [[nodiscard]] int find(const Ranks& ranks, std::string_view host, std::int64_t number) const;

  Ranks processes_;
  Ranks gpus_;
  std::map<std::string, int> hosts_;  ///< known hosts with the number of their entries
};

/// Returns the process id in a kernel log line, `Killed process 4711 (`, `,pid=4711,` or `pid=4711, name=`; -1 if there
/// is none.
std::int64_t pid_in_kernel_line(std::string_view line);

}  // namespace ringside::job
