#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "harness/hangs/generate.h"
#include "tests/diag/labelled_hangs.h"
#include "tests/hangdetect/perturb.h"
#include "tests/support/shared.h"

/// Regenerates docs/lab/hang-accuracy.md: scores every case of the corpus and a thousand generated ones.
namespace ringside::hang {
namespace {

struct Tally {
  std::size_t cases = 0, culprits = 0, exact = 0, kinds = 0, confident = 0, confident_wrong = 0;
  std::size_t doubtful = 0, exact_of_clear = 0;

  void add(const LabelledHang& hang, const ScoredHang& one) {
    ++cases;
    culprits += one.are_culprits_right ? 1U : 0U;
    exact += one.is_exact ? 1U : 0U;
    kinds += one.is_kind_right ? 1U : 0U;
    confident += one.confidence >= 0.8 ? 1U : 0U;
    confident_wrong += one.is_confident_wrong() ? 1U : 0U;
    const bool is_doubtful = hang.culprits.size() > 1;
    doubtful += is_doubtful ? 1U : 0U;
    exact_of_clear += one.is_exact && !is_doubtful ? 1U : 0U;
  }
};

struct Table {
  Tally all;
  std::map<std::string, Tally> by_kind;
  std::vector<std::string> wrong = {};

  void add(const LabelledHang& hang) {
    const ScoredHang scored = score(hang);
    all.add(hang, scored);
    by_kind[hang.kinds.front()].add(hang, scored);
    if (!scored.is_right()) wrong.push_back(line_of(hang, scored));
  }
};

std::string percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string row(const std::string& name, const Tally& tally) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, tally.cases,
                     percent(tally.exact, tally.cases), percent(tally.culprits, tally.cases),
                     percent(tally.doubtful, tally.cases),
                     percent(tally.exact_of_clear, tally.cases - tally.doubtful),
                     percent(tally.kinds, tally.cases), tally.confident, tally.confident_wrong);
}

std::string markdown(const std::string& title, const std::string& what, const Table& table,
                     bool lists_wrong) {
  std::string out = fmt::format("\n## {}\n\n{}\n\n", title, what);
  out +=
      "| class | cases | exact culprits | exact, or in the same doubt | in doubt by construction "
      "| exact where there is no doubt | acceptable class | confident | confident, wrong |\n";
  out += "|---|---|---|---|---|---|---|---|---|\n" + row("all", table.all);
  for (const auto& [kind, tally] : table.by_kind) out += row(kind, tally);
  if (lists_wrong && !table.wrong.empty()) {
    out += "\nNot as the label has it:\n\n";
    for (const std::string& one : table.wrong) out += fmt::format("- {}\n", one);
  }
  return out;
}

Table corpus(const std::string& set) {
  Table table;
  for (const LabelledHang& hang : load_all_labelled_dumps(shared_folder() + "/corpus/" + set))
    table.add(hang);
  return table;
}

Table made_up(int cases, std::uint64_t seed, int lost_percent) {
  namespace fs = std::filesystem;
  Table table;
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("ringside-accuracy-{}-{}", ::getpid(), lost_percent);
  fs::remove_all(folder);
  hangs::GenerateOptions options;
  options.cases = cases;
  options.seed = seed;
  options.each.lost_percent = lost_percent;
  const auto made = hangs::generate(options, folder.string());
  if (!made) throw std::runtime_error(made.error().message);
  for (const LabelledHang& hang : load_all_labelled_dumps(folder.string())) table.add(hang);
  fs::remove_all(folder);
  return table;
}

/// Scores the real runs after damage to their files: each rank, each length.
std::string harmed_runs() {
  std::string out =
      "\n## Real PyTorch runs, after something happened to their files\n\n"
      "The same runs, once for each rank that it can happen to. The labels are those of the whole "
      "run: what was\nlost may leave less to say, and must not lead to a confident wrong "
      "answer.\n\n"
      "| what happened | cases | acceptable culprits | acceptable class | confident | confident, "
      "wrong |\n|---|---|---|---|---|---|\n";
  for (const Harm harm : kHarms) {
    Tally tally;
    for (LabelledHang hang : load_all_labelled_dumps(shared_folder() + "/corpus/fr-torch")) {
      const std::string folder = hang.folder;
      for (int variant = 0; variant < variants_of(folder, harm); ++variant) {
        const HarmedCase harmed(folder, harm, variant);
        hang.folder = harmed.path();
        tally.add(hang, score(hang));
      }
    }
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", to_string(harm), tally.cases,
                       percent(tally.culprits, tally.cases), percent(tally.kinds, tally.cases),
                       tally.confident, tally.confident_wrong);
  }
  return out;
}

/// Found in the lists of `ringside_hang_grid --inexact`.
constexpr const char* kWhy =
    "\n## Why the exact set is missed\n\n"
    "With all files:\n\n"
    "- `root_mismatch`: recorders keep no root. Only NCCL's lines of calls do, and one case in "
    "seven "
    "has them; the\n  others look like a stall: the verdict is a stall without a culprit.\n"
    "- Groups of two, and the two ends of a transfer, contradict each other one against one. What "
    "the "
    "ranks and\n  their sisters in other groups called before distinguishes them, unless the dumps "
    "hold "
    "active calls only\n  (one case in seven) or the rings are short.\n\n"
    "With 40 % of the files lost, the most frequent reason is that the culprit's dump is among "
    "them, "
    "with those of\nothers in the same call: the files do not show which of the lost ranks did not "
    "arrive, "
    "or "
    "whether one of them did not.\nLogs, launchers and ncclras show it in part of the cases, and "
    "are "
    "used. What was called is in none of them but\nthe lines of the calls, so a mismatch of a lost "
    "rank looks like a stall.\n";

int run(const std::string& path, int cases) {
  std::string out =
      "# How often `ringside hang` is right\n\n"
      "Written by `build/dev/tests/hangdetect/ringside_hang_accuracy docs/lab/hang-accuracy.md`; "
      "edits "
      "are lost.\n"
      "Labels and truths are read by the scoring program only.\n\n"
      "Three figures say how often the culprits are right:\n\n"
      "- **exact**: the set that was injected, to the rank.\n"
      "- **exact, or in the same doubt**: exact, or one of the other sets that the label lists. "
      "Where "
      "two ranks\n  contradict each other and no remaining file shows which is wrong, several are "
      "right, \"no rank can be\n  named\" among them.\n"
      "- **in doubt by construction**: cases whose label lists more than one set, so that no "
      "reader of "
      "those files\n  can be exact but by luck or by what ranks used to call. The column after it "
      "is "
      "the exact share of the rest.\n\n"
      "Confident is a confidence of 0.8 and more; wrong is a set that the label does not list.\n\n"
      "The tests gate on the dumps of clusters, on the PyTorch runs and on one harmed variant of "
      "each "
      "(tests/diag/baseline.tsv,\n`HarmedRuns`), and on made-up hangs of 8 ranks from the "
      "same "
      "generator. Of the sections below,\nonly the made-up hangs of other sizes and the other "
      "harmed "
      "variants are cases that no test holds the code to, and\nno figure comes from data that was "
      "unknown when the code was written.\n";
  out += markdown("Dumps of clusters", "The 4 samples of `corpus/fr`.", corpus("fr"), true);
  out += markdown("Real PyTorch runs", "The runs of `corpus/fr-torch`: 2 to 8 processes over Gloo.",
                  corpus("fr-torch"), true);
  out += harmed_runs();
  out +=
      markdown("Made-up hangs, all files",
               fmt::format("{} cases of `ringside generate hangs`, seed 1: 2 to 64 ranks.", cases),
               made_up(cases, 1, 0), false);
  out += markdown("Made-up hangs, 40 % of the files lost", "The same cases with `--lost 40`.",
                  made_up(cases, 1, 40), false);
  out += kWhy;
  std::ofstream file(path, std::ios::trunc);
  file << out;
  file.close();
  if (!file) {
    fmt::print(stderr, "error: {}: cannot be written\n", path);
    return 3;
  }
  return 0;
}

}  // namespace
}  // namespace ringside::hang

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: ringside_hang_accuracy FILE [CASES]\n");
    return 2;
  }
  try {
    return ringside::hang::run(argv[1], argc > 2 ? std::stoi(argv[2]) : 1000);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 3;
  }
}
