#include "harness/attach/job_processes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/folder.h"
#include "base/text.h"

namespace ringside::attach {
namespace {

constexpr std::size_t kMostRanksOfAHost = 1024;
constexpr int kDeepest = 16;  ///< shells and launchers between a launcher and its ranks

using Children = std::multimap<std::int64_t, std::int64_t>;

Children children_in(const std::string& proc) {
  Children children;
  for (const std::string& name : names_or_none(proc)) {
    const auto pid = parse_int(name);
    if (!pid || *pid <= 0) continue;
    if (const auto parent = parent_of(*pid, proc)) children.emplace(*parent, *pid);
  }
  return children;
}

std::optional<LaunchInfo> launch_of(const ProcessFacts& facts) {
  const auto launch = launch_from_environment([&](const char* name) -> std::optional<std::string> {
    const auto found = facts.variables.find(name);
    if (found == facts.variables.end()) return std::nullopt;
    return found->second;
  });
  return launch ? *launch : std::nullopt;
}

bool is_same_rank(const LaunchInfo& one, const LaunchInfo& other) {
  return one.launcher == other.launcher && one.rank == other.rank;
}

/// Finds the processes below a launcher that are ranks.
class Finder {
 public:
  explicit Finder(const std::string& proc) : proc_(proc), children_(children_in(proc)) {}

  /// Adds the nearest ranks below a process.
  void look_below(const JobProcess& from, int depth) {
    const auto [first, last] = children_.equal_range(from.pid);
    for (auto child = first; child != last && found_.size() < kMostRanksOfAHost; ++child) {
      const auto facts = read_process(child->second, proc_);
      if (!facts) continue;
      JobProcess one{child->second, launch_of(*facts), *facts};
      const bool is_rank = one.launch && !(from.launch && is_same_rank(*one.launch, *from.launch));
      if (is_rank) {
        // A wrapper of a rank (numactl, a shell) has the rank's variables: the rank is the last process below it.
        found_.push_back(innermost(std::move(one)));
      } else if (depth < kDeepest) {
        look_below(one, depth + 1);
      }
    }
  }

  /// Follows wrappers (is_wrapper) with a single child down to the program that they run.
  JobProcess innermost(JobProcess one) const {
    for (int depth = 0; depth < kDeepest && is_wrapper(one.facts.program); ++depth) {
      const auto [first, last] = children_.equal_range(one.pid);
      if (first == last || std::next(first) != last) break;
      auto facts = read_process(first->second, proc_);
      if (!facts) break;
      one.pid = first->second;
      one.facts = *std::move(facts);
    }
    return one;
  }

  std::vector<JobProcess> take() {
    std::ranges::sort(found_, {}, &JobProcess::pid);
    return std::move(found_);
  }

 private:
  static bool is_wrapper(const std::string& program) {
    const std::string name = program.substr(program.rfind('/') + 1);
    return name == "sh" || name == "bash" || name == "dash" || name == "numactl" ||
           name == "taskset" || name == "env" || name == "timeout" || name == "nice";
  }

  const std::string& proc_;
  const Children children_;
  std::vector<JobProcess> found_;
};

}  // namespace

std::vector<JobProcess> job_processes(std::int64_t pid, const std::string& proc) {
  auto facts = read_process(pid, proc);
  if (!facts) return {};
  JobProcess root{pid, launch_of(*facts), *std::move(facts)};
  Finder finder(proc);
  finder.look_below(root, 0);
  std::vector<JobProcess> found = finder.take();
  if (found.empty()) found.push_back(std::move(root));
  return found;
}

std::vector<int> ranks_without_process(const std::vector<JobProcess>& found) {
  std::set<int> seen;
  const JobProcess* any = nullptr;
  for (const JobProcess& one : found) {
    if (!one.launch) continue;
    seen.insert(one.launch->rank);
    any = &one;
  }
  if (any == nullptr) return {};
  const LaunchInfo& launch = *any->launch;
  const auto address = any->facts.variables.find("MASTER_ADDR");
  const bool is_loopback = address != any->facts.variables.end() &&
                           (address->second == "localhost" || address->second.starts_with("127."));
  int first = 0;
  int count = 0;
  if (is_single_host(launch) || is_loopback) {
    count = launch.nranks;
  } else if (launch.local_rank && launch.local_ranks) {
    first = launch.rank - *launch.local_rank;
    count = *launch.local_ranks;
  }
  std::vector<int> gone;
  for (int rank = first; rank < first + count && gone.size() < kMostRanksOfAHost; ++rank) {
    if (!seen.contains(rank)) gone.push_back(rank);
  }
  // If at least as many ranks are missing as were found, the computed range is probably not that of this host.
  return gone.size() < seen.size() ? gone : std::vector<int>{};
}

}  // namespace ringside::attach
