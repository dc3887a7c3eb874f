#include "diag/hangdetect/readers/listed_source.h"

#include <algorithm>
#include <array>

#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

/// Returns whether the statement blocks until earlier kernels, among them a collective, have ended.
bool awaits_gpu(std::string_view code) {
  static constexpr std::array kWords = {
      std::string_view{".item()"},     std::string_view{".cpu()"},
      std::string_view{".tolist()"},   std::string_view{".numpy()"},
      std::string_view{".to('cpu')"},  std::string_view{".to(\"cpu\")"},
      std::string_view{"synchronize("}};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return code.find(word) != std::string_view::npos;
  });
}

}  // namespace

void ListedSource::take(std::string_view line) {
  constexpr std::size_t kMostDigits = 6, kMostLines = 4096, kLongest = 200;
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits == std::string_view::npos || digits == 0 || digits > kMostDigits) return;
  std::string_view code = line.substr(digits);
  const bool is_parted = code.starts_with("  ") || code.starts_with(": ") ||
                         code.starts_with('\t') || code.starts_with(" |") ||
                         code.starts_with(":\t");
  if (!is_parted || lines_.size() >= kMostLines) return;
  while (!code.empty() && std::string_view(" \t:|").find(code.front()) != std::string_view::npos)
    code.remove_prefix(1);
  if (const auto number = parse_whole(line.substr(0, digits)))
    lines_.try_emplace(*number, code.substr(0, kLongest));
}

std::string_view ListedSource::at(std::int64_t line) const {
  const auto found = lines_.find(line);
  return found == lines_.end() ? std::string_view() : std::string_view(found->second);
}

void ListedSource::mark_gpu_waits(std::vector<ProcessStack>& stacks) const {
  if (lines_.empty()) return;
  for (ProcessStack& stack : stacks) {
    if (stack.activity != Activity::Compute || stack.frames.empty()) continue;
    // Each listed line below must call the function above: otherwise the source is another file's.
    bool fits = true;
    for (std::size_t i = 1; i < stack.frames.size() && fits; ++i) {
      const std::string_view code = at(stack.frames[i].line);
      fits = code.empty() || code.find(stack.frames[i - 1].function) != std::string_view::npos;
    }
    if (fits && awaits_gpu(at(stack.frames.front().line))) stack.activity = Activity::GpuWait;
  }
}

}  // namespace ringside::hang
