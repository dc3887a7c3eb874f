#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/write_file.h"
#include "cli/hang/hang_live.h"
#include "cli/hang/hang_watch.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "diag/hangdetect/examine.h"
#include "diag/report/call_table.h"
#include "diag/report/finding_pages.h"
#include "diag/report/hang_report.h"
#include "study/scenario/synthesis.h"

namespace ringside::cli {
namespace {

struct HangArguments {
  std::vector<std::string> paths;
  std::string html;
  std::string watch;
  std::string about;
  double watch_for_s = 0;
  std::optional<int> live;
  bool json = false;
  bool verify = false;
  bool table = false;  ///< prints the latest collectives of each rank
};

int status_of(const hang::Verdict& verdict) {
  return verdict.best.kind == hang::Kind::NotAHang ? kFine : kFinding;
}

Json document_of(const std::vector<study::Hypothesis>& tried) {
  Json list = Json::array();
  for (const study::Hypothesis& one : tried) {
    list.push_back({{"kind", hang::to_string(one.kind)},
                    {"culprits", one.culprits},
                    {"likelihood", one.likelihood},
                    {"misfit", one.misfit},
                    {"what", one.what}});
  }
  return list;
}

const char* support_text(study::Support support) {
  switch (support) {
    case study::Support::Agrees:
      return "the most likely fault has the same culprits as the verdict";
    case study::Support::Undecided:
      return "faults of different ranks would leave the same dumps: they cannot be distinguished "
             "here";
    case study::Support::Differs:
      return "the most likely fault has other culprits than the verdict, which also uses logs and "
             "stacks";
    case study::Support::Nothing:
      break;
  }
  return "";
}

void print_tried(const hang::Explanation& verdict, const std::vector<study::Hypothesis>& tried) {
  if (tried.empty()) {
    fmt::print("by synthesis: no dump has a pending call\n");
    return;
  }
  fmt::print("by synthesis: how well the dumps that each fault would leave match these dumps\n");
  for (const study::Hypothesis& one : tried) {
    constexpr double kShown = 0.001;
    if (one.likelihood < kShown) continue;
    fmt::print("  {:>6.1f} %  {:<22} {}\n", 100 * one.likelihood, hang::to_string(one.kind),
               one.what);
  }
  fmt::print("  {}\n", support_text(study::support_of(verdict, tried)));
  fmt::print(
      "  shares are of the faults tried, by the dumps alone; the confidence of {:.2f} states how "
      "complete the\n  evidence for the verdict is, logs and stacks included\n",
      verdict.confidence);
}

VerbResult show(const hang::Examination& all, const HangArguments& arguments) {
  if (!arguments.html.empty()) {
    RINGSIDE_TRY(write_file(arguments.html, hang::report_html(all)));
    fmt::print(stderr, "note: the page is in {}\n", arguments.html);
  }
  Json document;
  if (arguments.json) {
    document = hang::report_json(all);
    if (arguments.table) {
      document["tables"] = hang::call_tables_json(all);
      document["transfers"] = hang::transfer_tables_json(all);
    }
    if (arguments.verify) {
      const std::vector<study::Hypothesis> tried = study::synthesize(all);
      document["synthesis"] = document_of(tried);
      document["synthesis_says"] = to_string(study::support_of(all.verdict.best, tried));
    }
  }
  fmt::print("{}", arguments.json ? to_text(document) : hang::report_text(all));
  if (arguments.table && !arguments.json) fmt::print("\n{}", hang::call_tables_text(all));
  if (arguments.verify && !arguments.json) print_tried(all.verdict.best, study::synthesize(all));
  return status_of(all.verdict);
}

/// Returns the page of a kind, also by the name of its file (hang_p2p_unmatched), or all pages.
Result<std::string> about_text(const std::string& kind) {
  constexpr std::string_view kPrefix = "hang_";
  if (kind == "all") {
    std::string text;
    for (const FindingPage& page : kFindingPages) {
      if (!page.name.starts_with(kPrefix)) continue;
      if (!text.empty()) text += '\n';
      text += page.text;
    }
    return text;
  }
  const std::string_view name = kind;
  RINGSIDE_TRY(const std::string_view page,
               hang::page_of(name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name));
  return std::string(page);
}

/// Checks that the dumps are named in one way.
Status check_source(const HangArguments& arguments) {
  std::vector<std::string_view> given;
  if (!arguments.paths.empty()) given.emplace_back("a folder or file");
  if (!arguments.about.empty()) given.emplace_back("--about");
  if (!arguments.watch.empty()) given.emplace_back("--watch");
  if (arguments.live) given.emplace_back("--live");
  if (given.size() < 2) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("{} at once", fmt::join(given, " and ")),
               "give one of them"};
}

VerbResult run_hang(const HangArguments& arguments) {
  RINGSIDE_TRY(check_source(arguments));
  if (!arguments.about.empty()) {
    RINGSIDE_TRY(const std::string text, about_text(arguments.about));
    fmt::print("{}", text);
    return kFine;
  }
  if (!arguments.watch.empty()) {
    RINGSIDE_TRY(const auto all, watch_for_hang(arguments.watch, Seconds{arguments.watch_for_s}));
    if (all == nullptr) return kFine;
    return show(*all, arguments);
  }
  if (arguments.live) {
    if (*arguments.live < 1 || *arguments.live > 65535) {
      return Error{ErrorCode::InvalidArgument, fmt::format("--live {}", *arguments.live),
                   "give a port from 1 to 65535"};
    }
    RINGSIDE_TRY(const auto all, examine_live(static_cast<std::uint16_t>(*arguments.live)));
    return show(*all, arguments);
  }
  if (arguments.paths.empty()) {
    return Error{ErrorCode::InvalidArgument, "nothing to look at",
                 "name the folder that holds the job's dumps and logs: ringside hang dumps/"};
  }
  RINGSIDE_TRY(const hang::Examination all, hang::examine(arguments.paths));
  RINGSIDE_TRY(hang::check_anything_read(all, arguments.paths));
  return show(all, arguments);
}

}  // namespace

Verb hang_verb() {
  return {
      "hang",
      "Find the rank that hung a job, the call, and the cause",
      {"ringside hang dumps/", "ringside hang --json dumps/"},
      [](Options& app) {
        auto arguments = std::make_shared<HangArguments>();
        HangArguments& a = *arguments;
        app.add_option("what", a.paths,
                       "folders and files of one job: dumps, logs, stacks, ncclras reports; - "
                       "is standard input");
        app.add_flag("--json", a.json, "one JSON document on stdout");
        app.add_flag("--table", a.table,
                     "also print each rank's latest collectives: done, waits, or never entered");
        app.add_flag("--verify", a.verify,
                     "also simulate each plausible fault from the last call that all ranks made, "
                     "and print how likely it left these dumps");
        app.add_output("--html", a.html, ContentKind::WebPage,
                       "also draw each rank's last calls, as a page, here");
        app.add_option("--live", a.live,
                       "ask the running job at this port of loopback: short for ringside attach "
                       "localhost:PORT");
        app.add_option(
            "--about", a.about,
            "print what a kind of verdict means, how to confirm and fix it: a kind, or all");
        app.add_option("--watch", a.watch,
                       "follow the folder that a running job writes to; report when the job hangs");
        app.add_option("--watch-for", a.watch_for_s,
                       "stop watching after this many seconds (default: 0, never)");
        return [arguments] { return run_hang(*arguments); };
      },
      {{"--generate", "ringside generate hangs -o DIR"}}};
}

}  // namespace ringside::cli
