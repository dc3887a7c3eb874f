#include "diag/job/process_ranks.h"

#include <charconv>

#include "diag/logparse/text_search.h"

namespace ringside::job {
namespace {

constexpr std::size_t kMostKnown = 1U << 20U;

std::string short_name(std::string_view host) {
  // An IP address is not a name with a domain.
  if (host.find_first_not_of("0123456789.") == std::string_view::npos) return std::string(host);
  return std::string(host.substr(0, host.find('.')));
}

}  // namespace

void ProcessRanks::know(std::string_view host, std::int64_t pid, int rank) {
  if (pid < 0 || rank < 0 || processes_.size() >= kMostKnown) return;
  const std::string name = short_name(host);
  processes_.insert_or_assign({pid, name}, rank);
  if (!name.empty()) ++hosts_[name];
}

void ProcessRanks::know_gpu(std::string_view host, std::int64_t bus_id, int rank) {
  if (bus_id < 0 || rank < 0 || gpus_.size() >= kMostKnown) return;
  const std::string name = short_name(host);
  gpus_.insert_or_assign({bus_id, name}, rank);
  if (!name.empty()) ++hosts_[name];
}

int ProcessRanks::find(const Ranks& ranks, std::string_view host, std::int64_t number) const {
  if (number < 0) return -1;
  const std::string name = short_name(host);
  if (!name.empty()) {
    if (const auto own = ranks.find({number, name}); own != ranks.end()) return own->second;
    if (hosts_.count(name) > 0) {
      // A line without a host may belong to this one.
      const auto unsaid = ranks.find({number, std::string()});
      return unsaid == ranks.end() ? -1 : unsaid->second;
    }
  }
  int rank = -1;
  for (auto one = ranks.lower_bound({number, std::string()});
       one != ranks.end() && one->first.first == number; ++one) {
    if (rank >= 0 && one->second != rank) return -1;
    rank = one->second;
  }
  return rank;
}

int ProcessRanks::rank_of(std::string_view host, std::int64_t pid) const {
  return find(processes_, host, pid);
}

int ProcessRanks::rank_of_gpu(std::string_view host, std::int64_t bus_id) const {
  return find(gpus_, host, bus_id);
}

std::int64_t pid_in_kernel_line(std::string_view line) {
  for (const std::string_view key : {"illed process ", "pid="}) {
    const std::size_t at = logs::find_text(line, key);
    if (at == std::string_view::npos) continue;
    std::int64_t pid = -1;
    const char* const digits = line.data() + at + key.size();
    const auto [end, error] = std::from_chars(digits, line.data() + line.size(), pid);
    if (error == std::errc() && pid >= 0) return pid;
  }
  return -1;
}

}  // namespace ringside::job
