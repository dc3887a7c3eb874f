#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "tests/audit/pastes.h"

// usage: ringside_audit_pastes [--wrong]
// Audits the labelled pastes in all their variants and prints how many are answered as pastes.txt demands.
int main(int argc, char** argv) {
  using namespace ringside::pastes;
  const bool shows_wrong = argc > 1 && std::string_view(argv[1]) == "--wrong";
  try {
    const std::vector<Paste> pastes = labelled_pastes();
    fmt::print(
        "| form | named first (yes) | named (partly) | nothing invented (no) | quiet (healthy) |\n"
        "|---|---:|---:|---:|---:|\n");
    for (const Variant& variant : variants()) {
      Scores scores = score(pastes, variant);
      fmt::print("| {} |", variant.name);
      for (const Answerable kind :
           {Answerable::Yes, Answerable::Partly, Answerable::No, Answerable::Healthy})
        fmt::print(" {} of {} |", scores.by[kind].right, scores.by[kind].all);
      fmt::print("\n");
      if (!shows_wrong) continue;
      for (const std::string& wrong : scores.wrong) fmt::print("    {}\n", wrong);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
