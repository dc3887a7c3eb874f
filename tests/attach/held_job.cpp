// A job of 8 real ranks, processes of their own, that a seeded fault hangs. It answers RAS requests until its calls time out;
// a rank that notices a failure earlier does not end before that either, as a trainer that catches the error.
//
// usage: ringside_held_job SEED PORT HOLD_S
// The first line on stdout is the truth, as JSON; the last is how the job ended.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "engine/faults/fault_text.h"
#include "harness/job.h"
#include "harness/program_run.h"
#include "tests/faulty/real_hang.h"

using namespace ringside;

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: ringside_held_job SEED PORT HOLD_S\n");
    return 2;
  }
  const RealHang hang = draw_real_hang(std::strtoull(argv[1], nullptr, 10));
  const Seconds hold{std::atof(argv[3])};
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(hold);
  fmt::print("{{\"fault\": \"{}\", \"workload\": \"{}\", \"culprits\": [{}]}}\n",
             to_string(hang.plan.faults[0]), hang.workload, fmt::join(hang.culprits, ", "));
  std::fflush(stdout);
  // Ranks do not compare their calls: a difference hangs them, as it hangs NCCL.
  ::setenv("RINGSIDE_CHECK", "0", 1);
  JobOptions job;
  job.local_ranks = hang.program.ranks;
  job.communicator.op_timeout = hold;
  job.grace = hold;
  job.faults = hang.plan;
  job.status_port = static_cast<std::uint16_t>(std::atoi(argv[2]));
  const auto status = run_job(job, [&](JobRank& rank) {
    auto ended = run_program(rank, hang.program);
    if (!ended) std::this_thread::sleep_until(until);
    return ended;
  });
  fmt::print("{}\n", status ? "ended well" : to_string(status.error().code));
  return status ? 0 : 3;
}
