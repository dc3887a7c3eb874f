#include "diag/logparse/piece_index.h"

#include <algorithm>

#include "diag/logparse/cursor.h"
#include "diag/logparse/quick_text.h"

namespace ringside::logs {
namespace {

/// Returns how rare a character is in the output of other programs.
int rarity(char c) {
  if (c == ' ') return 0;
  if (c >= 'a' && c <= 'z') return contains(std::string_view("etaoinsr"), c) ? 0 : 1;
  if (is_digit(c)) return 1;
  return 3;
}

}  // namespace

std::string_view PieceIndex::rarest_piece(std::string_view text) {
  std::size_t best = 0;
  int most = -1;
  for (std::size_t at = 0; at + kShortest <= text.size(); ++at) {
    int sum = 0;
    for (std::size_t i = 0; i < kShortest; ++i) sum += rarity(text[at + i]);
    if (sum > most) {
      most = sum;
      best = at;
    }
  }
  return text.substr(best, kShortest);
}

void PieceIndex::add(std::string_view piece, std::uint16_t id) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    const std::uint32_t key = four_at(piece.data() + shift);
    entries_.push_back({key, id});
    filter_.add(key);
  }
}

void PieceIndex::finish() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.id < b.id;
  });
}

void PieceIndex::search(std::string_view text, std::vector<std::uint16_t>& ids) const {
  for (std::size_t at = 0; at + 4 <= text.size(); at += 4) {
    const std::uint32_t key = four_at(text.data() + at);
    if (!filter_.may_contain(key)) continue;
    auto entry =
        std::lower_bound(entries_.begin(), entries_.end(), key,
                         [](const Entry& one, std::uint32_t sought) { return one.key < sought; });
    for (; entry != entries_.end() && entry->key == key; ++entry) ids.push_back(entry->id);
  }
}

void PieceIndex::sort_unique(std::vector<std::uint16_t>& ids) {
  // Ids of one key are sorted already. libc++ would sort numbers by a function of its library, which calls std::less; a
  // comparison of our own is inlined.
  if (!std::is_sorted(ids.begin(), ids.end())) {
    std::sort(ids.begin(), ids.end(), [](std::uint16_t a, std::uint16_t b) { return a < b; });
  }
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace ringside::logs
