#include "engine/runtime/bootstrap/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "engine/runtime/bootstrap/messages.h"

namespace ringside {
namespace {

/// The variables in which one launcher passes rank, size and so on; null: the launcher has no such variable.
struct Names {
  Launcher launcher;
  const char* rank;
  const char* nranks;
  const char* local_rank;
  const char* local_ranks;
};

constexpr Names kTorchrun{Launcher::Torchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK",
                          "LOCAL_WORLD_SIZE"};
constexpr Names kOpenMpi{Launcher::OpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                         "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names kHydra{Launcher::Hydra, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
                       "MPI_LOCALNRANKS"};

Result<std::optional<int>> read_int(const Environment& environment, const char* name, int least) {
  const std::optional<std::string> text = name == nullptr ? std::nullopt : environment(name);
  if (!text) return std::optional<int>{};
  const Result<std::int64_t> value = parse_int(*text);
  if (!value || *value < least || *value > kMostRanks) {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("environment variable {}='{}' is not a number from {} to {}", name, *text,
                    least, kMostRanks),
        "the launcher sets it; without a launcher, give each process its own rank from 0 up"};
  }
  return std::optional<int>(static_cast<int>(*value));
}

Error contradiction(const char* name, int value, const char* other, int limit) {
  return {ErrorCode::InvalidArgument,
          fmt::format("environment variables {}={} and {}={} contradict each other", name, value,
                      other, limit),
          "unset what an outer shell or launcher has left behind"};
}

Status check(const Names& names, const LaunchInfo& info) {
  if (info.rank >= info.nranks) {
    return contradiction(names.rank, info.rank, names.nranks, info.nranks);
  }
  if (info.local_ranks && *info.local_ranks > info.nranks) {
    return contradiction(names.local_ranks, *info.local_ranks, names.nranks, info.nranks);
  }
  if (info.local_rank && info.local_ranks && *info.local_rank >= *info.local_ranks) {
    return contradiction(names.local_rank, *info.local_rank, names.local_ranks, *info.local_ranks);
  }
  if (info.local_rank && *info.local_rank >= info.nranks) {
    return contradiction(names.local_rank, *info.local_rank, names.nranks, info.nranks);
  }
  return {};
}

Result<std::optional<LaunchInfo>> read(const Environment& environment, const Names& names) {
  RINGSIDE_TRY(const std::optional<int> rank, read_int(environment, names.rank, 0));
  RINGSIDE_TRY(const std::optional<int> nranks, read_int(environment, names.nranks, 1));
  if (!rank && !nranks) return std::optional<LaunchInfo>{};
  if (!rank || !nranks) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("environment variable {} is set, but {} is not",
                             rank ? names.rank : names.nranks, rank ? names.nranks : names.rank),
                 "set both or neither"};
  }
  LaunchInfo info{.launcher = names.launcher, .rank = *rank, .nranks = *nranks};
  RINGSIDE_TRY(info.local_rank, read_int(environment, names.local_rank, 0));
  RINGSIDE_TRY(info.local_ranks, read_int(environment, names.local_ranks, 1));
  RINGSIDE_TRY(check(names, info));
  return std::optional(info);
}

Result<std::optional<LaunchInfo>> read_slurm(const Environment& environment) {
  if (!environment("SLURM_STEP_ID")) return std::optional<LaunchInfo>{};
  const bool has_step_tasks = environment("SLURM_STEP_NUM_TASKS").has_value();
  const Names names{Launcher::Slurm, "SLURM_PROCID",
                    has_step_tasks ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", "SLURM_LOCALID",
                    nullptr};
  RINGSIDE_TRY(std::optional<LaunchInfo> info, read(environment, names));
  if (!info || info->nranks == 1) return std::optional<LaunchInfo>{};
  const std::optional<std::string> tasks = environment("SLURM_STEP_TASKS_PER_NODE");
  RINGSIDE_TRY(const std::optional<int> node, read_int(environment, "SLURM_NODEID", 0));
  if (tasks && node) {
    RINGSIDE_TRY(info->local_ranks, tasks_on_node(*tasks, *node));
  }
  return info;
}

/// Returns whether Slurm's variables apply: `srun --mpi=pmi2` also sets Hydra's variables. Hydra itself, which srun
/// starts once per host, counts ranks differently from Slurm.
bool counts_as_slurm(const Environment& environment, const LaunchInfo& hydra) {
  const auto is = [&](const char* name, int value) {
    return environment(name) == std::to_string(value);
  };
  return environment("SLURM_STEP_ID") && is("SLURM_PROCID", hydra.rank) &&
         (is("SLURM_STEP_NUM_TASKS", hydra.nranks) || is("SLURM_NTASKS", hydra.nranks));
}

}  // namespace

const char* to_string(Launcher launcher) {
  switch (launcher) {
    case Launcher::Torchrun:
      return "torchrun";
    case Launcher::OpenMpi:
      return "Open MPI";
    case Launcher::Hydra:
      return "Hydra";
    case Launcher::Slurm:
      return "Slurm";
  }
  return "unknown";
}

bool is_single_host(const LaunchInfo& info) { return info.local_ranks == info.nranks; }

Result<std::optional<LaunchInfo>> launch_from_environment(const Environment& environment) {
  for (const Names& names : {kTorchrun, kOpenMpi}) {
    RINGSIDE_TRY(std::optional<LaunchInfo> info, read(environment, names));
    if (info) return info;
  }
  RINGSIDE_TRY(std::optional<LaunchInfo> hydra, read(environment, kHydra));
  if (hydra && !counts_as_slurm(environment, *hydra)) return hydra;
  RINGSIDE_TRY(std::optional<LaunchInfo> slurm, read_slurm(environment));
  return slurm ? slurm : hydra;
}

Result<std::string> first_host_of(std::string_view hostlist) {
  const auto bad = [hostlist] {
    return Error{ErrorCode::InvalidArgument, fmt::format("'{}' is not a Slurm host list", hostlist),
                 "it reads like node[03-05,9],gpu1; scontrol show hostnames checks it"};
  };
  std::string host;
  std::string_view rest = hostlist;
  while (!rest.empty() && rest.front() != ',') {
    if (rest.front() == ']') return bad();
    if (rest.front() != '[') {
      host += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return bad();
    const std::string_view first = rest.substr(1, rest.find_first_of(",-]") - 1);
    const bool is_number = !first.empty() && std::ranges::all_of(first, [](char digit) {
      return digit >= '0' && digit <= '9';
    });
    if (!is_number) return bad();
    host += first;
    rest.remove_prefix(end + 1);
  }
  if (host.empty()) return bad();
  return host;
}

Result<int> tasks_on_node(std::string_view tasks_per_node, int node) {
  const auto bad = [tasks_per_node, node] {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' does not say how many tasks node {} has", tasks_per_node, node),
                 "Slurm writes it like 2(x3),1"};
  };
  std::string_view rest = tasks_per_node;
  std::int64_t first = 0;  // first node of this part
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view part = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    std::int64_t nodes = 1;
    if (const std::size_t open = part.find("(x"); open != std::string_view::npos) {
      if (part.back() != ')') return bad();
      const Result<std::int64_t> times = parse_int(part.substr(open + 2, part.size() - open - 3));
      if (!times || *times < 1) return bad();
      nodes = *times;
      part = part.substr(0, open);
    }
    const Result<std::int64_t> tasks = parse_int(part);
    if (!tasks || *tasks < 0 || *tasks > kMostRanks || nodes > kMostRanks) return bad();
    if (node < first + nodes) return static_cast<int>(*tasks);
    first += nodes;
  }
  return bad();
}

}  // namespace ringside
