#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::audit {

inline constexpr std::size_t kQuotedBytes = 400;  ///< longest quoted line, in bytes

/// Sorts a list and removes duplicates.
template <typename T>
void sort_once(std::vector<T>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

/// A quoted log line.
struct QuotedLine {
  logs::Place place;
  /// Index of JobFacts::processes; before joining, of the shard's speakers
  std::uint32_t process = 0;
  std::string text;  ///< without wrappers and control characters, cut at kQuotedBytes
};

/// The number of lines that support a finding, and the first of them as quotes. Memory is bounded for any log size.
///
/// Ordering  call add() in the order of the log within a shard, and append() with the next shard
class Evidence {
 public:
  static constexpr std::size_t kKept = 8;
  static constexpr std::size_t kMostMixed = 32;  ///< lines kept after mix()

  void add(logs::Place place, std::uint32_t process, std::string_view text) {
    if (++count_ <= kKept) keep(place, process, text);
  }

  void add(const QuotedLine& line) { add(line.place, line.process, line.text); }
  /// Appends the evidence of the next shard.
  void append(const Evidence& later);

  /// Merges lines of another type into these, sorted by place. The first kKept of each type stay, kMostMixed in total.
  void mix(const Evidence& other);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const std::vector<QuotedLine>& lines() const { return lines_; }
  /// Replaces the shard's speaker numbers by the job's process numbers.
  void renumber(const std::vector<std::uint32_t>& process_of_speaker) {
    for (QuotedLine& line : lines_) line.process = process_of_speaker[line.process];
  }

 private:
  void keep(logs::Place place, std::uint32_t process, std::string_view text);

  std::vector<QuotedLine> lines_ = {};
  std::uint64_t count_ = 0;
};

/// Returns `text` cut at kQuotedBytes with control characters replaced.
std::string quotable(std::string_view text);

}  // namespace ringside::audit
