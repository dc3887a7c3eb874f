#include "diag/audit/needles.h"

#include "base/assert.h"

namespace ringside::audit {

Needles::Needles(std::span<const std::string_view> texts) : next_(1), ends_(1) {
  next_[0].fill(0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::uint32_t state = 0;
    for (const char c : texts[i]) {
      std::uint16_t& to = next_[state][static_cast<unsigned char>(c)];
      if (to != 0) {
        state = to;
        continue;
      }
      to = static_cast<std::uint16_t>(next_.size());
      state = to;  // before the rows move
      next_.emplace_back();
      next_.back().fill(0);
      ends_.emplace_back();
    }
    ends_[state].push_back(static_cast<std::uint16_t>(i));
  }
  RINGSIDE_ASSERT(next_.size() <= 0x10000, "needles of {} characters", next_.size());

  // Breadth first: where a text goes on no more, its longest proper end that begins one does.
  std::vector<std::uint32_t> fail(next_.size(), 0);
  std::vector<std::uint32_t> order;
  for (const std::uint16_t to : next_[0]) {
    if (to != 0) order.push_back(to);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t state = order[i];
    const std::vector<std::uint16_t>& shorter = ends_[fail[state]];
    ends_[state].insert(ends_[state].end(), shorter.begin(), shorter.end());
    for (std::size_t c = 0; c < 256; ++c) {
      std::uint16_t& to = next_[state][c];
      const std::uint16_t otherwise = next_[fail[state]][c];
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
