#include "cli/bench/bench_peer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/shipped_file.h"
#include "cli/bench/bench_arguments.h"
#include "cli/command_line.h"
#include "engine/runtime/bootstrap/launch.h"
#include "harness/peer_executor.h"

namespace ringside::cli {
namespace {

Status check_peer_options(const BenchArguments& arguments) {
  for (const auto& [is_given, option] :
       {std::pair(arguments.device != "host", "--device"),
        std::pair(arguments.is_grid(), "--all-algos or --tune"),
        std::pair(!arguments.overlap.empty(), "--overlap"),
        std::pair(arguments.faults.is_any(), "--fault"),
        std::pair(!arguments.transport.empty(), "--transport"),
        std::pair(!arguments.algorithm.empty(), "--algo"),
        std::pair(!arguments.protocol.empty(), "--proto"),
        std::pair(arguments.channels != 0, "--channels"),
        std::pair(!arguments.slot.empty(), "--slot"),
        std::pair(!arguments.trace.empty(), "--trace"),
        std::pair(!arguments.dumps.empty(), "--dumps"), std::pair(arguments.expects, "--expect")}) {
    if (!is_given) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} with --backend {}", option, arguments.backend),
                 "omit it: it applies to ringside's engine"};
  }
  return {};
}

/// Replaces this program by mpirun. Returns only where that fails.
Error start_by_mpirun(int ranks) {
  std::vector<std::string> words{"mpirun",          "-n",        fmt::format("{}", ranks),
                                 "--oversubscribe", "--bind-to", "core:overload-allowed"};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.push_back(running_program());
  const std::vector<std::string> own = command_words();
  words.insert(words.end(), own.begin() + 1, own.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  return {ErrorCode::Unsupported, "--backend mpi: no program mpirun",
          "apt-get install openmpi-bin"};
}

}  // namespace

Status use_peer(const BenchArguments& arguments, BenchOptions& options, ringside::JobOptions& job) {
  RINGSIDE_TRY(check_peer_options(arguments));
  RINGSIDE_TRY(job.make_executor, peer_executor(arguments.backend));
  if (arguments.backend == "mpi") {
    RINGSIDE_TRY(const std::optional<LaunchInfo> launched, launch_from_environment());
    constexpr int kUsual = 2;
    if (!launched) return start_by_mpirun(job.local_ranks.value_or(kUsual));
    job.local_ranks.reset();  // the launcher's
  }
  options.backend = arguments.backend;
  options.in_place = false;
  options.shares_memory = false;
  job.communicator.check_calls = false;  // it takes time that is not the library's
  return {};
}

}  // namespace ringside::cli
