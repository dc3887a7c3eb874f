#include "diag/hangdetect/verdict/compare.h"

#include <algorithm>
#include <set>
#include <string>

#include "diag/hangdetect/readers/dump_keys.h"

namespace ringside::hang {
namespace {

/// Returns the number of elements on which all ranks must agree; 0: none.
std::uint64_t size_that_counts(const Signature& signature) {
  switch (signature.op) {
    case Op::AllToAll:
    case Op::Barrier:
    case Op::Coalesced:
      return 0;
    case Op::Scatter:
      return signature.output_count;
    case Op::ReduceScatter:
      return signature.output_count > 0 ? signature.output_count : signature.input_count;
    default:
      return signature.input_count > 0 ? signature.input_count : signature.output_count;
  }
}

bool is_same_op(const Signature& a, const Signature& b) {
  if (a.op != b.op) return false;
  if (!a.label.empty() && !b.label.empty() && a.label != b.label) return false;
  return a.op != Op::Other || a.name == b.name;
}

/// Returns the ratio of the sizes of a coalesced all-gather or reduce-scatter, of which watchdogs log only sums.
/// returns  0: another operation
std::uint64_t gather_factor(const Signature& signature) {
  const std::uint64_t few = std::min(signature.input_count, signature.output_count);
  const std::uint64_t many = std::max(signature.input_count, signature.output_count);
  const bool is_gather = signature.op == Op::Coalesced && few > 0 && many > few && many % few == 0;
  return is_gather ? many / few : 0;
}

/// Returns whether types are compared: both sides must have them, and the non-root ranks of a scatter have none for
/// their input.
bool is_type_compared(const Signature& signature) {
  return !signature.types.empty() && signature.op != Op::Barrier && signature.op != Op::Gather &&
         signature.op != Op::Scatter && signature.op != Op::Coalesced;
}

}  // namespace

Difference difference_of(const Signature& a, const Signature& b) {
  if (!is_same_op(a, b)) return Difference::Op;
  if (is_type_compared(a) && is_type_compared(b) && a.types != b.types) return Difference::Type;
  if (size_that_counts(a) != size_that_counts(b)) return Difference::Size;
  if (gather_factor(a) != 0 && gather_factor(a) == gather_factor(b) &&
      a.input_count != b.input_count)
    return Difference::Size;
  if (a.root >= 0 && b.root >= 0 && a.root != b.root) return Difference::Root;
  return Difference::None;
}

std::uint64_t likeness_of(const Signature& signature) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(signature.op), size_that_counts(signature));
  if (signature.op == Op::Other) hash = mix(hash, hash_text(signature.name));
  if (is_type_compared(signature)) hash = mix(hash, hash_text(signature.types));
  if (!signature.label.empty()) hash = mix(hash, hash_text(signature.label));
  return mix(hash, static_cast<std::uint64_t>(signature.root + 1));
}

namespace {

/// Returns whether the members of the group used equal sizes in this kind of call whenever all made it before: an
/// all-to-all may be uneven, but if it never was, unevenness is an error.
/// returns  false also if no rank makes an all-to-all now: then it does not matter
bool was_always_even(const Job& job, const Front& front) {
  constexpr std::uint32_t kLooked =
      24;  // calls before this one. Chosen: several steps of most jobs
  const bool is_all_to_all = std::ranges::any_of(front.entered, [&](int rank) {
    const Call* call = job.find(rank, front.group, front.sequence);
    return call != nullptr && job.signature(*call).op == Op::AllToAll;
  });
  if (!is_all_to_all) return false;
  int even = 0;
  for (std::uint32_t back = 1; back <= kLooked && back < front.sequence; ++back) {
    const Call* first = nullptr;
    for (const int rank : front.entered) {
      const Call* call = job.find(rank, front.group, front.sequence - back);
      if (call == nullptr || job.signature(*call).op != Op::AllToAll) continue;
      if (first == nullptr) first = call;
      if (call->signature != first->signature &&
          job.signature(*call).input_count != job.signature(*first).input_count) {
        return false;
      }
      if (call != first) ++even;
    }
  }
  return even > 0;
}

bool is_alike(const Signature& a, const Signature& b, bool is_even) {
  if (difference_of(a, b) != Difference::None) return false;
  return !is_even || a.op != Op::AllToAll || a.input_count == b.input_count;
}

}  // namespace

std::vector<Side> sides_of(const Job& job, const Front& front) {
  std::vector<Side> sides;
  const bool is_even = was_always_even(job, front);
  std::vector<int> typeless;
  const auto is_on = [&](const Side& side, const Call& call) {
    return side.signature == call.signature ||
           is_alike(job.names().signature(side.signature), job.signature(call), is_even);
  };
  for (const int rank : front.entered) {
    const Call* call = job.find(rank, front.group, front.sequence);
    if (call == nullptr || job.signature(*call).name.empty()) continue;
    if (job.rank(rank).is_from_log && job.signature(*call).types.empty()) {
      typeless.push_back(rank);
      continue;
    }
    const auto same = std::find_if(sides.begin(), sides.end(),
                                   [&](const Side& side) { return is_on(side, *call); });
    if (same == sides.end()) {
      sides.push_back({call->signature, {rank}});
    } else {
      same->ranks.push_back(rank);
    }
  }
  // A watchdog's line has no type: it matches sides that differ in nothing else, and counts for no side.
  for (const int rank : typeless) {
    const Call& call = *job.find(rank, front.group, front.sequence);
    const auto fits = [&](const Side& side) { return is_on(side, call); };
    const auto count = std::count_if(sides.begin(), sides.end(), fits);
    if (count == 0) sides.push_back({call.signature, {rank}});
    if (count == 1) std::find_if(sides.begin(), sides.end(), fits)->ranks.push_back(rank);
  }
  for (Side& side : sides) std::sort(side.ranks.begin(), side.ranks.end());
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.ranks.size() > b.ranks.size(); });
  return sides;
}

std::optional<Front> first_difference(const Job& job, int group) {
  const std::vector<int>& members = job.group(group).members;
  std::uint32_t first = 1;
  std::set<std::uint32_t> sequences;  // sequence numbers that a program prints may differ by much
  std::vector<int> callers;
  for (const int rank : members) {
    const GroupCalls* mine = rank < job.world() ? job.calls(rank, group) : nullptr;
    if (mine == nullptr || mine->collectives.empty()) continue;
    callers.push_back(rank);
    first = std::max(first, job.rank(rank).dump->calls[mine->collectives.front()].sequence);
    for (const std::uint32_t index : mine->collectives)
      sequences.insert(job.rank(rank).dump->calls[index].sequence);
  }
  for (const std::uint32_t sequence : sequences) {
    if (sequence < first) continue;
    Front front{group, sequence, {}, {}, {}, {}};
    const Call* one = nullptr;
    bool is_different = false;
    for (const int rank : callers) {
      const Call* call = job.find(rank, group, sequence);
      if (call == nullptr) {
        front.absent.push_back(rank);
        continue;
      }
      front.waiting.push_back(rank);
      if (one == nullptr) one = call;
      is_different = is_different ||
                     (call->signature != one->signature &&
                      difference_of(job.signature(*one), job.signature(*call)) != Difference::None);
    }
    if (!is_different) continue;
    front.entered = front.waiting;
    return front;
  }
  return std::nullopt;
}

}  // namespace ringside::hang
