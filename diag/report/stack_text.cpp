#include "diag/report/stack_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/one_line.h"
#include "diag/hangdetect/verdict/compare_stacks.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kFrames = 12;  ///< frames of a stack that are shown
/// Innermost frames that are shown even if they are of packages: the call, and its wrappers.
constexpr std::size_t kPackageFrames = 3;

/// Returns whether the frame is of an installed package or of the interpreter.
bool is_of_a_package(const Frame& frame) {
  for (const char* const part : {"-packages/", "/lib/python", ".so"}) {
    if (frame.file.find(part) != std::string::npos) return true;
  }
  return frame.file.starts_with('<');
}

std::string frame_text(const Frame& frame) {
  return fmt::format("{} ({}:{})", shown(frame.function), shown(frame.file), frame.line);
}

}  // namespace

std::string stack_text(const Stack& stack) {
  const bool is_program = !std::ranges::all_of(stack, is_of_a_package);
  std::string out;
  std::size_t count = 0, skipped = 0;
  const auto close_gap = [&] {
    if (skipped > 0) out += fmt::format("    ... {} of installed packages\n", skipped);
    skipped = 0;
  };
  for (std::size_t i = 0; i < stack.size() && count < kFrames; ++i) {
    if (is_program && i >= kPackageFrames && is_of_a_package(stack[i])) {
      ++skipped;
      continue;
    }
    close_gap();
    out += fmt::format("    {}\n", frame_text(stack[i]));
    ++count;
  }
  return out;
}

std::string parting_text(const Examination& all) {
  const Explanation& best = all.verdict.best;
  const auto compared = compare_stacks(best, *all.job, all.facts);
  if (!compared || !compared->parting) return {};
  const Parting& parting = *compared->parting;
  std::string text = fmt::format("  their stacks part at\n    {}: {}\n    {}: {}\n",
                                 ranks_text(parting.ranks), frame_text(parting.frame),
                                 ranks_text(parting.others), frame_text(parting.other_frame));
  if (best.kind == Kind::ShapeMismatch)
    text +=
        "    These are two places of the program: another branch is as likely as a wrong size.\n";
  return text;
}

}  // namespace ringside::hang
