#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "cli/job_options.h"
#include "cli/options.h"
#include "cli/trace/subcommands.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

struct Subcommand {
  Options* options;
  std::function<VerbResult()> run;
};

Subcommand declare_info(Options& verb) {
  auto arguments = std::make_shared<InfoArguments>();
  Options* const app = verb.add_subcommand(
      "info",
      "Counts, span, bandwidths; with --on (or if the trace states its hosts) what "
      "ringside sim expects there");
  app->add_option("files", arguments->files,
                  "the .rtrace file; or the files or the folder of a job that PyTorch's "
                  "profiler, nsys export "
                  "--type sqlite, NCCL's Inspector or torchcomms' clog recorded")
      ->required();
  app->add_flag("--calls", arguments->calls,
                "every collective: size, bandwidth, skew, the last rank");
  app->add_flag("--all", arguments->all, "every channel and call, however many");
  add_job_options(*app, arguments->job)->required(false);
  app->add_flag("--json", arguments->json, "one JSON document on stdout");
  return {app, [arguments] { return run_info(*arguments); }};
}

Subcommand declare_export(Options& verb) {
  auto arguments = std::make_shared<ExportArguments>();
  Options* const app = verb.add_subcommand("export", "Write it in another format");
  app->add_flag("--perfetto", arguments->to_perfetto,
                "Chrome's JSON, for ui.perfetto.dev and chrome://tracing");
  app->add_output("--html", arguments->html, ContentKind::WebPage,
                  "one page that plays it in a browser, written here");
  app->add_option("file", arguments->file, "the .rtrace file")->required();
  app->add_output("-o,--out", arguments->out, ContentKind::PerfettoJson,
                  "where to; - is stdout (default: FILE with .json)");
  return {app, [arguments, app] { return run_export(*arguments, *app); }};
}

void add_merged_file(Options& app, MergeArguments& arguments) {
  app.add_output("-o,--out", arguments.out, ContentKind::Trace, "the .rtrace file to be written")
      ->required();
}

Subcommand declare_merge(Options& verb) {
  auto arguments = std::make_shared<MergeArguments>();
  Options* const app =
      verb.add_subcommand("merge", "One file of several hosts' or processes', clocks aligned");
  app->add_option("files", arguments->files,
                  "the .rtrace files of one job; the first one's clock stays")
      ->required();
  add_merged_file(*app, *arguments);
  app->add_flag("--json", arguments->json, "one JSON document on stdout");
  return {app, [arguments] { return run_merge(*arguments); }};
}

Subcommand declare_import(Options& verb) {
  auto arguments = std::make_shared<MergeArguments>();
  Options* const app =
      verb.add_subcommand("import", "Make an .rtrace file of what other tools recorded");
  app->add_option("files", arguments->files, "as for info")->required();
  add_merged_file(*app, *arguments);
  return {app, [arguments] { return run_import(*arguments); }};
}

}  // namespace

Verb trace_verb() {
  return {
      "trace",
      "Look into an .rtrace file, export it for Perfetto or a browser, merge those of several "
      "hosts",
      {"ringside trace info run.rtrace", "ringside trace export --perfetto run.rtrace -o run.json"},
      [](Options& app) -> std::function<VerbResult()> {
        const Subcommand info = declare_info(app);
        const Subcommand exporting = declare_export(app);
        const Subcommand merge = declare_merge(app);
        const Subcommand importing = declare_import(app);
        return [all = std::array{info, exporting, merge, importing}] {
          return std::ranges::find_if(all,
                                      [](const Subcommand& one) { return one.options->parsed(); })
              ->run();
        };
      }};
}

}  // namespace ringside::cli
