#pragma once

#include <cstdint>
#include <string>

namespace ringside::diag {

/// How good an answer is, compared with the label of its case. The values are ordered: a later one is better.
enum class Outcome : std::uint8_t {
  Wrong,   ///< a wrong cause, an innocent rank, or an alarm about a healthy job
  Silent,  ///< nothing wrong, and nothing that helps
  Fair,    ///< a part of the answer, and nothing wrong
  Right,   ///< the cause (and the culprits) that the label accepts
};

inline const char* to_string(Outcome outcome) {
  constexpr const char* kNames[] = {"wrong", "silent", "fair", "right"};
  return kNames[static_cast<std::size_t>(outcome)];
}

/// The answer to one case.
struct Answer {
  Outcome outcome = Outcome::Silent;
  /// In a few words that stay the same without a reason to change: "dead_rank [3] high"
  std::string verdict;
  std::string details;  ///< for a person: what was expected, and what was answered
};

}  // namespace ringside::diag
