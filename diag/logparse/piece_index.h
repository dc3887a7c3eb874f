#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diag/logparse/four_bytes.h"

namespace ringside::logs {

/// Finds the texts, out of many, that may occur in a line. Each text is indexed by a piece of seven of its characters.
///
/// The search tests the four characters at every fourth offset of the line with a filter, which holds each piece in
/// four alignments. Most lines of other programs have no match in the filter.
///
/// Ordering  add() for each text, then finish(), once
/// Threads   after finish() any thread may search
class PieceIndex {
 public:
  /// Then one of a piece's alignments meets every fourth place
  static constexpr std::size_t kShortest = 7;

  /// Returns the seven consecutive characters of a text that are rarest in other programs' output.
  /// shape  kShortest characters or more
  static std::string_view rarest_piece(std::string_view text);

  /// Adds a piece of the text `id`.  shape  piece: kShortest characters
  void add(std::string_view piece, std::uint16_t id);
  void finish();

  /// Appends the ids of the texts that may occur in `text`, possibly with duplicates.
  void search(std::string_view text, std::vector<std::uint16_t>& ids) const;

  /// Sorts ids and removes duplicates.
  static void sort_unique(std::vector<std::uint16_t>& ids);

 private:
  struct Entry {
    std::uint32_t key;
    std::uint16_t id;
  };
  std::vector<Entry> entries_;
  FourByteFilter<16> filter_;
};

}  // namespace ringside::logs
