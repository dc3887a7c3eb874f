#include "harness/attach/job_processes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/folder.h"
#include "base/text.h"

namespace ringside::attach {
namespace {

/// Ranks of one host: a bound for made-up variables. Chosen: above the GPUs and cores of a host.
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

/// Returns whether two ranks, by their variables, are of one job: one launcher, size and rendezvous.
bool are_of_one_job(const JobProcess& one, const JobProcess& other) {
  if (!one.launch || !other.launch) return false;
  const auto is_equal = [&](const char* name) {
    const auto mine = one.facts.variables.find(name);
    const auto theirs = other.facts.variables.find(name);
    const bool have_both =
        mine != one.facts.variables.end() && theirs != other.facts.variables.end();
    return !have_both || mine->second == theirs->second;
  };
  return one.launch->launcher == other.launch->launcher &&
         one.launch->nranks == other.launch->nranks && is_equal("MASTER_ADDR") &&
         is_equal("MASTER_PORT") && is_equal("SLURM_JOB_ID");
}

/// A range of ranks; an empty one is unknown.
struct RankRange {
  int first = 0;
  int count = 0;
};

/// Returns the ranks that a launcher runs on this host, by the variables of the ranks `found`, which are of one job.
RankRange ranks_of_this_host(const std::vector<const JobProcess*>& found) {
  const JobProcess& any = *found.front();
  const LaunchInfo& launch = *any.launch;
  const auto address = any.facts.variables.find("MASTER_ADDR");
  const bool is_loopback = address != any.facts.variables.end() &&
                           (address->second == "localhost" || address->second.starts_with("127."));
  if (is_single_host(launch) || is_loopback) return {0, launch.nranks};
  if (!launch.local_rank || !launch.local_ranks) return {};
  const int first = launch.rank - *launch.local_rank;
  const bool are_in_block = std::ranges::all_of(found, [&](const JobProcess* one) {
    return one->launch->local_rank && one->launch->rank - *one->launch->local_rank == first;
  });
  // torchrun numbers the ranks of a host one after another; mpirun and srun can place them by turns (`--map-by node`,
  // `--distribution=cyclic`), which one rank alone does not show.
  // source  torch/distributed/elastic/agent/server/api.py, _assign_worker_ranks
  const bool is_shown = launch.launcher == Launcher::Torchrun || found.size() > 1;
  return are_in_block && is_shown ? RankRange{first, *launch.local_ranks} : RankRange{};
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

std::vector<int> ranks_without_process(const std::vector<JobProcess>& found,
                                       const std::string& proc) {
  std::vector<const JobProcess*> ranks;
  for (const JobProcess& one : found) {
    if (one.launch && (ranks.empty() || are_of_one_job(*ranks.front(), one))) ranks.push_back(&one);
  }
  if (ranks.empty()) return {};
  const RankRange range = ranks_of_this_host(ranks);
  std::set<int> missing;
  for (int rank = range.first;
       rank < range.first + range.count && missing.size() < kMostRanksOfAHost; ++rank) {
    missing.insert(rank);
  }
  for (const JobProcess* one : ranks) missing.erase(one->launch->rank);
  if (missing.empty()) return {};
  // `found` may be some ranks of the job only, which a person names one by one.
  for (const std::string& name : names_or_none(proc)) {
    const auto pid = parse_int(name);
    if (!pid || *pid <= 0) continue;
    auto facts = read_process(*pid, proc);
    if (!facts) continue;
    const JobProcess other{*pid, launch_of(*facts), *std::move(facts)};
    if (are_of_one_job(*ranks.front(), other)) missing.erase(other.launch->rank);
  }
  return {missing.begin(), missing.end()};
}

}  // namespace ringside::attach
