#include "python/src/rank_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <regex>

namespace ringside::pytorch {
namespace {

/// Returns the text with each match of the pattern replaced by `replace(match)`.
template <typename Replace>
std::string replaced(const std::string& text, const std::regex& pattern, Replace&& replace) {
  std::string out;
  auto rest = text.begin();
  for (std::sregex_iterator one(text.begin(), text.end(), pattern), end; one != end; ++one) {
    out.append(rest, (*one)[0].first);
    out += replace(*one);
    rest = (*one)[0].second;
  }
  return out.append(rest, text.end());
}

}  // namespace

int RankNames::in_job(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return rank >= 0 && at < job_ranks_.size() ? job_ranks_[at] : rank;
}

std::string RankNames::of(int rank) const { return renamed("rank " + std::to_string(rank)); }

std::string RankNames::renamed(const std::string& message) const {
  constexpr int kMostListed = 4096;
  // Never destroyed: messages may be reported while the process ends.
  static const auto& named = *new std::regex(
      "\\b(?:(rank|root) ([0-9]{1,8})|(ranks) ([0-9]{1,8}(?:(?:,|, | and |-)[0-9]{1,8})*))\\b");
  static const auto& range = *new std::regex("([0-9]+)-([0-9]+)|[0-9]+");
  return replaced(message, named, [&](const std::smatch& one) {
    const std::string word = one.str(1) + one.str(3);
    const std::string list = one.str(2) + one.str(4);
    // The ranks of a range in the group need not follow each other in the job.
    const std::string in_job = replaced(list, range, [&](const std::smatch& part) {
      const int first = std::atoi(part.str(part[1].matched ? 1 : 0).c_str());
      const int last = part[2].matched ? std::atoi(part.str(2).c_str()) : first;
      std::string all;
      for (int rank = first; rank <= std::min(last, first + kMostListed); ++rank) {
        all += (rank > first ? "," : "") + std::to_string(this->in_job(rank));
      }
      return all;
    });
    if (job_ranks_.empty() || in_job == list) return word + " " + list;
    const std::string of_group = " (" + word + " " + list + " of group " + group_ + ")";
    return word + " " + in_job + (group_.empty() ? "" : of_group);
  });
}

}  // namespace ringside::pytorch
