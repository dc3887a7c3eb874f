#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::audit {

inline constexpr std::size_t kQuotedBytes = 400;

/// Inserts into an ascending list without duplicates: processes that print the same, ranks, hosts.
template <typename T>
void sort_once(std::vector<T>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

/// A line that is evidence.
struct QuotedLine {
  logs::Place place;
  std::uint32_t process =
      0;             ///< index of JobFacts::processes; of a shard's speakers before they are joined
  std::string text;  ///< without wrappers and control characters, cut at kQuotedBytes
};

/// The first lines that show a thing, and their number: enough for a reader of thousands of equal lines. Bounded,
/// whatever the size of the log.
///
/// Order  of add() is that of the log within a shard; append() takes the next shard
class Evidence {
 public:
  static constexpr std::size_t kKept = 8;
  static constexpr std::size_t kMostMixed = 32;  ///< of several kinds

  void add(logs::Place place, std::uint32_t process, std::string_view text) {
    if (++count_ <= kKept) keep(place, process, text);
  }

  void add(const QuotedLine& line) { add(line.place, line.process, line.text); }
  void append(const Evidence& later);

  /// Merges lines of another kind into these, by place: the first kKept of each kind stay.
  void mix(const Evidence& other);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const std::vector<QuotedLine>& lines() const { return lines_; }
  /// Converts speakers of a shard to processes of the job.
  void renumber(const std::vector<std::uint32_t>& process_of_speaker) {
    for (QuotedLine& line : lines_) line.process = process_of_speaker[line.process];
  }

 private:
  void keep(logs::Place place, std::uint32_t process, std::string_view text);

  std::vector<QuotedLine> lines_ = {};
  std::uint64_t count_ = 0;
};

/// `text` cut at kQuotedBytes, control characters replaced.
std::string quotable(std::string_view text);

}  // namespace ringside::audit
