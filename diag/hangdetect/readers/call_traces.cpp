#include "diag/hangdetect/readers/call_traces.h"

#include <utility>

#include "diag/hangdetect/readers/op_name.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

using logs::is_digit;
using logs::is_letter;

bool names_collective(std::string_view text) {
  constexpr std::size_t kShortest = 4;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_letter(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && (is_letter(text[end]) || text[end] == '_')) ++end;
    const bool is_long = end - at >= kShortest;
    if (is_long && op_of(text.substr(at, end - at)) != Op::Other) return true;
    at = end;
  }
  return false;
}

/// Words that are the same whenever the call is made.
std::string without_moment(std::string_view text) {
  std::string out;
  while (!(text = logs::trimmed_left(text)).empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    const bool is_number = word.find_first_not_of("0123456789.:-,+[]") == std::string_view::npos;
    if (is_number || word.starts_with("state=") || word.starts_with("time")) continue;
    out += out.empty() ? "" : " ";
    out += word;
  }
  return out;
}

}  // namespace

void CallTraces::take(int rank, std::string_view text, logs::Place place) {
  constexpr std::size_t kMostRanksTraced = 4096, kLongest = 200;
  if (!names_collective(text) || text.size() > kLongest) return;
  if (last_.size() >= kMostRanksTraced && !last_.contains(rank)) return;
  Call call{without_moment(text), place};
  auto& [before, last] = last_[rank];
  if (last.text == call.text) return;
  before = std::exchange(last, std::move(call));
}

CallTraces::Crossed CallTraces::crossed() const {
  for (auto one = last_.begin(); one != last_.end(); ++one) {
    const auto& [before, last] = one->second;
    if (before.text.empty()) continue;
    for (auto other = std::next(one); other != last_.end(); ++other) {
      const auto& [theirs_before, theirs_last] = other->second;
      if (before.text == theirs_last.text && last.text == theirs_before.text)
        return {one->first, other->first, one->second};
    }
  }
  return {};
}

}  // namespace ringside::hang
