#include "diag/report/stack_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/one_line.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kFrames = 12;  ///< frames of a stack that are shown
constexpr std::size_t kPackageFrames =
    3;  ///< of these, frames of packages: the call, and what wraps it

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

/// Where two stacks part: the number of outermost frames that they share, and the next one of the other stack.
using Parting = std::tuple<std::size_t, std::string>;

/// Returns the number of outermost frames that both share.
std::size_t shared_frames(const Stack& a, const Stack& b) {
  const auto at = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<std::size_t>(at.first - a.rbegin());
}

}  // namespace

std::string stack_text(const Stack& stack) {
  const bool is_program = !std::ranges::all_of(stack, is_of_a_package);
  std::string out;
  std::size_t count = 0, left_out = 0;
  const auto close_gap = [&] {
    if (left_out > 0) out += fmt::format("    ... {} of installed packages\n", left_out);
    left_out = 0;
  };
  for (std::size_t i = 0; i < stack.size() && count < kFrames; ++i) {
    if (is_program && i >= kPackageFrames && is_of_a_package(stack[i])) {
      ++left_out;
      continue;
    }
    close_gap();
    out += fmt::format("    {}\n", frame_text(stack[i]));
    ++count;
  }
  return out;
}

std::string parting_text(const Examination& all) {
  const std::vector<int>& culprits = all.verdict.best.culprits;
  const auto has_culprit = [&](const ProcessStack& one) {
    return std::ranges::find_first_of(one.ranks, culprits) != one.ranks.end();
  };
  const auto& stacks = all.facts.stacks;
  const auto own = std::ranges::find_if(stacks, has_culprit);
  if (own == stacks.end()) return {};
  std::map<Parting, std::vector<int>> others;
  std::size_t ranks = 0;
  for (const ProcessStack& one : stacks) {
    if (one.ranks.empty() || has_culprit(one)) continue;
    const std::size_t shared = shared_frames(own->frames, one.frames);
    const bool is_inside = shared > 0 && shared < std::min(own->frames.size(), one.frames.size());
    const std::string next =
        is_inside ? frame_text(*(one.frames.rbegin() + static_cast<std::ptrdiff_t>(shared))) : "";
    std::vector<int>& like = others[{shared, next}];
    like.insert(like.end(), one.ranks.begin(), one.ranks.end());
    ranks += one.ranks.size();
  }
  const auto most =
      std::ranges::max_element(others, {}, [](const auto& one) { return one.second.size(); });
  if (most == others.end() || most->second.size() * 2 <= ranks) return {};
  const auto& [shared, next] = most->first;
  if (next.empty()) return {};
  std::ranges::sort(most->second);
  return fmt::format("  their stacks part at\n    {}: {}\n    {}: {}\n", ranks_text(own->ranks),
                     frame_text(*(own->frames.rbegin() + static_cast<std::ptrdiff_t>(shared))),
                     ranks_text(most->second), next);
}

}  // namespace ringside::hang
