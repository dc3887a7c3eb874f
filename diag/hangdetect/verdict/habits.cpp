#include "diag/hangdetect/verdict/habits.h"

#include <algorithm>
#include <array>

#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/verdict/compare.h"

namespace ringside::hang {
namespace {

/// Numbers of preceding calls by which the next one is predicted, in the order in which they are tried.
constexpr std::array<std::size_t, 5> kLengths = {8, 5, 3, 2, 1};
/// Least number of ranks that are used in a larger job. Chosen: parallel ranks make the same calls, and a pipeline has fewer
/// stages.
constexpr std::size_t kTeachers = 64;
/// Newest calls of each rank that are used. Chosen: several steps of most jobs.
constexpr std::size_t kTaught = 400;

/// Returns a hash of the last `length` roles.
std::uint64_t context(const std::vector<std::uint64_t>& roles, std::size_t end,
                      std::size_t length) {
  std::uint64_t hash = length;
  for (std::size_t i = end - length; i < end; ++i) hash = mix(hash, roles[i]);
  return hash;
}

}  // namespace

Habits::Habits(const Job& job) : job_(job), by_length_(kLengths.size()) {
  for (const Group& group : job.groups()) {
    const bool has_role = !group.description.empty() && group.description != "undefined";
    group_roles_.push_back(hash_text(has_role ? group.description : group.name));
  }
  const int step = std::max(1, job.world() / static_cast<int>(kTeachers));
  for (int rank = 0; rank < job.world(); rank += step) {
    if (job.rank(rank).dump == nullptr) continue;
    teachers_.push_back(rank);
    const std::vector<std::uint64_t> roles = roles_before(rank, job.rank(rank).dump->calls.size());
    for (std::size_t i = 1; i < roles.size(); ++i) {
      for (std::size_t k = 0; k < kLengths.size(); ++k) {
        if (kLengths[k] > i) continue;
        Next& next = by_length_[k][context(roles, i, kLengths[k])];
        ++next.seen;
        ++next.counts[roles[i]];
      }
    }
  }
}

std::uint64_t Habits::role(int rank, std::size_t index) const {
  const RankView& view = job_.rank(rank);
  const Call& call = view.dump->calls[index];
  const auto group = static_cast<std::size_t>(view.group_of_call[index]);
  return mix(group_roles_[group], likeness_of(job_.signature(call)));
}

std::vector<std::uint64_t> Habits::roles_before(int rank, std::size_t index) const {
  const RankView& view = job_.rank(rank);
  std::vector<std::uint64_t> roles;
  for (std::size_t i = index > kTaught ? index - kTaught : 0; i < index; ++i) {
    if (view.group_of_call[i] >= 0) roles.push_back(role(rank, i));
  }
  return roles;
}

std::optional<double> Habits::usual(int rank, std::size_t index) const {
  const std::vector<std::uint64_t> before = roles_before(rank, index);
  const std::uint64_t mine = role(rank, index);
  const bool is_teacher = std::binary_search(teachers_.begin(), teachers_.end(), rank);
  for (std::size_t k = 0; k < kLengths.size(); ++k) {
    if (kLengths[k] > before.size()) continue;
    const auto found = by_length_[k].find(context(before, before.size(), kLengths[k]));
    if (found == by_length_[k].end()) continue;
    const std::uint32_t own = is_teacher ? 1 : 0;
    // A single other occurrence may be that of the rank which is being compared.
    if (found->second.seen < own + 2) continue;
    const auto count = found->second.counts.find(mine);
    const std::uint32_t times = count == found->second.counts.end() ? own : count->second;
    return static_cast<double>(times - own) / static_cast<double>(found->second.seen - own);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Habits::due_after(int rank, std::size_t index) const {
  const std::vector<std::uint64_t> before = roles_before(rank, index + 1);
  for (std::size_t k = 0; k < kLengths.size(); ++k) {
    if (kLengths[k] > before.size()) continue;
    const auto found = by_length_[k].find(context(before, before.size(), kLengths[k]));
    if (found == by_length_[k].end()) continue;
    const auto& counts = found->second.counts;
    const auto most =
        std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
          return a.second != b.second ? a.second < b.second : a.first < b.first;
        });
    return most->first;
  }
  return std::nullopt;
}

}  // namespace ringside::hang
