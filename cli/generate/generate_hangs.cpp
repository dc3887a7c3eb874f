#include "cli/generate/generate_hangs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "cli/options.h"
#include "engine/topology/sources/description_file.h"
#include "harness/hangs/generate.h"

namespace ringside::cli {
namespace {

constexpr int kMaxCases = 10'000;
constexpr int kMaxRanks = 4096;
constexpr int kMaxRecords = 20'000;
constexpr int kMaxFrames = 100;

struct Range {
  int from = 0, to = 0;
  const char* of = "";  ///< what the number counts
};

/// errors  InvalidArgument: a given value is out of range
Status check(const char* option, std::optional<int> value, const Range& range) {
  if (!value || (*value >= range.from && *value <= range.to)) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("{} {} is out of range", option, *value),
               fmt::format("{} to {}{}", range.from, range.to, range.of)};
}

Result<hangs::GenerateOptions> checked(const HangOptions& options) {
  hangs::GenerateOptions out;
  RINGSIDE_TRY(check("--cases", options.cases, {1, kMaxCases}));
  RINGSIDE_TRY(check("--ranks", options.ranks, {2, kMaxRanks}));
  RINGSIDE_TRY(check("--records", options.records, {1, kMaxRecords}));
  RINGSIDE_TRY(check("--frames", options.frames, {6, kMaxFrames}));
  RINGSIDE_TRY(check("--lost", options.lost, {0, 60, " percent of the files"}));
  const auto seed = parse_int(options.seed);
  if (!seed || *seed < 0) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--seed '{}' is no seed", options.seed),
                 "a whole number from 0 on"};
  }
  out.cases = options.cases;
  out.seed = static_cast<std::uint64_t>(*seed);
  out.each.ranks = options.ranks.value_or(0);
  out.each.records = options.records.value_or(0);
  out.each.frames = options.frames.value_or(0);
  out.each.lost_percent = options.lost;
  if (!options.fault.empty()) {
    RINGSIDE_TRY(out.each.kind, hangs::parse_fault_class(options.fault));
  }
  if (!options.program.empty()) {
    if (options.ranks) {
      return Error{ErrorCode::InvalidArgument, "--ranks and --program",
                   "the program has the number of ranks"};
    }
    RINGSIDE_TRY(const std::string text, read_description(options.program));
    RINGSIDE_TRY(out.each.outline, hangs::parse_outline(text, options.program));
  }
  return out;
}

}  // namespace

void add_hang_options(Options& app, HangOptions& options) {
  app.add_option("-o,--out", options.folder, "the folder to write into")->required();
  app.add_option("--cases", options.cases, "how many (1)");
  app.add_option("--seed", options.seed, "the same seed gives the same files (1)");
  app.add_option("--class", options.fault, "missing_rank, shape_mismatch, ... (default: all)");
  app.add_option("--ranks", options.ranks, "of each job (2 to 64, by the seed)");
  app.add_option("--records", options.records,
                 "calls of the busiest rank, all in pickles (by the seed)");
  app.add_option("--frames", options.frames, "of each stack in pickles (6)");
  app.add_option("--lost", options.lost, "percent of the files that are omitted (0)");
  app.add_option("--program", options.program,
                 "a YAML program of groups and calls (a built-in workload)");
  app.add_flag("--json", options.json, "one JSON document on stdout");
}

VerbResult generate_hangs(const HangOptions& options) {
  RINGSIDE_TRY(const hangs::GenerateOptions asked, checked(options));
  RINGSIDE_TRY(const hangs::Generated made, hangs::generate(asked, options.folder));
  if (options.json) {
    const Json out = {{"schema", "ringside.generate/1"},
                      {"what", "hangs"},
                      {"folder", options.folder},
                      {"seed", asked.seed},
                      {"cases", made.cases},
                      {"files", made.files},
                      {"bytes", made.bytes},
                      {"truth", made.truths}};
    fmt::print("{}", to_text(out));
    return kFine;
  }
  fmt::print("{} {} of seed {} in {}: {} files, {:.1f} MB, and the truth in truth.json\n",
             made.cases, made.cases == 1 ? "case" : "cases", asked.seed, options.folder, made.files,
             static_cast<double>(made.bytes) / 1e6);
  return kFine;
}

}  // namespace ringside::cli
