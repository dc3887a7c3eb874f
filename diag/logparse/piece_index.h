#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diag/logparse/four_bytes.h"

namespace ringside::logs {

/// Finds which of many texts may occur in a line. Each is indexed by a piece of seven characters, at any position.
///
/// The search looks at every fourth place of a line: four characters there are the key of a filter that holds the
/// pieces in their four alignments. Most lines of other programs pass through it without a hit.
///
/// Ordering  add() for each text, then finish(), once
/// Threads   after finish() any thread may search
class PieceIndex {
 public:
  static constexpr std::size_t kShortest =
      7;  ///< then one of a piece's alignments meets every fourth place

  /// The seven characters of a text that are the rarest together in other programs' output.
  /// shape  kShortest characters or more
  static std::string_view rarest_piece(std::string_view text);

  /// shape  piece: kShortest characters
  void add(std::string_view piece, std::uint16_t id);
  void finish();

  /// Appends the ids whose pieces may occur in the text; an id may come several times.
  void search(std::string_view text, std::vector<std::uint16_t>& ids) const;

 private:
  struct Entry {
    std::uint32_t key;
    std::uint16_t id;
  };
  std::vector<Entry> entries_;
  FourByteFilter<16> filter_;
};

}  // namespace ringside::logs
