#include "cli/generate_hangs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/options.h"
#include "harness/hangs/generate.h"

namespace ringside::cli {
namespace {

constexpr int kMaxCases = 10'000;
constexpr int kMaxRanks = 4096;
constexpr int kMaxRecords = 20'000;
constexpr int kMaxFrames = 100;

Error out_of_range(const char* option, int value, const std::string& range) {
  return {ErrorCode::InvalidArgument, fmt::format("{} {} is out of range", option, value), range};
}

Result<hangs::GenerateOptions> checked(const HangOptions& options) {
  hangs::GenerateOptions out;
  if (options.cases < 1 || options.cases > kMaxCases) {
    return out_of_range("--cases", options.cases, fmt::format("1 to {}", kMaxCases));
  }
  if (options.ranks != 0 && (options.ranks < 2 || options.ranks > kMaxRanks)) {
    return out_of_range("--ranks", options.ranks, fmt::format("2 to {}", kMaxRanks));
  }
  if (options.records < 0 || options.records > kMaxRecords) {
    return out_of_range("--records", options.records, fmt::format("1 to {}", kMaxRecords));
  }
  if (options.frames != 0 && (options.frames < 6 || options.frames > kMaxFrames)) {
    return out_of_range("--frames", options.frames, fmt::format("6 to {}", kMaxFrames));
  }
  if (options.lost < 0 || options.lost > 60) {
    return out_of_range("--lost", options.lost, "0 to 60 percent of the files");
  }
  const auto seed = parse_int(options.seed);
  if (!seed || *seed < 0) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--seed '{}' is no seed", options.seed),
                 "a whole number from 0 on"};
  }
  out.cases = options.cases;
  out.seed = static_cast<std::uint64_t>(*seed);
  out.each.ranks = options.ranks;
  out.each.records = options.records;
  out.each.frames = options.frames;
  out.each.lost_percent = options.lost;
  if (!options.fault.empty()) {
    RINGSIDE_TRY(out.each.kind, hangs::parse_fault_class(options.fault));
  }
  if (!options.program.empty()) {
    if (options.ranks != 0) {
      return Error{ErrorCode::InvalidArgument, "--ranks beside --program",
                   "the program says how many ranks there are"};
    }
    RINGSIDE_TRY(const std::string text, read_file(options.program));
    RINGSIDE_TRY(out.each.outline, hangs::parse_outline(text, options.program));
  }
  return out;
}

}  // namespace

void add_hang_options(Options& app, HangOptions& options) {
  app.add_option("-o,--out", options.folder, "the folder to write into")->required();
  app.add_option("--cases", options.cases, "how many (1)");
  app.add_option("--seed", options.seed, "the same seed gives the same files (1)");
  app.add_option("--class", options.fault, "missing_rank, shape_mismatch, ... (each in turn)");
  app.add_option("--ranks", options.ranks, "of each job (2 to 64, by the seed)");
  app.add_option("--records", options.records,
                 "calls of the busiest rank, all in pickles (by the seed)");
  app.add_option("--frames", options.frames, "of each stack in pickles (6)");
  app.add_option("--lost", options.lost, "percent of the files that are left out (0)");
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
