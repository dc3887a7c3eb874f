#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/wording.h"
#include "base/write_file.h"
#include "cli/options.h"
#include "cli/plots/errors_plot.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "study/validate/validation.h"

namespace ringside::cli {
namespace {

using study::ErrorSummary;
using study::SystemScore;
using study::Validation;

struct ValidateArguments {
  study::ValidationQuestion question;
  std::string page;
  std::string plot;
  bool json = false;
};

std::string percent(const ErrorSummary& summary, double value, bool has_sign = false) {
  if (summary.rows == 0) return "-";
  return has_sign ? fmt::format("{:+.1f}", 100 * value) : fmt::format("{:.1f}", 100 * value);
}

std::string title_of(const SystemScore& system) {
  return system.name + (system.is_apart ? " (another library)" : "");
}

/// Rows with the same error.
struct Failed {
  const study::ScoredRow* row = nullptr;  ///< the first of these rows
  Bytes least, most;
  std::size_t count = 0;
};

std::vector<Failed> failed_of(const Validation& validation) {
  std::vector<Failed> all;
  for (const study::ScoredRow& row : validation.rows) {
    if (row.error.empty()) continue;
    const Bytes bytes = row.measured->bytes;
    const auto known = std::ranges::find_if(all, [&](const Failed& one) {
      return one.row->measured->system == row.measured->system &&
             one.row->measured->collective == row.measured->collective &&
             one.row->error == row.error;
    });
    if (known == all.end()) {
      all.push_back({&row, bytes, bytes, 1});
      continue;
    }
    known->least = std::min(known->least, bytes);
    known->most = std::max(known->most, bytes);
    ++known->count;
  }
  return all;
}

void print_table(const Validation& validation) {
  fmt::print(
      "# |simulated - measured| / measured, in %: median, 90th percentile; bias: below 0 is too "
      "fast\n");
  fmt::print("{:<46}", "# system");
  for (std::size_t i = 0; i < kSizeClasses; ++i) {
    fmt::print("| {:<17} median    p90   bias rows ", study::name_of_size_class(i));
  }
  fmt::print("\n");
  const auto print = [](const std::string& name,
                        const std::array<ErrorSummary, kSizeClasses>& all) {
    fmt::print("{:<46}", name);
    for (const ErrorSummary& one : all) {
      fmt::print("| {:>24}{:>7}{:>7}{:>5} ", percent(one, one.median), percent(one, one.p90),
                 percent(one, one.bias, true), one.rows);
    }
    fmt::print("\n");
  };
  for (const SystemScore& system : validation.systems) print(title_of(system), system.simulated);
  print("# medians over systems: simulated", validation.simulated);
  print("# medians over systems: NCCL's own model", validation.nccl);
  fmt::print(
      "# the stated typical error covers {:.0f} % of the rows: {:.0f}, {:.0f} and {:.0f} % by "
      "size\n",
      100 * validation.covered_all, 100 * validation.covered[0], 100 * validation.covered[1],
      100 * validation.covered[2]);
  for (const auto& [system, why] : validation.skipped)
    fmt::print("# skipped: {}: {}\n", system, why);
  for (const Failed& one : failed_of(validation)) {
    const std::string sizes = one.least == one.most
                                  ? fmt::format("{} B", one.least.value)
                                  : fmt::format("{} to {} B", one.least.value, one.most.value);
    fmt::print("# not simulated: {}, {} of {} ({}): {}\n", one.row->measured->system,
               one.row->measured->collective, sizes, plural(one.count, "row", "rows"),
               one.row->error);
  }
}

std::string row_of(const std::string& name, const std::array<ErrorSummary, kSizeClasses>& all) {
  std::string row = fmt::format("| {} |", name);
  for (const ErrorSummary& one : all) {
    row += fmt::format(" {} | {} | {} | {} |", percent(one, one.median), percent(one, one.p90),
                       percent(one, one.bias, true), one.rows);
  }
  return row + "\n";
}

/// Returns the tables of docs/lab/accuracy.md.
std::string page_of(const Validation& validation) {
  std::string page = "| system |";
  std::string line = "|---|";
  for (std::size_t i = 0; i < kSizeClasses; ++i) {
    page += fmt::format(" {}: median | p90 | bias | rows |", study::name_of_size_class(i));
    line += "---|---|---|---|";
  }
  page += "\n" + line + "\n";
  page += row_of("**medians over systems: simulated**", validation.simulated);
  page += row_of("**medians over systems: NCCL's own model**", validation.nccl);
  for (const SystemScore& system : validation.systems) {
    page += row_of(title_of(system), system.simulated);
  }
  return page;
}

Json document_of(const std::array<ErrorSummary, kSizeClasses>& all) {
  Json classes = Json::array();
  for (std::size_t i = 0; i < kSizeClasses; ++i) {
    const ErrorSummary& one = all[i];
    Json entry{{"sizes", study::name_of_size_class(i)}, {"rows", one.rows}, {"failed", one.failed}};
    if (one.rows > 0) {
      entry["median"] = one.median;
      entry["p90"] = one.p90;
      entry["bias"] = one.bias;
    }
    classes.push_back(std::move(entry));
  }
  return classes;
}

Json document_of(const Validation& validation, const study::ValidationQuestion& question) {
  Json systems = Json::array();
  for (const SystemScore& system : validation.systems) {
    systems.push_back({{"system", system.name},
                       {"other_library", system.is_apart},
                       {"simulated", document_of(system.simulated)},
                       {"nccl", document_of(system.nccl)}});
  }
  Json rows = Json::array();
  for (const study::ScoredRow& row : validation.rows) {
    Json entry{{"system", row.measured->system},
               {"collective", row.measured->collective},
               {"ranks", row.measured->ranks},
               {"nodes", row.measured->nodes},
               {"bytes", row.measured->bytes.value},
               {"measured_us", in_us(row.measured->time)},
               {"simulated_us", nullptr},
               {"nccl_us", nullptr}};
    if (row.simulated) entry["simulated_us"] = in_us(*row.simulated);
    if (row.nccl) entry["nccl_us"] = in_us(*row.nccl);
    if (row.simulated) {
      entry["group"] = to_string(row.group);
      entry["net"] = to_string(row.surroundings.net);
      entry["launch"] = to_string(row.surroundings.launch);
      entry["algorithm"] = to_string(row.choice.algorithm);
      entry["protocol"] = to_string(row.choice.protocol);
      entry["nchannels"] = row.choice.nchannels;
      entry["busiest_us"] = in_us(row.busiest);
      entry["error_percent"] = row.error_percent;
    }
    if (!row.error.empty()) entry["error"] = row.error;
    rows.push_back(std::move(entry));
  }
  return {
      {"schema", "ringside.validate/1"},
      {"fidelity", question.fidelity},
      {"medians_over_systems",
       {{"simulated", document_of(validation.simulated)}, {"nccl", document_of(validation.nccl)}}},
      {"covered", validation.covered_all},
      {"covered_by_size", validation.covered},
      {"systems", std::move(systems)},
      {"rows", std::move(rows)}};
}

VerbResult run(const ValidateArguments& arguments) {
  Progress progress("validating");
  RINGSIDE_TRY(const Validation validation,
               study::validate(arguments.question, [&](double share, const std::string& system) {
                 progress.show(share, system);
               }));
  progress.erase();
  if (!arguments.page.empty()) {
    RINGSIDE_TRY(write_file(arguments.page, page_of(validation)));
  }
  if (!arguments.plot.empty()) {
    RINGSIDE_TRY(write_file(arguments.plot, errors_svg(validation)));
  }
  if (arguments.json) {
    fmt::print("{}", to_text(document_of(validation, arguments.question)));
  } else {
    print_table(validation);
  }
  const auto is_simulated = [](const study::ScoredRow& row) { return row.simulated.has_value(); };
  return std::ranges::any_of(validation.rows, is_simulated) ? kFine : kFinding;
}

}  // namespace

Verb validate_verb() {
  return {"validate",
          "Hold the simulator against published measurements",
          {"ringside validate published --machines published/machines",
           "ringside validate published --machines published/machines --only h100 --json"},
          [](Options& app) {
            auto arguments = std::make_shared<ValidateArguments>();
            study::ValidationQuestion& question = arguments->question;
            app.add_option("folder", question.published, "with systems.csv and measured.csv")
                ->required();
            app.add_option("--machines", question.machines,
                           "folder with SYSTEM.yaml, or SYSTEM@G.yaml for G ranks a node")
                ->required();
            app.add_option("--only", question.only, "systems with this in their names");
            app.add_option("--fidelity", question.fidelity, "as of sim")->capture_default_str();
            app.add_option("--model", question.model,
                           "as of sim: a sim-model/1 with your constants");
            app.add_output("--page", arguments->page, ContentKind::AccuracyTable,
                           "write the tables in Markdown here");
            app.add_output("--plot", arguments->plot, ContentKind::Svg,
                           "draw simulated over measured times into this SVG file");
            app.add_flag("--json", arguments->json, "one JSON document on stdout");
            return [arguments] { return run(*arguments); };
          }};
}

}  // namespace ringside::cli
