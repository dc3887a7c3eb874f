#include "diag/hangdetect/readers/run_lines.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "diag/facts/step_lines.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

using logs::is_letter;

bool holds(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

constexpr std::array kFinished = {
    std::string_view{"training completed"},
    std::string_view{"training complete"},
    std::string_view{"training finished"},
    std::string_view{"training done"},
    std::string_view{"training loop finished"},
    std::string_view{"training loop complete"},
    std::string_view{"finished training"},
    std::string_view{"training is done"},
    std::string_view{"end of training"},
    std::string_view{"end time of running main"},
    std::string_view{"`trainer.fit` stopped"},
    std::string_view{"exits successfully"},
    std::string_view{"successfully finished"},
    std::string_view{"finished successfully"},
    std::string_view{"completed successfully"},
    std::string_view{"exiting program after"},
    std::string_view{"run history:"},
    std::string_view{"'train_runtime'"},
    std::string_view{"job finished"},
    std::string_view{"all done"},
    std::string_view{"# avg bus bandwidth"},
    std::string_view{"reached max_steps"},
    std::string_view{": complete!"},
};

/// Lines of servers that are up and keep running.
constexpr std::array kServes = {
    std::string_view{"application startup complete"},
    std::string_view{"server is ready"},
    std::string_view{"fired up and ready to roll"},
    std::string_view{"uvicorn running on"},
    std::string_view{"running: 0 reqs"},
    std::string_view{"get /health http/1.1\" 200"},
};

/// Warnings of jobs that run well. source  docs/formats 5.2 and the projects' own sources
constexpr std::array kHarmless = {
    std::string_view{"nccl diag [ok]"},  // 2.31: a check found no errors
    std::string_view{"process group has not been destroyed"},
    std::string_view{"destroy_process_group() was not called"},
    std::string_view{"no available shared memory broadcast block found"},
    std::string_view{"no available block found in"},
    std::string_view{"setting omp_num_threads environment variable"},
    std::string_view{"hostname of the client socket cannot be retrieved"},
    std::string_view{"devices used by this process are currently unknown"},
    std::string_view{"as device used by this process is currently unknown"},
    std::string_view{"guessing device id based on global rank"},
    std::string_view{"is deprecated"},
    std::string_view{"futurewarning"},
    std::string_view{"deprecationwarning"},
    std::string_view{"userwarning"},
    std::string_view{"find_unused_parameters=true was specified in ddp constructor"},
    std::string_view{"the ipv6 network addresses of"},
    std::string_view{"nccl_async_error_handling is deprecated"},
    std::string_view{"address family not supported by protocol"},
    std::string_view{"tokenizers_parallelism"},
    std::string_view{"leaked semaphore objects"},
};

constexpr std::array kAlarming = {std::string_view{"timed out"},     std::string_view{"timeout"},
                                  std::string_view{"traceback"},     std::string_view{"error"},
                                  std::string_view{"abort"},         std::string_view{"killed"},
                                  std::string_view{"signal"},        std::string_view{"cancelled"},
                                  std::string_view{"stuck"},         std::string_view{"hang"},
                                  std::string_view{"hung"},          std::string_view{"deadlock"},
                                  std::string_view{"exception"},     std::string_view{"fatal"},
                                  std::string_view{"unreachable"},   std::string_view{"disconnect"},
                                  std::string_view{"failed"},        std::string_view{"failure"},
                                  std::string_view{"out of memory"}, std::string_view{"died"},
                                  std::string_view{"heartbeat"}};

template <typename Words>
bool holds_any(std::string_view text, const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return holds(text, word); });
}

/// Lines in which a scheduler or shell reports a job that ended well: `99120   COMPLETED   0:0`, `exited with code
/// 0`.
bool ended_well(std::string_view text) {
  if (holds(text, "completed")) return holds(text, " 0:0") || holds(text, "exitcode=0:0");
  for (const std::string_view words :
       {"exited with code 0", "exit code: 0", "exited with exit code 0"}) {
    const std::size_t at = text.find(words);
    if (at == std::string_view::npos) continue;
    const std::size_t behind = at + words.size();
    if (behind >= text.size() || !is_letter(text[behind])) return true;
  }
  return false;
}

/// Counters named after errors, at 0: `number of skipped iterations: 0`, `errors=0`.
bool counts_none(std::string_view text) {
  return holds(text, "errors: 0") || holds(text, "errors=0") || holds(text, "0 errors") ||
         holds(text, "0 failed") || holds(text, "failed: 0") || holds(text, "failed=0") ||
         holds(text, "not hang") || holds(text, "n't hang") || holds(text, "no hang");
}

}  // namespace

RunLine read_run_line(std::string_view text) {
  RunLine line;
  const std::string small = lower_case(text.substr(0, 400));
  if (holds_any(small, kHarmless)) {
    line.what = RunLine::What::Harmless;
  } else if (holds_any(small, kFinished) || ended_well(small)) {
    line.what = RunLine::What::Finished;
  } else if (holds_any(small, kServes)) {
    line.what = RunLine::What::Finished;
    line.serves = true;
  } else if (!counts_none(small) && holds_any(small, kAlarming)) {
    line.what = RunLine::What::Alarming;
  } else if (const facts::StepLine step = facts::read_step(small);
             step.step >= 0 || small.starts_with("{'loss': ")) {
    // transformers' Trainer prints what it logs, with the epoch as a fraction.
    line.what = RunLine::What::Step;
    line.step = step.step;
    line.of = step.steps;
  }
  return line;
}

bool shows_long_work(std::string_view text) {
  static constexpr std::array kWords = {
      std::string_view{"saving"},     std::string_view{"downloading"},
      std::string_view{"loading"},    std::string_view{"tokenizing"},
      std::string_view{"compiling"},  std::string_view{"evaluating"},
      std::string_view{"validating"}, std::string_view{"preprocessing"},
      std::string_view{"building"},   std::string_view{"uploading"},
      std::string_view{"generating"}, std::string_view{"merging"},
      std::string_view{"consolidat"}, std::string_view{"writing"},
      std::string_view{"converting"}, std::string_view{"fetching"},
      std::string_view{"map:  "},     std::string_view{"tokenization"},
      std::string_view{"checkpoint"}, std::string_view{"processing"}};
  return holds_any(lower_case(text.substr(0, 400)), kWords);
}

}  // namespace ringside::hang
