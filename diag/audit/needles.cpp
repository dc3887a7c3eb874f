#include "diag/audit/needles.h"

#include "base/assert.h"

namespace ringside::audit {

Needles::Needles(std::span<const std::string_view> texts) : ends_(1) {
  for (const std::string_view text : texts) {
    for (const char c : text) {
      std::uint8_t& letter = letter_of_[static_cast<unsigned char>(c)];
      if (letter == 0) letter = static_cast<std::uint8_t>(nletters_++);
    }
  }
  RINGSIDE_ASSERT(nletters_ <= 256, "needles of {} kinds of characters", nletters_);
  next_.resize(nletters_);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::size_t state = 0;
    for (const char c : texts[i]) {
      std::uint16_t& to = next_[state * nletters_ + letter_of_[static_cast<unsigned char>(c)]];
      if (to != 0) {
        state = to;
        continue;
      }
      state = ends_.size();
      to = static_cast<std::uint16_t>(state);
      next_.resize(next_.size() + nletters_);
      ends_.emplace_back();
    }
    ends_[state].push_back(static_cast<std::uint16_t>(i));
  }
  RINGSIDE_ASSERT(ends_.size() <= 0x10000, "needles of {} characters", ends_.size());

  // Breadth first: where a text cannot be continued, the automaton goes to its longest proper suffix that begins a
  // text.
  std::vector<std::uint32_t> fail(ends_.size(), 0);
  std::vector<std::uint32_t> order;
  for (std::size_t c = 0; c < nletters_; ++c) {
    if (next_[c] != 0) order.push_back(next_[c]);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t state = order[i];
    const std::vector<std::uint16_t>& shorter = ends_[fail[state]];
    ends_[state].insert(ends_[state].end(), shorter.begin(), shorter.end());
    for (std::size_t c = 0; c < nletters_; ++c) {
      std::uint16_t& to = next_[state * nletters_ + c];
      const std::uint16_t otherwise = next_[fail[state] * nletters_ + c];
      if (to == 0) {
        to = otherwise;
        continue;
      }
      fail[to] = otherwise;
      order.push_back(to);
    }
  }
  for (const auto& texts_here : ends_) is_end_.push_back(texts_here.empty() ? 0 : 1);
}

}  // namespace ringside::audit
