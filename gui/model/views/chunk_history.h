#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/model/document.h"

namespace ringside::gui {

/// Whose input a rank's chunk holds, during a call: the effect of the trace's primitives, each on its parts
/// (parts_of()), as the correctness proof computes it for recorded programs.
///
/// takes  O(primitives of the call) once, O(log) a question
class ChunkHistory {
 public:
  /// The content of one rank's chunk at one time.
  struct Holding {
    std::span<const std::uint64_t> ranks;  ///< a bit for each whose input is in it
    bool is_kept = false;                  ///< in its buffer; else it was only passed on
    [[nodiscard]] bool has(int rank) const;
    [[nodiscard]] int count() const;
  };

  /// errors  Unsupported: more steps than are handled at once; no primitives
  static Result<ChunkHistory> make(const Document& document, const CallFacts& call);

  [[nodiscard]] std::int32_t ranks() const { return ranks_; }
  /// Offsets of the chunks, ascending.
  [[nodiscard]] const std::vector<std::uint64_t>& chunks() const { return chunks_; }
  [[nodiscard]] Holding at(std::int32_t rank, std::size_t chunk, std::int64_t time_ns) const;
  /// The contributions of a finished chunk: all ranks of a reduction, else one.
  [[nodiscard]] int whole() const { return whole_; }

  /// A chunk in flight: from the end of its send to the end of its receive.
  struct Flight {
    std::int64_t sent_ns, taken_ns;
    std::int32_t from, to;
    std::uint32_t chunk;
  };
  [[nodiscard]] const std::vector<Flight>& flights() const { return flights_; }

  /// The number of messages in the longest chain of them, each of which waited for the previous one: the rounds that
  /// the header of an algorithm states.
  [[nodiscard]] int rounds() const { return rounds_; }

  /// When the first chunk has all its contributions at some rank; none: no chunk does.
  [[nodiscard]] std::optional<std::int64_t> first_whole_ns() const { return first_whole_ns_; }

  static constexpr std::size_t kMostSteps = 400'000;

 private:
  class Maker;
  struct Change {
    std::int64_t time_ns;
    std::uint32_t set;  ///< place in sets_, in units of words_
    bool is_kept;
  };
  std::int32_t ranks_ = 0;
  std::size_t words_ = 1;
  int whole_ = 1;
  int rounds_ = 0;
  std::optional<std::int64_t> first_whole_ns_ = {};
  std::vector<std::uint64_t> chunks_;
  std::vector<std::uint64_t> sets_;
  std::vector<std::vector<Change>> cells_;  ///< [rank x chunks + chunk]
  std::vector<Flight> flights_;             ///< by their beginning
};

}  // namespace ringside::gui
