#include <fmt/format.h>

#include <algorithm>

#include "harness/hangs/hang_logs.h"
#include "harness/hangs/log_times.h"

namespace ringside::hangs {
namespace {

/// Prints the lines of torchrun on the culprits' host; the culprits are its children.
class Agent {
 public:
  explicit Agent(const HangCase& hang)
      : hang_(hang), host_(hang.fault.culprits.front() / hang.program.ranks_per_host) {
    const int first = hang.fault.culprits.front();
    const RankEnd& end = hang.play.ranks[static_cast<std::size_t>(first)].end;
    time_ = end.host_time + 2 * kSecond;
    wall_ = hang.evidence.epoch[static_cast<std::size_t>(first)] + time_;
    exit_code_ = end.halt == Halt::Killed ? -9 : 1;
  }

  LogLine lines() {
    const std::vector<int>& culprits = hang_.fault.culprits;
    const int first_rank = host_ * hang_.program.ranks_per_host;
    const int end = std::min(first_rank + hang_.program.ranks_per_host, hang_.program.ranks);
    for (int rank = first_rank; rank < end; ++rank) {
      if (std::find(culprits.begin(), culprits.end(), rank) != culprits.end()) continue;
      say('W', 897, fmt::format("Sending process {} closing signal SIGTERM", pid(rank)));
    }
    const int root = culprits.front();
    say('E', 869,
        fmt::format("failed (exitcode: {}) local_rank: {} (pid: {}) of binary: "
                    "/opt/venv/bin/python3",
                    exit_code_, local(root), pid(root)));
    summary();
    return {time_, text_};
  }

 private:
  static int pid(int rank) { return 4200 + rank; }
  [[nodiscard]] int local(int rank) const { return rank % hang_.program.ranks_per_host; }

  void say(char level, int line, const std::string& what) {
    text_ +=
        fmt::format("{}{}.{:06} {} torch/distributed/elastic/multiprocessing/api.py:{}] {}\n",
                    level, agent_stamp(wall_), wall_ % kSecond / 1000, 4100 + host_, line, what);
  }

  void item(int number, int rank) {
    text_ += fmt::format(
        "[{}]:\n  time      : {}\n  host      : node-{}\n  rank      : {} (local_rank: {})\n"
        "  exitcode  : {} (pid: {})\n  error_file: <N/A>\n  traceback : {}\n",
        number, summary_stamp(wall_), host_, rank, local(rank), exit_code_, pid(rank),
        exit_code_ < 0 ? fmt::format("Signal 9 (SIGKILL) received by PID {}", pid(rank))
                       : "To enable traceback see: "
                         "https://pytorch.org/docs/stable/elastic/errors.html");
  }

  void summary() {
    const std::string rule(60, '=');
    const std::string thin(60, '-');
    text_ += rule + "\ntrain.py FAILED\n" + thin + "\nFailures:\n";
    const std::vector<int>& culprits = hang_.fault.culprits;
    for (std::size_t i = 1; i < culprits.size(); ++i) item(static_cast<int>(i), culprits[i]);
    if (culprits.size() == 1) text_ += "  <NO_OTHER_FAILURES>\n";
    text_ += thin + "\nRoot Cause (first observed failure):\n";
    item(0, culprits.front());
    text_ += rule + "\n";
  }

  const HangCase& hang_;
  int host_;
  std::int64_t time_ = 0;
  std::int64_t wall_ = 0;
  int exit_code_ = 0;
  std::string text_;
};

}  // namespace

std::vector<LogLine> agent_lines(const HangCase& hang) {
  if (!hang.evidence.has_agent) return {};
  return {Agent(hang).lines()};
}

}  // namespace ringside::hangs
