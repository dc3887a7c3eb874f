#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/model/document.h"

namespace ringside::gui {

/// The ranks whose input each rank's chunk contains over time during a call. It applies the trace's
/// primitives by their parts (parts_of()), as the correctness proof does for recorded programs.
///
/// takes  O(primitives of the call) once; per query O(log changes of the chunk), and the changes since the rank last
///        stored it
class ChunkHistory {
 public:
  /// The content of one rank's chunk at one time.
  struct Holding {
    std::span<const std::uint64_t> ranks;  ///< a bit for each rank whose input is included
    bool is_kept = false;                  ///< in the rank's buffer; false: only forwarded
    [[nodiscard]] bool has(int rank) const;
    [[nodiscard]] int count() const;
  };

  /// errors  Unsupported: more than kMostSteps steps, 4,096 ranks, or kMostCells; no primitives
  static Result<ChunkHistory> make(const Document& document, const CallFacts& call);

  [[nodiscard]] std::int32_t ranks() const { return ranks_; }
  /// Offsets of the chunks, ascending.
  [[nodiscard]] const std::vector<std::uint64_t>& chunks() const { return chunks_; }
  [[nodiscard]] Holding at(std::int32_t rank, std::size_t chunk, std::int64_t time_ns) const;
  /// Returns the number of contributions in a finished chunk: all ranks for a reduction, else one.
  [[nodiscard]] int whole() const { return whole_; }

  /// A chunk in flight: from the end of its send to the end of its receive.
  struct Flight {
    std::int64_t sent_ns, taken_ns;
    std::int32_t from, to;
    std::uint32_t chunk;
  };
  [[nodiscard]] const std::vector<Flight>& flights() const { return flights_; }

  /// Returns the number of messages in the longest chain of dependent messages: the rounds in the
  /// header of an algorithm.
  [[nodiscard]] int rounds() const { return rounds_; }

  /// Returns the time at which a rank first has a complete chunk; none: no chunk is complete.
  [[nodiscard]] std::optional<std::int64_t> first_whole_ns() const { return first_whole_ns_; }

  static constexpr std::size_t kMostSteps =
      400'000;  ///< Chosen: bounds the time until the view is shown

 private:
  class Maker;
  struct Change {
    std::int64_t time_ns;
    std::uint32_t set;  ///< offset in sets_, in units of words_
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
