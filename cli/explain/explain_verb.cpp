#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/env.h"
#include "cli/explain/decisions_page.h"
#include "cli/explain/explain_exchange.h"
#include "cli/explain/explain_text.h"
#include "cli/explain/upgrade_text.h"
#include "cli/job_options.h"
#include "cli/options.h"
#include "cli/release_note.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

struct ExplainArguments {
  study::ExplainQuestion question;
  bool json = false;
  bool presets = false;
  std::vector<std::string> upgrade;
  bool upgrades = false;
};

bool is_coloured() { return isatty(STDOUT_FILENO) != 0 && !env_text("NO_COLOR"); }

VerbResult run_upgrade(const ExplainArguments& arguments) {
  const study::ExplainQuestion& asked = arguments.question;
  if (!asked.nccl.empty()) {
    return Error{ErrorCode::InvalidArgument, "--upgrade and --nccl both name releases",
                 "omit --nccl"};
  }
  const study::UpgradeQuestion question{asked.job, asked.calls, arguments.upgrade[0],
                                        arguments.upgrade[1]};
  RINGSIDE_TRY(const study::Upgrade upgrade, study::explain_upgrade(question));
  fmt::print("{}",
             arguments.json ? to_text(upgrade_document(upgrade)) : upgrade_text(upgrade, question));
  return kFine;
}

VerbResult print_upgrades(const std::string& only) {
  std::vector<UpgradePart> parts;
  for (const study::UpgradeStep& step : study::upgrade_steps()) {
    RINGSIDE_TRY(std::vector<study::UpgradeRow> rows, study::upgrade_rows(step, only));
    parts.push_back({step, std::move(rows)});
  }
  fmt::print("{}", upgrades_page(parts));
  return kFine;
}

/// Checks that one answer is asked for, in a form that it has.
Status check_form(const ExplainArguments& arguments) {
  const bool is_page = arguments.presets || arguments.upgrades;
  if (int{arguments.presets} + int{arguments.upgrades} + int{!arguments.upgrade.empty()} > 1) {
    return Error{ErrorCode::InvalidArgument,
                 "--presets, --upgrade and --upgrades are separate answers", "give one of them"};
  }
  if (is_page && arguments.json) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--json with {}, which is a Markdown page",
                             arguments.presets ? "--presets" : "--upgrades"),
                 "leave one of them away"};
  }
  return {};
}

VerbResult run(const ExplainArguments& arguments) {
  RINGSIDE_TRY(check_form(arguments));
  const study::ExplainQuestion& question = arguments.question;
  for (const auto* const releases : {&question.nccl, &arguments.upgrade}) {
    for (const std::string& release : *releases) note_unverified(release);
  }
  print_idle_settings(question.job);
  if (arguments.upgrades) return print_upgrades(question.job.on);
  if (!arguments.upgrade.empty()) return run_upgrade(arguments);
  if (arguments.presets) {
    RINGSIDE_TRY(const auto rows, study::decisions(question.job.on));
    fmt::print("{}", decisions_page(rows));
    return kFine;
  }
  RINGSIDE_TRY(const bool is_exchange, study::is_exchange(question));
  if (is_exchange) {
    RINGSIDE_TRY(const study::ExchangeExplanation exchange, study::explain_exchange(question));
    fmt::print("{}", arguments.json ? to_text(exchange_document(exchange))
                                    : exchange_text(exchange, question.job.on));
    return kFine;
  }
  RINGSIDE_TRY(const study::Explained explained, study::explain(question));
  if (arguments.json) {
    fmt::print("{}", to_text(explanation_document(explained)));
    return kFine;
  }
  fmt::print("{}", explanation_text(explained.now, question, is_coloured()));
  if (explained.before) {
    fmt::print("\n{}", comparison_text(*explained.before, explained.now, is_coloured()));
  }
  return kFine;
}

}  // namespace

Verb explain_verb() {
  return {"explain",
          "Show which algorithm and protocol NCCL chooses for each size, and why",
          {"ringside explain all_reduce --bytes 8:8G:2 --on dgx-h100 --nodes 2",
           "ringside explain all_reduce --bytes 1M --on dgx-h100 --nodes 2 --set NCCL_ALGO=Ring "
           "--json"},
          [](Options& app) {
            auto arguments = std::make_shared<ExplainArguments>();
            ExplainArguments& a = *arguments;
            study::CallWords& calls = a.question.calls;
            app.add_option("collective", calls.collective,
                           "all_reduce, all_gather, reduce_scatter, broadcast, reduce; all_to_all, "
                           "send_recv, gather or scatter");
            app.add_option("-b,--bytes", calls.sizes,
                           "size, or from:to:factor; of the larger buffer of a rank")
                ->capture_default_str();
            add_job_options(app, a.question.job)->required(false);
            app.add_option("-t,--type,-d,--datatype", calls.type, "element type")
                ->capture_default_str();
            app.add_option("-o,--op", calls.op, "reduction")->capture_default_str();
            app.add_option(
                   "--nccl", a.question.nccl,
                   "version whose decisions to explain; a second --nccl is compared with the first")
                ->allow_extra_args(false);
            app.add_flag("--presets", a.presets,
                         "a Markdown page of choices on all presets, or on that of --on");
            app.add_option("--upgrade", a.upgrade,
                           "FROM TO: what another version changes here, and what brings it back")
                ->expected(2);
            app.add_flag("--upgrades", a.upgrades,
                         "a Markdown page of that on all presets, or on that of --on");
            app.add_flag("--json", a.json, "one JSON document, ringside.explain/1");
            return [arguments] { return run(*arguments); };
          }};
}

}  // namespace ringside::cli
