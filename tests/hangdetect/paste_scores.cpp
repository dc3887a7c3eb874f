// Prints the verdict on every paste of a folder, and on its variants:
//   ringside_hang_pastes FOLDER [--variants]
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <string>

#include "tests/hangdetect/pastes.h"
#include "tests/hangdetect/varied.h"

int main(int count, char** arguments) {
  using namespace ringside::hang;
  if (count < 2) {
    fmt::print(stderr, "usage: ringside_hang_pastes FOLDER [--variants]\n");
    return 2;
  }
  try {
    const auto all = load_pastes(arguments[1]);
    const bool with_variants = count > 2;
    std::map<std::string, PasteTally> total;
    for (const ringside::pastes::Variant& variant : ringside::pastes::variants()) {
      std::map<std::string, PasteTally> tally;
      for (const Paste& paste : all) {
        const Paste one = varied(paste, variant);
        const PasteScore score = score_paste(one);
        for (auto* sums : {&tally, &total}) {
          ++(*sums)[paste.answerable].all;
          (*sums)[paste.answerable].right += score.is_right() ? 1 : 0;
        }
        const bool is_shown = !with_variants || !score.is_right();
        if (is_shown) fmt::print("{}{}\n", with_variants ? "  " : "", line_of(one, score));
      }
      fmt::print("{:<18}", variant.name);
      for (const auto& [answerable, one] : tally)
        fmt::print("  {} {}/{}", answerable, one.right, one.all);
      fmt::print("\n");
      if (!with_variants) break;
    }
    for (const auto& [answerable, one] : total)
      fmt::print("{}: {} of {}, {:.1f} %\n", answerable, one.right, one.all, 100 * one.share());
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
  return 0;
}
