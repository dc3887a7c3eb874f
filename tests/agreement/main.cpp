#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/agreement/agreement.h"
#include "tests/agreement/described.h"
#include "tests/agreement/releases.h"
#include "tests/support/oracle.h"

// usage: ringside_agreement [NAME...]      compares our decisions with every golden file, or the named ones, and prints
//                                          docs/lab/agreement.md: how many values were compared, how many differ, and where.
//                                          Status 1 when any does.
//        ringside_agreement --release V [NAME...]
//                                          the same for the golden files of another release: a row a part, and where
//                                          each file differs first. Status 1 when any does.
//        ringside_agreement --digests      prints digests.txt: NCCL's answers on the nodes that this tree describes

namespace {

namespace oracle = ringside::oracle;

struct Total {
  int checked = 0;
  int differing = 0;
};

struct Page {
  std::array<Total, oracle::kParts.size()> totals = {};
  std::vector<std::string> differences = {};
  int files = 0, agreeing = 0;
};

void add(Page& page, const std::string& name) {
  ++page.files;
  bool agrees = true;
  const auto parts = oracle::compare_all(name);
  for (const oracle::Part part : oracle::kParts) {
    const auto& [checked, differences] = parts[static_cast<std::size_t>(part)];
    Total& total = page.totals[static_cast<std::size_t>(part)];
    total.checked += checked;
    total.differing += static_cast<int>(differences.size());
    agrees = agrees && differences.empty();
    for (const std::string& difference : differences) {
      page.differences.push_back(
          fmt::format("- {}, {}:{:.300}", name, to_string(part), difference));
    }
  }
  if (agrees) ++page.agreeing;
}

/// Prints a row per release: how many files differ in each part, from the topology on.
///
/// returns  the differences, once for each part and file, except the known ones
std::vector<std::string> print_whole_releases() {
  std::vector<std::string> differences;
  fmt::print("| release | files | agree |");
  for (const oracle::Part part : oracle::kParts) fmt::print(" {} |", to_string(part));
  fmt::print("\n|---|---:|---:|");
  for (std::size_t i = 0; i < oracle::kParts.size(); ++i) fmt::print("---:|");
  fmt::print("\n");
  for (const std::string& release : oracle::golden_releases()) {
    const oracle::WholeAgreement agreement = oracle::compare_whole_release(release);
    fmt::print("| {} | {} | {} |", release, agreement.files, agreement.agreeing);
    for (const auto& count : agreement.counts) fmt::print(" {} |", count.differing_files);
    fmt::print("\n");
    for (const std::string& difference : agreement.unknown) {
      differences.push_back(fmt::format("- {} {:.400}", release, difference));
    }
  }
  fmt::print("\nWhat differs, and why:\n\n");
  for (const oracle::KnownDifference& known : oracle::known_differences()) {
    fmt::print("- {} {}: {}\n", known.release, known.topology, known.reason);
  }
  return differences;
}

/// Prints a row per release: how many values of each figure differ.
///
/// returns  at most two differences of each figure and file
std::vector<std::string> print_releases() {
  std::vector<std::string> differences;
  fmt::print("| release | files |");
  for (const oracle::Figure figure : oracle::kFigures) fmt::print(" {} |", to_string(figure));
  fmt::print("\n|---|---:|");
  for (std::size_t i = 0; i < oracle::kFigures.size(); ++i) fmt::print("---:|");
  fmt::print("\n");
  for (const std::string& release : oracle::golden_releases()) {
    const oracle::ReleaseAgreement agreement = oracle::compare_release(release);
    fmt::print("| {} | {} |", release, agreement.files);
    for (const auto& [checked, differing] : agreement.counts) {
      fmt::print(" {} of {} |", differing, checked);
    }
    fmt::print("\n");
    for (const std::string& difference : agreement.differences) {
      differences.push_back(fmt::format("- {} {:.400}", release, difference));
    }
  }
  return differences;
}

void print(const Page& page) {
  fmt::print(
      "# Agreement with NCCL's own answers\n\n"
      "Written by `ringside_agreement` (built with the tests). It answers what each golden file "
      "asks, from the topology\n"
      "XML on, and compares. [The other releases](#other-releases), the default one among them, "
      "follow below.\n\n"
      "## NCCL 2.30.7, the release that the others are described by\n\n"
      "{} of {} files agree in everything.\n\n"
      "| part | compared | differ |\n|---|---:|---:|\n",
      page.agreeing, page.files);
  for (const oracle::Part part : oracle::kParts) {
    const Total& total = page.totals[static_cast<std::size_t>(part)];
    fmt::print("| {} | {} | {} |\n", to_string(part), total.checked, total.differing);
  }
  fmt::print(
      "\nEvery number and word counts: whole numbers and words must be equal, rates and times to "
      "1e-5 of them. A choice is\n"
      "eight: size, algorithm, protocol, channels, threads, predicted time, channels used and "
      "chunk size.\n\n"
      "## What these figures are worth\n\n"
      "The golden files come from NCCL's own topology, search and tuning code, run on descriptions "
      "of machines; nothing\n"
      "was measured on hardware. The tests hold every change to the same files, so this says that "
      "the code does on them\n"
      "what NCCL does, not how it does on machines that are in none of them.\n\n"
      "## From a clone\n\n"
      "The golden files are not in the repository (docs/contributing/testing.md). "
      "`tests/agreement/digests.txt` "
      "is: for {} of the\n"
      "{} jobs, those on presets and on the nodes of `tests/agreement/nodes/`, a digest of each "
      "part of NCCL's answer\n"
      "(`ringside_agreement --digests` prints it from the golden files). `./run test -R "
      "DescribedNodes` computes\n"
      "ringside's answers and compares; with the golden files there, `./run test -R Agreement` "
      "also checks the digests.\n",
      oracle::described_jobs().size(), page.files);
  fmt::print(
      "\n## Other releases\n\n"
      "`--nccl V` lays graphs, rings, trees and channels as that release did, and chooses as it "
      "did. Held against that\n"
      "release's own code, from the topology XML on, part by part; shown is how many files differ "
      "in a part:\n\n");
  std::vector<std::string> differences = print_whole_releases();
  fmt::print(
      "\nThe tuner alone, fed with the graphs that the release's own code had merged, against that "
      "code's cost table and\n"
      "choices. Shown is how many differ: costs and times by more than 1e-5 and 0.5 %, all else at "
      "all.\n\n");
  for (std::string& difference : print_releases()) differences.push_back(std::move(difference));
  const bool all = page.differences.empty() && differences.empty();
  if (!all) fmt::print("\n## Where they differ\n\n");
  for (const std::string& difference : page.differences) fmt::print("{}\n", difference);
  for (const std::string& difference : differences) fmt::print("{}\n", difference);
}

/// returns  whether all agree
bool print_release(const std::string& release, std::span<const std::string> names) {
  const oracle::WholeAgreement agreement = oracle::compare_whole_release(release, names);
  fmt::print("NCCL {}: {} of {} files agree\n\n| part | files that differ | values that differ |\n",
             release, agreement.agreeing, agreement.files);
  fmt::print("|---|---:|---:|\n");
  for (const oracle::Part part : oracle::kParts) {
    const auto& count = agreement.counts[static_cast<std::size_t>(part)];
    fmt::print("| {} | {} of {} | {} of {} |\n", to_string(part), count.differing_files,
               count.files, count.differing, count.checked);
  }
  fmt::print("\n");
  for (const std::string& difference : agreement.differences) fmt::print("- {:.400}\n", difference);
  return agreement.agreeing == agreement.files;
}

void print_digests() {
  fmt::print(
      "# What NCCL 2.30.7 decides on nodes that this tree describes, summed up; ringside_agreement "
      "--digests prints it\n"
      "# from NCCL's answers. Columns: job | nodes and how many (presets, nodes/*.yaml) | for "
      "people | for each part\n"
      "# values:words:measures (digest.h), in this order:");
  for (const oracle::Part part : oracle::kParts) fmt::print(" {},", to_string(part));
  fmt::print("\n");
  for (const std::string& name : oracle::golden_names()) {
    const auto job = oracle::describe(name, oracle::load_golden(name));
    if (job) fmt::print("{}\n", to_text(*job));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::string> names(argv + 1, argv + argc);
    if (names == std::vector<std::string>{"--digests"}) {
      print_digests();
      return 0;
    }
    if (names.size() >= 2 && names.front() == "--release") {
      return print_release(names[1], std::span{names}.subspan(2)) ? 0 : 1;
    }
    if (names.empty()) names = oracle::golden_names();
    Page page;
    for (const std::string& name : names) add(page, name);
    print(page);
    return page.agreeing == page.files ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
