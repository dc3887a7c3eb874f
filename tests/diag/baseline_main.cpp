// Asks audit and hang about every labelled case and compares the answers with tests/diag/baseline.tsv:
//   ringside_diag_baseline             status 1 when a case is worse or better than its row
//   ringside_diag_baseline --update    rewrites the file; prints what got worse
//   ringside_diag_baseline --show WORD prints label and answer of the cases whose set/name or outcome has the word
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/diag/baseline.h"

namespace ringside::diag {
namespace {

constexpr const char* kFile = RINGSIDE_TESTS "/diag/baseline.tsv";

/// Asks about all cases, on all cores.
std::vector<std::string> ask(std::vector<BaselineCase>& cases) {
  std::vector<std::string> details(cases.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < cases.size(); i = next++) {
        Row& row = cases[i].row;
        const Answer answer = cases[i].ask();
        row.outcome = answer.outcome;
        row.verdict = answer.verdict;
        details[i] = answer.details;
        for (const auto& [form, ask_it] : cases[i].ask_in_form) row.forms[form] = ask_it().outcome;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
  return details;
}

void print(std::string_view what, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  fmt::print("{} {}:\n", lines.size(), what);
  constexpr std::size_t kMost = 200;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) fmt::print("  {}\n", lines[i]);
}

int show(std::vector<BaselineCase> cases, const std::string& word) {
  const bool is_outcome = word == "wrong" || word == "silent" || word == "fair" || word == "right";
  if (!is_outcome)
    std::erase_if(cases, [&](const BaselineCase& one) {
      return (one.row.set + "/" + one.row.name).find(word) == std::string::npos;
    });
  const std::vector<std::string> details = ask(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Row& row = cases[i].row;
    if (is_outcome && word != to_string(row.outcome)) continue;
    fmt::print("{:<6} {}/{}\n", to_string(row.outcome), row.set, details[i]);
    for (const auto& [form, outcome] : row.forms) {
      if (outcome != row.outcome) fmt::print("    {}: {}\n", form, to_string(outcome));
    }
  }
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  Cases all = load_cases(RINGSIDE_TESTS);
  if (arguments.size() == 2 && arguments[0] == "--show") return show(all.cases, arguments[1]);
  const bool updates = arguments.size() == 1 && arguments[0] == "--update";
  if (!arguments.empty() && !updates) {
    fmt::print(stderr, "usage: ringside_diag_baseline [--update | --show WORD]\n");
    return 2;
  }
  ask(all.cases);
  std::vector<Row> before;
  const bool has_file = std::ifstream(kFile).good();
  if (has_file || !updates) before = read_baseline(kFile);
  std::vector<Row> now;
  for (const BaselineCase& one : all.cases) now.push_back(one.row);
  const Differences found = compare(before, now, all.absent_sets);

  fmt::print("{}", summary(now));
  if (!all.absent_sets.empty())
    fmt::print(
        "left out: {} sets of the shared data, which is absent (RINGSIDE_SHARED, "
        "docs/contributing/testing.md)\n",
        all.absent_sets.size());
  print("as good, in other words", found.other);
  if (has_file) print("without a row or a case", found.rows);
  print("better", found.better);
  print("WORSE", found.worse);
  if (!updates) {
    if (found.is_failure())
      fmt::print(
          "{} differs. If every difference is meant, rewrite it: ringside_diag_baseline --update; "
          "review its diff.\n",
          kFile);
    return found.is_failure() ? 1 : 0;
  }
  for (const Row& row : before) {
    if (std::find(all.absent_sets.begin(), all.absent_sets.end(), row.set) != all.absent_sets.end())
      now.push_back(row);
  }
  std::ofstream file(kFile, std::ios::trunc);
  file << write_baseline(now);
  file.close();
  if (!file) throw std::runtime_error(fmt::format("{} cannot be written", kFile));
  return 0;
}

}  // namespace
}  // namespace ringside::diag

int main(int argc, char** argv) {
  try {
    return ringside::diag::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
