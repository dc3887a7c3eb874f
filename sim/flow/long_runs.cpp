#include "sim/flow/long_runs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ringside {
namespace {

constexpr std::int32_t kLong = 1024;  // steps; shorter runs are simulated step by step

}  // namespace

std::optional<LongRuns> LongRuns::find(const EventJob& job) {
  if (!job.is_even) return std::nullopt;
  std::int32_t length = 0;
  std::vector<int> runs(job.ends.size());  // [end]: number of runs that use it
  for (const EventTask& task : job.tasks) {
    for (const StepRun& run : task.program().steps) {
      if (run.repeat < kLong) continue;
      if (run.from_stride != 0 || run.to_stride != 0) return std::nullopt;
      if (length != 0 && run.repeat != length) return std::nullopt;
      length = run.repeat;
      const auto count = [&runs](const std::vector<std::int32_t>& ends) {
        return [&](int port) {
          ++runs[static_cast<std::size_t>(ends[static_cast<std::size_t>(port)])];
        };
      };
      for_each_port(run.from, count(task.recv));
      for_each_port(run.to, count(task.send));
    }
  }
  if (length == 0) return std::nullopt;
  const bool fits = std::ranges::all_of(job.lines, [&](const EventLine& line) {
    const int sent = runs[static_cast<std::size_t>(line.senders.front())];
    const auto is_sent = [&](std::int32_t end) {
      return runs[static_cast<std::size_t>(end)] == sent;
    };
    return std::ranges::all_of(line.senders, is_sent) &&
           std::ranges::all_of(line.receivers, is_sent);
  });
  if (!fits) return std::nullopt;
  return LongRuns(length);
}

EventJob LongRuns::shortened(const EventJob& job, std::int32_t length) const {
  EventJob shorter = job;
  std::map<std::shared_ptr<const Program>, std::shared_ptr<const Program>> known;
  for (EventTask& task : shorter.tasks) {
    std::shared_ptr<const Program>& program = known[task.steps_of.program];
    if (program == nullptr) {
      Program made = task.program();
      for (StepRun& run : made.steps) {
        if (run.repeat == length_) run.repeat = length;
      }
      program = std::make_shared<const Program>(std::move(made));
    }
    task.steps_of.program = program;
  }
  return shorter;
}

}  // namespace ringside
