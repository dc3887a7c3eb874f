#include <memory>

#include "cli/generate/generate_hangs.h"
#include "cli/generate/generate_logs.h"
#include "cli/options.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

struct GenerateArguments {
  LogOptions logs;
  HangOptions hangs;
};

}  // namespace

Verb generate_verb() {
  return {"generate",
          "Make up debug logs or hangs whose truth is known",
          {"ringside generate logs --on dgx-h100 --nodes 2 -o logs/",
           "ringside generate hangs --class shape_mismatch -o hangs/"},
          [](Options& app) {
            auto arguments = std::make_shared<GenerateArguments>();
            Options* logs = app.add_subcommand(
                "logs", "What NCCL would log on every rank, healthy or with a known fault");
            Options* hangs =
                app.add_subcommand("hangs", "What PyTorch and NCCL would leave of jobs that hang");
            add_log_options(*logs, arguments->logs);
            add_hang_options(*hangs, arguments->hangs);
            return [arguments, logs] {
              return logs->parsed() ? generate_logs(arguments->logs)
                                    : generate_hangs(arguments->hangs);
            };
          }};
}

}  // namespace ringside::cli
