#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "diag/facts/facts.h"
#include "diag/hangdetect/verdict/verdict.h"

/// Helpers of the hypothesis generators: lists of facts of one type, and hypotheses made from them.
namespace ringside::hang {

template <typename T>
using FactList = std::vector<const T*>;

/// Returns pointers to the elements of `all` for which `is_wanted` is true. `all` must outlive them.
template <typename T, typename Predicate>
FactList<T> facts_where(const std::vector<T>& all, Predicate is_wanted) {
  FactList<T> found;
  for (const T& one : all) {
    if (is_wanted(one)) found.push_back(&one);
  }
  return found;
}

/// Converts a fact's source to evidence.
inline Evidence evidence_of(const facts::Source& source) {
  return {source.file, source.record, source.line, source.text};
}

/// Returns the ranks that a fact is about; empty if they are unknown. For a Member: the missing ranks.
inline std::vector<int> ranks_of(const facts::Died& one) {
  if (!one.ranks.empty()) return one.ranks;
  return one.subject.is_known() ? std::vector<int>{one.subject.rank} : std::vector<int>{};
}
inline std::vector<int> ranks_of(const facts::Member& one) { return one.missing; }
inline std::vector<int> ranks_of(const facts::Mismatch& one) { return one.ranks; }
inline std::vector<int> ranks_of(const facts::Fact& one) {
  return one.subject.is_known() ? std::vector<int>{one.subject.rank} : std::vector<int>{};
}

/// Returns the ranks of all facts, ascending and without duplicates.
template <typename T>
std::vector<int> ranks_of(const FactList<T>& facts) {
  std::set<int> ranks;
  for (const T* one : facts) {
    const std::vector<int> some = ranks_of(*one);
    ranks.insert(some.begin(), some.end());
  }
  return {ranks.begin(), ranks.end()};
}

/// Returns a hypothesis that `facts` state directly; it quotes the first six distinct lines as evidence.
/// ground  the feature that supports the hypothesis
template <typename T>
Explanation stated(Kind kind, Feature ground, const FactList<T>& facts, std::vector<int> culprits) {
  constexpr std::size_t kMostQuoted = 6;
  Explanation out;
  out.kind = kind;
  out.features = {ground};
  out.culprits = std::move(culprits);
  for (const T* one : facts) {
    const bool is_quoted = std::ranges::any_of(out.evidence, [&](const Evidence& known) {
      return known.line >= 0 && known.line == one->source.line && known.file == one->source.file;
    });
    if (out.evidence.size() < kMostQuoted && !is_quoted)
      out.evidence.push_back(evidence_of(one->source));
  }
  if (!facts.empty()) out.reporter = facts.front()->reporter;
  return out;
}

/// Sorts facts by time. Facts of equal time keep their order, and facts without a time their places.
template <typename T>
void sort_by_time(FactList<T>& facts) {
  const auto has_time = [](const T* one) { return one->time_us != 0; };
  FactList<T> timed;
  std::ranges::copy_if(facts, std::back_inserter(timed), has_time);
  std::ranges::stable_sort(timed, {}, &T::time_us);
  auto next = timed.begin();
  for (auto& fact : facts) {
    if (has_time(fact)) fact = *next++;
  }
}

}  // namespace ringside::hang
