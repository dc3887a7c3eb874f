#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/folder.h"
#include "base/json.h"
#include "base/output_file.h"
#include "base/text.h"
#include "cli/attach/attach_answer.h"
#include "cli/attach/attach_watch.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

constexpr std::uint16_t kRasPort = 28028;

struct AttachArguments {
  std::vector<std::string> hosts;
  std::vector<std::string> workers;
  std::string store;
  std::vector<std::string> pids;
  std::string save;
  std::string metrics;
  double timeout_s = 12;
  double interval_s = 1;
  double watch_for_s = 0;
  int reports = 3;
  bool watches = false;
  bool diagnoses = false;
  bool uses_pipes = false;
  bool json = false;
};

Status check_range(const char* option, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("{} {}", option, value),
               fmt::format("give {} to {} seconds", least, most)};
}

Result<attach::Request> request_of(const AttachArguments& arguments) {
  attach::Request request;
  RINGSIDE_TRY(check_range("--timeout", arguments.timeout_s, 1, 600));
  RINGSIDE_TRY(check_range("--watch-for", arguments.watch_for_s, 0, 1e9));
  RINGSIDE_TRY(check_range("--interval", arguments.interval_s, 0.1, 60));
  if (arguments.reports < 2 || arguments.reports > 100) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--reports {}", arguments.reports),
                 "give 2 to 100"};
  }
  request.timeout = Seconds{arguments.timeout_s};
  request.interval = Seconds{arguments.interval_s};
  request.reports = arguments.reports;
  request.diagnoses = arguments.diagnoses;
  request.uses_pipes = arguments.uses_pipes;
  for (const std::string& text : arguments.hosts) {
    RINGSIDE_TRY(const HostPort host, attach::parse_host(text, kRasPort));
    request.services.push_back(host);
  }
  for (const std::string& text : arguments.workers) {
    RINGSIDE_TRY(const attach::Place place, attach::parse_place(text));
    request.workers.push_back(place);
  }
  if (!arguments.store.empty()) {
    constexpr std::uint16_t kStorePort = 29500;
    RINGSIDE_TRY(request.store, attach::parse_host(arguments.store, kStorePort));
  }
  for (const std::string& text : arguments.pids) {
    const auto pid = parse_int(text);
    if (!pid || *pid < 1 || *pid > (std::int64_t{1} << 22)) {
      return Error{ErrorCode::InvalidArgument, fmt::format("--pid {}", text),
                   "give the number of a process of this host"};
    }
    request.pids.push_back(*pid);
  }
  const bool has_others =
      !request.workers.empty() || request.store.has_value() || !request.pids.empty();
  if (request.services.empty() && !has_others) request.services.push_back({"localhost", kRasPort});
  return request;
}

VerbResult run_attach(const AttachArguments& arguments) {
  RINGSIDE_TRY(attach::Request request, request_of(arguments));
  if (arguments.watches) {
    const bool asks_others = !request.workers.empty() || request.store.has_value() ||
                             !request.pids.empty() || request.uses_pipes || request.diagnoses;
    if (request.services.empty() || asks_others || !arguments.save.empty()) {
      return Error{ErrorCode::InvalidArgument, "--watch asks a RAS service, and keeps nothing",
                   "name the service (HOST:PORT); omit --worker, --store, --pid, --pipe, "
                   "--diagnostics and --save"};
    }
    WatchSettings settings{request, Seconds{arguments.watch_for_s}, arguments.metrics,
                           arguments.json};
    auto status = watch_job(settings);
    if (!status) return with_attach_help(status.error());
    return status;
  }
  if (!arguments.metrics.empty()) {
    return Error{ErrorCode::InvalidArgument, "--metrics without --watch",
                 "add --watch: metrics are written as long as the job is watched"};
  }
  if (arguments.watch_for_s > 0) {
    return Error{ErrorCode::InvalidArgument, "--watch-for without --watch",
                 "add --watch, or omit it: --timeout limits a single question"};
  }
  Progress progress("attach");
  const auto on_step = [&](const std::string& line) {
    progress.erase();
    fmt::print(stderr, "attach: {}\n", line);
  };
  if (!arguments.save.empty()) RINGSIDE_TRY(make_empty_folder(arguments.save));
  auto answer = arguments.save.empty() ? ask_job(request, on_step)
                                       : ask_job(request, arguments.save, on_step);
  if (!answer) return with_attach_help(answer.error());
  progress.erase();
  if (!arguments.save.empty()) {
    fmt::print(stderr, "note: the files are in {}: ringside hang {}\n", arguments.save,
               arguments.save);
  }
  fmt::print("{}", arguments.json ? to_text(answer_json(**answer)) : answer_text(**answer));
  return answer_status(**answer);
}

}  // namespace

Verb attach_verb() {
  return {
      "attach",
      "Ask a running job why it hangs: reports, dumps, stacks, and the verdict of hang",
      {"ringside attach localhost:28028", "ringside attach --watch --metrics :9400"},
      [](Options& app) {
        auto arguments = std::make_shared<AttachArguments>();
        AttachArguments& a = *arguments;
        app.add_option("host", a.hosts,
                       "RAS services of the job, HOST[:PORT], asked until one answers (default: "
                       "localhost:28028)");
        app.add_option("--worker", a.workers,
                       "the control plane of one process, as PyTorch serves it: HOST:PORT, an "
                       "http:// address or the path of a Unix socket; once for each rank, in order")
            ->allow_extra_args(false);
        app.add_option("--store", a.store,
                       "the job's TCPStore, HOST[:PORT] (MASTER_ADDR:MASTER_PORT; default port "
                       "29500), which lists the control planes; PyTorch 2.10 and later only");
        app.add_option("--pid", a.pids,
                       "also read the stack of this process of this host, by py-spy or gdb; of a "
                       "launcher (torchrun, mpirun, a script), the stacks of its ranks; may be "
                       "repeated")
            ->allow_extra_args(false);
        app.add_flag("--pipe", a.uses_pipes,
                     "also request dumps through the pipes of TORCH_NCCL_DEBUG_INFO_PIPE_FILE: the "
                     "processes of this host write their dump files");
        app.add_flag("--diagnostics", a.diagnoses,
                     "also let RAS compare GPUs, drivers, links and NCCL variables of all ranks "
                     "(NCCL 2.31 and later)");
        app.add_option("--timeout", a.timeout_s,
                       "seconds for everything except stacks of --pid (default: 12)");
        app.add_option("--interval", a.interval_s, "seconds between two reports (default: 1)");
        app.add_option("--reports", a.reports,
                       "reports in a row that decide whether ranks move (default: 3)");
        app.add_option("--save", a.save,
                       "keep all that came in this new folder; ringside hang reads it");
        app.add_flag(
            "--watch", a.watches,
            "stay, and print a line when the job moves, hangs or ends; waits for a job that has "
            "not begun");
        app.add_option("--watch-for", a.watch_for_s,
                       "stop watching after this many seconds (default: 0, when the job ends)");
        app.add_output("--metrics", a.metrics, ContentKind::Text,
                       "with --watch: write OpenMetrics to this file, or serve them at :PORT of "
                       "loopback");
        app.add_flag("--json", a.json,
                     "one JSON document on stdout; with --watch, one on a line for each change");
        return [arguments] { return run_attach(*arguments); };
      }};
}

}  // namespace ringside::cli
