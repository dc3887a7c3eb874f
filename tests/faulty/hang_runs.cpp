// Plants seeded faults in real jobs of 8 ranks and scores what `ringside hang` makes of their dumps.
//
// usage: ringside_hang_runs [FIRST_SEED [COUNT [TIMEOUT_S [FOLDER]]]]
// A folder that is given keeps the dumps of the last run.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "engine/faults/fault_text.h"
#include "tests/faulty/real_hang.h"

using namespace ringside;

int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int count = argc > 2 ? std::atoi(argv[2]) : 200;
  const double timeout_s = argc > 3 ? std::atof(argv[3]) : 1.0;
  const std::string folder =
      argc > 4 ? argv[4]
               : (std::filesystem::temp_directory_path() / fmt::format("hang_runs_{}", ::getpid()))
                     .string();
  int exact = 0;
  int harmless = 0;  // jobs that succeeded: the fault came after their last message
  int wrongly_named = 0;
  double slowest = 0;
  std::map<std::string, std::pair<int, int>> by_kind;
  for (int i = 0; i < count; ++i) {
    const RealHang hang = draw_real_hang(first + static_cast<std::uint64_t>(i));
    const auto verdict = run_and_examine(hang, folder, timeout_s);
    const std::string fault = to_string(hang.plan.faults[0]);
    if (!verdict) {
      fmt::print("{} {} {}: {}\n", hang.seed, hang.workload, fault, verdict.error().message);
      continue;
    }
    if (verdict->error.empty()) {
      ++harmless;
      fmt::print("{:4} well {:9} {}\n", hang.seed, hang.workload, fault);
      continue;
    }
    const bool is_exact = verdict->culprits == hang.culprits && verdict->kind != "no dumps" &&
                          verdict->kind != "not_a_hang";
    const bool is_unjust = verdict->names_healthy(hang);
    exact += is_exact ? 1 : 0;
    wrongly_named += is_unjust ? 1 : 0;
    slowest = std::max(slowest, verdict->run_s + verdict->examine_s);
    auto& [right, all] = by_kind[to_string(hang.plan.faults[0].kind)];
    right += is_exact ? 1 : 0;
    ++all;
    fmt::print("{:4} {} {:9} {:34} {:22} [{}] {:.2f} {:.1f} s | {}\n", hang.seed,
               is_exact    ? "ok  "
               : is_unjust ? "BAD "
                           : "miss",
               hang.workload, fault, verdict->kind, fmt::join(verdict->culprits, ","),
               verdict->confidence, verdict->run_s,
               is_exact ? "" : verdict->why + " || " + verdict->error);
    std::fflush(stdout);
  }
  if (argc <= 4) std::filesystem::remove_all(folder);
  for (const auto& [kind, counts] : by_kind) {
    fmt::print("{:18} {:3} of {:3}\n", kind, counts.first, counts.second);
  }
  const int hung = count - harmless;
  fmt::print(
      "{} jobs ended well; of {} others exact culprits in {} ({:.1f} %), healthy ranks named in "
      "{}, "
      "slowest {:.1f} s with a timeout of {} s\n",
      harmless, hung, exact, 100.0 * exact / std::max(hung, 1), wrongly_named, slowest, timeout_s);
  return 0;
}
