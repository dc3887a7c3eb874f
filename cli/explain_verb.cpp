#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "cli/decisions_page.h"
#include "cli/explain_text.h"
#include "cli/job_options.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

struct ExplainArguments {
  std::string collective;
  std::string sizes = "8:8G:2";
  std::string type = "float";
  std::string op = "sum";
  JobOptions job;
  std::vector<std::string> nccl;
  bool json = false;
  bool presets = false;
};

/// One side of a comparison: what is set, and whose model.
struct Side {
  std::vector<std::string> set;
  std::string nccl{kNewestTuning};
  friend bool operator==(const Side&, const Side&) = default;
};

Result<Explanation> explain_side(const ExplainArguments& arguments, const Side& side) {
  TuningCall call;
  RINGSIDE_TRY(call.collective, parse_collective(arguments.collective));
  RINGSIDE_TRY(call.type, parse_data_type(arguments.type));
  RINGSIDE_TRY(call.op, parse_redop(arguments.op));
  RINGSIDE_TRY(const std::vector<Bytes> sizes, parse_size_range(arguments.sizes));
  RINGSIDE_TRY(const Environment environment, environment_with(side.set));
  RINGSIDE_TRY(const TuningParameters parameters, parse_tuning_parameters(environment));
  RINGSIDE_TRY(const Job job, job_of(arguments.job, environment));
  RINGSIDE_TRY(Tuner tuner, Tuner::make(job.connection.shape, parameters, side.nccl));
  std::string label = fmt::format("NCCL {}", tuner.model().patch);
  for (const std::string& setting : side.set) label += ", " + setting;
  return make_explanation(std::move(label), std::move(tuner), call, sizes);
}

std::string head_of(const ExplainArguments& arguments, const Explanation& explanation) {
  const CommShape& shape = explanation.tuner.shape();
  std::string channels = fmt::format("{} channels", shape.nchannels);
  if (shape.nvls_channels > 0) channels += fmt::format(" ({} of NVLS)", shape.nvls_channels);
  return fmt::format("{} of {} on {}: {} rank{}, {} node{}, {}\n{}", arguments.collective,
                     to_string(explanation.call.type), arguments.job.on, shape.nranks,
                     shape.nranks == 1 ? "" : "s", shape.nnodes, shape.nnodes == 1 ? "" : "s",
                     channels, explanation.label);
}

bool is_coloured() { return isatty(STDOUT_FILENO) != 0 && !env_text("NO_COLOR"); }

/// --nccl A is compared with the newest, --nccl A --nccl B with each other; --set with not setting it.
std::optional<Side> before_of(const ExplainArguments& arguments, const Side& after) {
  Side before;
  if (arguments.nccl.size() == 2) before = {arguments.job.set, arguments.nccl[0]};
  if (before == after) return std::nullopt;
  return before;
}

VerbResult run(const ExplainArguments& arguments) {
  if (arguments.presets) {
    RINGSIDE_TRY(const std::string page, decisions_page(arguments.job.on));
    fmt::print("{}", page);
    return kFine;
  }
  if (arguments.collective.empty() || arguments.job.on.empty()) {
    return Error{ErrorCode::InvalidArgument, "explain needs a collective and --on",
                 "such as ringside explain all_reduce --on dgx-h100 --nodes 2"};
  }
  if (arguments.nccl.size() > 2) {
    return Error{ErrorCode::InvalidArgument, "more than two versions cannot stand side by side",
                 "give --nccl once or twice"};
  }
  Side after{arguments.job.set, std::string(kNewestTuning)};
  if (!arguments.nccl.empty()) after.nccl = arguments.nccl.back();
  RINGSIDE_TRY(const Explanation explanation, explain_side(arguments, after));
  const std::optional<Side> other = before_of(arguments, after);
  std::optional<Explanation> before;
  if (other) {
    RINGSIDE_TRY(before, explain_side(arguments, *other));
  }
  if (arguments.json) {
    fmt::print("{}", to_text(explanation_document(explanation, before ? &*before : nullptr)));
    return kFine;
  }
  fmt::print("{}", explanation_text(explanation, head_of(arguments, explanation), is_coloured()));
  if (before) fmt::print("\n{}", comparison_text(*before, explanation, is_coloured()));
  return kFine;
}

}  // namespace

Verb explain_verb() {
  return {
      "explain",
      "Tell which algorithm and protocol NCCL chooses for each size, and why",
      {"ringside explain all_reduce --bytes 8:8G:2 --on dgx-h100 --nodes 2",
       "ringside explain all_reduce --bytes 1M --on dgx-h100 --nodes 2 --set NCCL_ALGO=Ring "
       "--json"},
      [](CLI::App& app) {
        auto arguments = std::make_shared<ExplainArguments>();
        ExplainArguments& a = *arguments;
        app.add_option("collective", a.collective,
                       "all_reduce, all_gather, reduce_scatter, broadcast or reduce");
        app.add_option("-b,--bytes", a.sizes,
                       "size, or from:to:factor; of the larger buffer of a rank")
            ->capture_default_str();
        add_job_options(app, a.job);
        app.get_option("--on")->required(false);
        app.add_option("-t,--type,-d,--datatype", a.type, "element type")->capture_default_str();
        app.add_option("-o,--op", a.op, "reduction")->capture_default_str();
        app.add_option("--nccl", a.nccl,
                       "version whose cost model to use; another beside it, or one given before it")
            ->allow_extra_args(false);
        app.add_flag("--presets", a.presets,
                     "a Markdown page of choices on all presets, or on that of --on");
        app.add_flag("--json", a.json, "one JSON document, ringside.explain/1");
        return [arguments] { return run(*arguments); };
      }};
}

}  // namespace ringside::cli
