#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "tests/agreement/agreement.h"
#include "tests/support/oracle.h"

// usage: ringside_agreement [NAME...]
// Compares our decisions with every golden file, or the named ones, and prints docs/agreement.md: how
// many values were compared, how many differ, and where. Status 1 when any does.

namespace {

namespace oracle = ringside::oracle;

struct Total {
  int checked = 0;
  int differing = 0;
};

struct Page {
  std::map<std::string, Total> totals;  ///< by part
  std::vector<std::string> order;       ///< of the parts
  std::vector<std::string> differences;
  int files = 0, agreeing = 0;
};

void add(Page& page, const std::string& name) {
  ++page.files;
  bool agrees = true;
  for (const auto& [part, comparison] : oracle::compare_all(name)) {
    if (page.totals.count(part) == 0) page.order.emplace_back(part);
    Total& total = page.totals[part];
    total.checked += comparison.checked;
    total.differing += static_cast<int>(comparison.differences.size());
    agrees = agrees && comparison.differences.empty();
    for (const std::string& difference : comparison.differences) {
      page.differences.push_back(fmt::format("- {}, {}: {:.300}", name, part, difference));
    }
  }
  if (agrees) ++page.agreeing;
}

void print(const Page& page) {
  fmt::print(
      "# Agreement with NCCL 2.30.7\n\n"
      "Written by `ringside_agreement` (built with the tests). It answers what each golden file "
      "asks,\n"
      "from the topology XML on, and compares: {} of {} files agree in everything.\n\n"
      "| part | compared | differ |\n|---|---:|---:|\n",
      page.agreeing, page.files);
  for (const std::string& part : page.order) {
    const Total& total = page.totals.at(part);
    fmt::print("| {} | {} | {} |\n", part, total.checked, total.differing);
  }
  fmt::print(
      "\nCompared are numbers, words and lists; a choice counts once and covers algorithm, "
      "protocol,\n"
      "channels, threads, predicted time (1e-5 relative), channels used and chunk size.\n");
  if (!page.differences.empty()) fmt::print("\n## Where they differ\n\n");
  for (const std::string& difference : page.differences) fmt::print("{}\n", difference);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::string> names(argv + 1, argv + argc);
    if (names.empty()) names = oracle::golden_names();
    if (names.empty()) {
      fmt::print(stderr, "no golden data: set RINGSIDE_SHARED to the folder that holds oracle/\n");
      return 2;
    }
    Page page;
    for (const std::string& name : names) add(page, name);
    print(page);
    return page.agreeing == page.files ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
