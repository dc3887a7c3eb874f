#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/golden_compare.h"
#include "tests/support/golden_job.h"
#include "tests/support/oracle.h"

// usage: ringside_agreement [NAME...]
// Compares our decisions with every golden file, or the named ones. Prints where they differ; status 1
// when any does.

namespace {

using ringside::Job;
using ringside::Json;
namespace oracle = ringside::oracle;

struct Part {
  const char* name;
  oracle::Differences (*compare)(const Json&, const Job&);
};
constexpr Part kParts[] = {{"search", oracle::compare_searches},
                           {"merged", oracle::compare_merged},
                           {"comm", oracle::compare_comm},
                           {"channels", oracle::compare_channels}};
constexpr std::size_t kShown = 6;

int report(const std::string& name) {
  int differing = 0;
  try {
    const Json golden = oracle::load_golden(name);
    const auto begin = std::chrono::steady_clock::now();
    const Job job = oracle::solve(golden);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    fmt::print("{} {:.1f} ms\n", name, took.count());
    for (const Part& part : kParts) {
      const oracle::Differences differences = part.compare(golden, job);
      if (differences.empty()) continue;
      ++differing;
      for (std::size_t i = 0; i < std::min(kShown, differences.size()); ++i) {
        fmt::print("  {}: {:.300}\n", part.name, differences[i]);
      }
      if (differences.size() > kShown) {
        fmt::print("  {}: {} more\n", part.name, differences.size() - kShown);
      }
    }
  } catch (const std::exception& error) {
    fmt::print("{}\n  {}\n", name, error.what());
    ++differing;
  }
  return differing;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = oracle::golden_names();
  int agreeing = 0;
  for (const std::string& name : names) agreeing += report(name) == 0 ? 1 : 0;
  fmt::print("{} of {} files agree\n", agreeing, names.size());
  return agreeing == static_cast<int>(names.size()) ? 0 : 1;
}
