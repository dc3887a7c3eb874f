#include "engine/runtime/bootstrap/peers.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engine/runtime/bootstrap/bootstrap.h"

namespace ringside {
namespace {

static_assert(sizeof(cpu_set_t) == sizeof(PeerInfo::cores));

/// Gathers blocks of any length from all ranks, by rank.
/// errors  as Bootstrap::all_gather(); Corrupt: a block is longer than any valid one
Result<std::vector<std::vector<std::byte>>> gather_any(Bootstrap& bootstrap,
                                                       std::vector<std::byte> mine,
                                                       Deadline deadline) {
  // Far above any description: addresses on all transports take a few KiB each (kLongestAddress).
  constexpr std::uint64_t kMost = 1 << 21;
  const std::uint64_t size = mine.size();
  RINGSIDE_TRY(const std::vector<std::byte> gathered,
               bootstrap.all_gather(std::as_bytes(std::span(&size, 1)), deadline));
  std::vector<std::uint64_t> sizes(gathered.size() / sizeof size);
  std::memcpy(sizes.data(), gathered.data(), gathered.size());
  const std::uint64_t longest = std::ranges::max(sizes);
  if (longest > kMost) {
    return Error{ErrorCode::Corrupt, fmt::format("a rank sends a description of {} bytes", longest),
                 "use the same version on every rank"};
  }
  mine.resize(longest);
  RINGSIDE_TRY(const std::vector<std::byte> all, bootstrap.all_gather(mine, deadline));
  std::vector<std::vector<std::byte>> each;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * longest);
    each.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(sizes[rank]));
  }
  return each;
}

}  // namespace

PeerInfo describe_rank(const Whereabouts& where) {
  PeerInfo info;
  info.where = where;
  const long cache = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  info.cache = cache > 0 ? static_cast<std::uint64_t>(cache) : HostLayout{}.cache.value;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_SET(0, &cores);
  std::memcpy(info.cores.data(), &cores, sizeof cores);
  return info;
}

Result<Peers> Peers::gather(Bootstrap& bootstrap, const PeerInfo& mine, const Transport* requested,
                            Deadline deadline) {
  RINGSIDE_TRY(const auto gathered, gather_any(bootstrap, to_bytes(mine), deadline));
  std::vector<PeerInfo> all;
  for (const std::vector<std::byte>& bytes : gathered) {
    RINGSIDE_TRY(PeerInfo info, parse_peer_info(bytes));
    all.push_back(std::move(info));
  }
  return Peers(std::move(all), requested);
}

Peers::Peers(std::vector<PeerInfo> all, const Transport* requested)
    : all_(std::move(all)), requested_(requested) {
  for (std::uint32_t rank = 0; rank < all_.size(); ++rank) all_[rank].where.rank = rank;
}

Result<const Transport*> Peers::between(std::uint32_t from, std::uint32_t to) const {
  const Transport* transport = choose_transport(transports(), at(from), at(to));
  if (transport != nullptr) return transport;
  if (requested_ == nullptr) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("no transport connects ranks {} and {}", from, to),
                 "use the same version on every rank"};
  }
  return Error{ErrorCode::Unsupported,
               fmt::format("{} connects {}, but not ranks {} and {}", requested_->name,
                           requested_->joins, from, to),
               "omit --transport, or give another on every rank"};
}

Result<HostLayout> Peers::layout(std::uint32_t me) const {
  HostLayout layout;
  const auto n = static_cast<std::uint32_t>(all_.size());
  layout.cache = Bytes{std::ranges::min(all_, {}, &PeerInfo::cache).cache};
  std::vector<const Transport*> used;
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    RINGSIDE_TRY(const Transport* const transport, between(rank, (rank + 1) % n));
    used.push_back(transport);
    layout.crosses_hosts |= !share_host(rank, (rank + 1) % n);
    const auto [ranks, cores] = ranks_and_cores_of_host(rank);
    layout.is_crowded |= ranks > cores;
    if (rank != me) continue;
    layout.local_ranks = ranks;
    layout.local_cores = cores;
  }
  layout.ranks_per_node = equal_run_length();
  // By their address in the table, which lists the fastest first.
  std::ranges::sort(used);
  used.erase(std::ranges::unique(used).begin(), used.end());
  layout.slowest = used.back();
  if (n == 1) return layout;
  layout.transport.clear();
  for (const Transport* transport : used) {
    layout.transport += fmt::format("{}{}", layout.transport.empty() ? "" : "+", transport->name);
  }
  return layout;
}

bool Peers::share_host(std::uint32_t a, std::uint32_t b) const { return at(a).host == at(b).host; }

/// Returns the number of ranks on the rank's host, and of the cores that these ranks may use.
std::pair<int, int> Peers::ranks_and_cores_of_host(std::uint32_t rank) const {
  auto cores = all_[rank].cores;
  int ranks = 0;
  for (std::uint32_t other = 0; other < all_.size(); ++other) {
    if (!share_host(rank, other)) continue;
    ++ranks;
    for (std::size_t i = 0; i < cores.size(); ++i) cores.at(i) |= all_[other].cores.at(i);
  }
  int count = 0;
  for (const std::uint64_t word : cores) count += std::popcount(word);
  return {ranks, std::max(1, count)};
}

/// Returns HostLayout::ranks_per_node.
int Peers::equal_run_length() const {
  const auto n = static_cast<std::uint32_t>(all_.size());
  std::uint32_t each = 1;
  while (each < n && share_host(0, each)) ++each;
  if (each == n || n % each != 0) return 0;
  for (std::uint32_t rank = each; rank < n; ++rank) {
    const bool begins = rank % each == 0;
    if (share_host(rank - 1, rank) == begins) return 0;
  }
  return static_cast<int>(each);
}

}  // namespace ringside
