#include "diag/audit/evidence.h"

#include <algorithm>

namespace ringside::audit {

using namespace logs;  // most names below are its record types

std::string quotable(std::string_view text) {
  std::string quoted(text.substr(0, kQuotedBytes));
  std::replace_if(
      quoted.begin(), quoted.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }, ' ');
  while (!quoted.empty() && quoted.back() == ' ') quoted.pop_back();
  return quoted;
}

void Evidence::keep(Place place, std::uint32_t process, std::string_view text) {
  lines_.push_back({place, process, quotable(text)});
}

void Evidence::append(const Evidence& later) {
  count_ += later.count_;
  const std::size_t room = kKept - std::min(kKept, lines_.size());
  const std::size_t taken = std::min(room, later.lines_.size());
  lines_.insert(lines_.end(), later.lines_.begin(),
                later.lines_.begin() + static_cast<std::ptrdiff_t>(taken));
}

void Evidence::mix(const Evidence& other) {
  count_ += other.count_;
  lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end());
  std::stable_sort(lines_.begin(), lines_.end(),
                   [](const QuotedLine& a, const QuotedLine& b) { return a.place < b.place; });
  if (lines_.size() > kMostMixed) lines_.resize(kMostMixed);
}

}  // namespace ringside::audit
