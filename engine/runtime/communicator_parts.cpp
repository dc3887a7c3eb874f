#include "engine/runtime/communicator_parts.h"

#include <cstring>
#include <span>

#include "base/mixed.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/communicator.h"

namespace ringside {

Result<std::vector<int>> gather_job_ranks(Bootstrap& bootstrap, int mine, Deadline deadline) {
  RINGSIDE_TRY(const std::vector<std::byte> all,
               bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  std::vector<int> ranks(all.size() / sizeof mine);
  std::memcpy(ranks.data(), all.data(), all.size());
  return ranks;
}

CommunicatorOptions options_of_part(const CommunicatorOptions& whole,
                                    const std::vector<Rank>& ranks) {
  CommunicatorOptions own = whole;
  own.job_rank.reset();
  own.job_ranks.clear();
  for (const Rank rank : ranks) {
    const auto at = static_cast<std::size_t>(to_int(rank));
    own.job_ranks.push_back(whole.job_ranks.empty() ? to_int(rank) : whole.job_ranks[at]);
  }
  return own;
}

std::uint32_t trace_number_of_name(const std::string& name) {
  constexpr std::uint32_t kBeyond = 1U << 31;  // numbers that are counted stay below it
  std::uint64_t hash = 1;
  for (const char letter : name) hash = mixed_with(hash, static_cast<unsigned char>(letter));
  return static_cast<std::uint32_t>(hash) | kBeyond;
}

std::uint32_t trace_number_of_part(const CommunicatorOptions& part,
                                   const CommunicatorOptions& whole, int splits, int nranks,
                                   Rank first) {
  if (whole.trace_number != 0) return trace_number_of_name(part.name);
  return static_cast<std::uint32_t>(1 + (splits - 1) * nranks + to_int(first));
}

}  // namespace ringside
