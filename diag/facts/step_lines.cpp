#include "diag/facts/step_lines.h"

#include <charconv>

#include "diag/logparse/cursor.h"

namespace ringside::facts {
namespace {

using logs::is_digit;
using logs::is_letter;

std::int64_t number_at(std::string_view text, std::size_t& at) {
  constexpr std::size_t kMostDigits = 12;
  const std::size_t from = at;
  while (at < text.size() && is_digit(text[at]) && at - from < kMostDigits) ++at;
  std::int64_t number = -1;
  std::from_chars(text.data() + from, text.data() + at, number);
  return number;
}

}  // namespace

StepLine read_step(std::string_view text) {
  StepLine line;
  for (const std::string_view word :
       {"it/s", "s/it", "step", "iteration", "iter", "batch", "epoch"}) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
      if (word == "it/s" || word == "s/it") {
        // In a progress bar the number precedes this place: `450/1000 [00:45<00:55, 10.0it/s]`.
        const std::size_t slash = text.substr(0, at).rfind('/', text.rfind('[', at));
        if (slash == std::string_view::npos || slash == 0) break;
        std::size_t from = slash;
        while (from > 0 && is_digit(text[from - 1])) --from;
        const std::int64_t step = number_at(text, from);
        if (step < 0) break;
        std::size_t behind = slash + 1;
        return {step, number_at(text, behind)};
      }
      if (at > 0 && (is_letter(text[at - 1]) || text[at - 1] == '_')) continue;
      std::size_t behind = at + word.size();
      if (behind < text.size() && text[behind] == 's') ++behind;
      const std::size_t number = text.find_first_not_of(" :=[(#", behind);
      if (number == std::string_view::npos || number - behind > 8 || !is_digit(text[number]))
        continue;
      std::size_t end = number;
      line.step = number_at(text, end);
      const std::size_t slash = text.find_first_not_of(' ', end);
      if (slash != std::string_view::npos && text[slash] == '/') {
        std::size_t of = text.find_first_not_of(' ', slash + 1);
        if (of != std::string_view::npos) line.steps = number_at(text, of);
      }
      if (line.step >= 0) return line;
    }
  }
  return line;
}

}  // namespace ringside::facts
