#include <fmt/format.h>
#include <stdlib.h>  // NOLINT: mkdtemp is POSIX's

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "diag/hangdetect/examine.h"
#include "harness/hangs/generate.h"
#include "harness/hangs/truth.h"

// usage: ringside_hang_grid [--cases N] [--seed S] [--class C] [--lost P] [--wrong | --inexact]
// Makes up N cases for each of 0 % and 40 % lost files (or for P), examines each as `ringside hang` would,
// and prints the table of docs/lab/hang-accuracy.md. --wrong lists every wrong answer with the command that
// makes its files, --inexact every case whose culprits themselves were not named, with what is left of it.
// Status 1 when a bar of the table is missed.

namespace {

namespace fs = std::filesystem;
using namespace ringside;  // NOLINT: a program

/// The confidence from which on people act.
constexpr double kConfident = 0.8;

struct Tally {
  int cases = 0, culprits = 0, kind = 0, confident_wrong = 0, doubtful = 0, named = 0;
  void add(const Tally& other) {
    cases += other.cases;
    culprits += other.culprits;
    kind += other.kind;
    confident_wrong += other.confident_wrong;
    doubtful += other.doubtful;
    named += other.named;
  }
};

struct Options {
  hangs::GenerateOptions each;
  std::vector<int> lost{0, 40};
  bool lists_wrong = false;
  bool lists_inexact = false;
};

struct Answer {
  std::string kind = "unreadable";
  std::vector<int> culprits;
  double confidence = 0;
};

Answer ask(const std::string& folder) {
  // The truth must not be an input.
  fs::rename(folder + "/truth.json", folder + "/../truth.json");
  const auto examined = hang::examine({folder});
  fs::rename(folder + "/../truth.json", folder + "/truth.json");
  Answer answer;
  if (!examined) return answer;
  const hang::Explanation& best = examined->verdict.best;
  answer.kind = hang::to_string(best.kind);
  answer.culprits = best.culprits;
  answer.confidence = best.confidence;
  return answer;
}

Tally score(const hangs::HangCase& made, const Answer& answer) {
  const hangs::Truth truth = hangs::find_truth(made);
  const auto allowed = [&truth](const std::vector<int>& culprits) {
    return std::find(truth.culprits.begin(), truth.culprits.end(), culprits) !=
           truth.culprits.end();
  };
  Tally tally;
  tally.cases = 1;
  tally.culprits = allowed(answer.culprits) ? 1 : 0;
  tally.kind = truth.classes.count(answer.kind) == 1 ? 1 : 0;
  tally.doubtful = truth.culprits.size() > 1 ? 1 : 0;
  tally.named = answer.culprits == made.fault.culprits ? 1 : 0;
  const bool is_wrong = tally.culprits == 0 || tally.kind == 0;
  tally.confident_wrong = is_wrong && answer.confidence >= kConfident ? 1 : 0;
  return tally;
}

double percent(int part, int whole) { return whole == 0 ? 0 : 100.0 * part / whole; }

void print_row(const std::string& name, const Tally& tally) {
  fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.1f} | {} | {} |\n", name, tally.cases,
             percent(tally.culprits, tally.cases), percent(tally.named, tally.cases),
             percent(tally.kind, tally.cases), tally.confident_wrong, tally.doubtful);
}

std::vector<int> ranks_without(const std::vector<bool>& has) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < has.size(); ++rank) {
    if (!has[rank]) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

/// Returns all that a reader needs to see why the culprits themselves were not named.
std::string describe(const hangs::HangCase& made, const Answer& answer, int i) {
  const hangs::Truth truth = hangs::find_truth(made);
  std::string right;
  for (const auto& one : truth.culprits) right += "[" + format_ranks(one) + "]";
  const hangs::Fault& fault = made.fault;
  const hangs::Evidence& left = made.evidence;
  std::string group = "-";
  if (fault.group >= 0) {
    const hangs::Group& own = made.program.groups[static_cast<std::size_t>(fault.group)];
    group = fmt::format("{}({})", own.name, format_ranks(own.ranks));
  }
  std::string files =
      fmt::format("no dump [{}], no log [{}], torch {}", format_ranks(ranks_without(left.has_dump)),
                  format_ranks(ranks_without(left.has_log)), made.recorder.release.torch);
  if (made.recorder.is_gloo) files += ", gloo";
  if (made.recorder.is_only_active) files += ", active calls only";
  if (left.has_calls) files += ", COLL lines";
  if (left.has_agent) files += ", agent";
  return fmt::format(
      "{:04} {} {} | {} | {} ranks, {}, group {}, seq {} | said {} [{}] {:.2f} | ok {} | "
      "{} | {}",
      i, hangs::to_string(fault.kind), format_ranks(fault.culprits), fault.text, made.program.ranks,
      made.workload, group, fault.seq, answer.kind, format_ranks(answer.culprits),
      answer.confidence, right, truth.doubt, files);
}

Result<Tally> run_set(const Options& options, int lost, const std::string& folder) {
  hangs::GenerateOptions each = options.each;
  each.each.lost_percent = lost;
  std::map<std::string, Tally> by_class;
  std::vector<std::string> wrong;
  for (int i = 0; i < each.cases; ++i) {
    const hangs::CaseOptions one = hangs::options_of(each, i);
    RINGSIDE_TRY(const hangs::HangCase made, hangs::make_case(one, hangs::case_seed(each.seed, i)));
    const std::string files = folder + "/case";
    std::filesystem::remove_all(files);
    RINGSIDE_TRY(hangs::write_case(made, files));
    const Answer answer = ask(files);
    const Tally tally = score(made, answer);
    by_class[hangs::to_string(made.fault.kind)].add(tally);
    if (options.lists_inexact && tally.named == 0) {
      wrong.push_back(describe(made, answer, i));
      continue;
    }
    if (tally.culprits == 1 && tally.kind == 1) continue;
    wrong.push_back(
        fmt::format("case-{:04}: {} of ranks {}: said {} of ranks {}, confidence {:.2f}", i,
                    hangs::to_string(made.fault.kind), format_ranks(made.fault.culprits),
                    answer.kind, format_ranks(answer.culprits), answer.confidence));
  }
  fmt::print(
      "\n## {} % of the files lost\n\n"
      "| class | cases | culprits right, % | culprits named, % | class right, % | confident and "
      "wrong | in doubt |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n",
      lost);
  Tally all;
  for (const auto& [name, tally] : by_class) {
    print_row(name, tally);
    all.add(tally);
  }
  print_row("all", all);
  if (options.lists_wrong) {
    fmt::print("\n    ringside generate hangs -o DIR --cases {} --seed {} --lost {}{}\n\n",
               each.cases, each.seed, lost,
               each.each.kind ? fmt::format(" --class {}", hangs::to_string(*each.each.kind)) : "");
    for (const std::string& line : wrong) fmt::print("- {}\n", line);
  }
  return all;
}

Result<Options> parse(const std::vector<std::string>& words) {
  Options options;
  options.each.cases = 1000;
  options.each.seed = 20260301;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--wrong") {
      options.lists_wrong = true;
      continue;
    }
    if (words[i] == "--inexact") {
      options.lists_wrong = options.lists_inexact = true;
      continue;
    }
    if (i + 1 == words.size()) {
      return Error{
          ErrorCode::InvalidArgument, fmt::format("'{}'", words[i]),
          "ringside_hang_grid [--cases N] [--seed S] [--class C] [--lost P] [--wrong | --inexact]"};
    }
    const std::string& value = words[++i];
    if (words[i - 1] == "--class") {
      RINGSIDE_TRY(options.each.each.kind, hangs::parse_fault_class(value));
      continue;
    }
    RINGSIDE_TRY(const std::int64_t number, parse_int(value));
    if (words[i - 1] == "--cases") options.each.cases = static_cast<int>(number);
    if (words[i - 1] == "--seed") options.each.seed = static_cast<std::uint64_t>(number);
    if (words[i - 1] == "--lost") options.lost = {static_cast<int>(number)};
  }
  return options;
}

/// Returns whether the bars hold: exact culprits in 95 % with all files and in 85 % with 40 % of them lost, at most 1
/// % confident and wrong.
bool holds(int lost, const Tally& all) {
  return percent(all.culprits, all.cases) >= (lost == 0 ? 95 : 85) &&
         percent(all.confident_wrong, all.cases) <= 1;
}

Result<int> run(const std::vector<std::string>& words) {
  RINGSIDE_TRY(const Options options, parse(words));
  std::string folder = (fs::temp_directory_path() / "ringside_hang_grid_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return system_error(folder, errno);
  fmt::print(
      "{} made-up hangs a table, of 2 to 64 ranks, classes alternating, seed {}. Right is what "
      "the "
      "files that are left\n"
      "allow to say: `in doubt` counts the cases where that is more than one answer, `named` those "
      "in "
      "which the culprits\n"
      "themselves were named. Confident is a confidence of {} and more.\n",
      options.each.cases, options.each.seed, kConfident);
  bool is_fine = true;
  for (const int lost : options.lost) {
    const auto all = run_set(options, lost, folder);
    if (!all) {
      fs::remove_all(folder);
      return all.error();
    }
    is_fine = is_fine && holds(lost, *all);
  }
  fs::remove_all(folder);
  return is_fine ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto status = run({argv + 1, argv + argc});
  if (status) return *status;
  fmt::print(stderr, "error: {}\nhelp:  {}\n", status.error().message, status.error().help);
  return 2;
}
