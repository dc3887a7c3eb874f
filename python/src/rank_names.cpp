#include "python/src/rank_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace ringside::pytorch {
namespace {

constexpr std::size_t kMostDigits = 8;  // of a rank; a longer number names none
constexpr int kMostListed = 4096;       // of a range

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the end of the rank at `at`; `at` itself: there is none.
std::size_t end_of_rank(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  const bool is_rank = end - at <= kMostDigits && (end == text.size() || !is_word(text[end]));
  return is_rank ? end : at;
}

/// Returns the end of the ranks at `at`, as in `0,2-3` or `1, 2 and 4`; `at` itself: there are none.
std::size_t end_of_ranks(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 4> kBetween{", ", " and ", ",", "-"};
  std::size_t end = end_of_rank(text, at);
  for (bool is_longer = end > at; is_longer;) {
    is_longer = false;
    for (const std::string_view between : kBetween) {
      if (!text.substr(end).starts_with(between)) continue;
      const std::size_t next = end + between.size();
      const std::size_t next_end = end_of_rank(text, next);
      if (next_end == next) continue;
      end = next_end;
      is_longer = true;
      break;
    }
  }
  return end;
}

int number_of(std::string_view digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

int RankNames::in_job(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return rank >= 0 && at < job_ranks_.size() ? job_ranks_[at] : rank;
}

std::string RankNames::of(int rank) const { return renamed("rank " + std::to_string(rank)); }

std::string RankNames::list_in_job(std::string_view list) const {
  std::string out;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = end_of_rank(list, at);
    if (end == at) {
      out += list[at++];
      continue;
    }
    const int first = number_of(list.substr(at, end - at));
    int last = first;
    at = end;
    if (at < list.size() && list[at] == '-') {
      const std::size_t last_end = end_of_rank(list, at + 1);
      last = number_of(list.substr(at + 1, last_end - at - 1));
      at = last_end;
    }
    // The ranks of a range in the group need not follow each other in the job.
    for (int rank = first; rank <= std::min(last, first + kMostListed); ++rank) {
      out += (rank > first ? "," : "") + std::to_string(in_job(rank));
    }
  }
  return out;
}

std::string RankNames::renamed(std::string_view message) const {
  constexpr std::array<std::string_view, 3> kWords{"rank ", "root ", "ranks "};
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    std::size_t end = at;
    if (!job_ranks_.empty() && (at == 0 || !is_word(message[at - 1]))) {
      for (const std::string_view word : kWords) {
        if (!message.substr(at).starts_with(word)) continue;
        const std::size_t ranks = at + word.size();
        const std::size_t after =
            word == "ranks " ? end_of_ranks(message, ranks) : end_of_rank(message, ranks);
        if (after == ranks) continue;
        end = after;
        const std::string_view list = message.substr(ranks, after - ranks);
        const std::string listed = list_in_job(list);
        out.append(word).append(listed);
        if (listed != list && !group_.empty()) {
          out.append(" (").append(word).append(list).append(" of group " + group_ + ")");
        }
      }
    }
    if (end == at) out += message[end++];
    at = end;
  }
  return out;
}

}  // namespace ringside::pytorch
