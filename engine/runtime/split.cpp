#include "engine/runtime/split.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "engine/runtime/bootstrap.h"

namespace ringside {
namespace {

/// What each rank wants. Plain bytes.
struct Wish {
  std::int64_t is_in = 0;
  std::int64_t color = 0;
  std::int64_t key = 0;
};

/// Where the first rank of each part waits for the others; empty of ranks that are first in none.
using RootText = std::array<char, 64>;

template <typename T>
Result<std::vector<T>> gather(Bootstrap& parent, const T& mine, Deadline deadline) {
  RINGSIDE_TRY(const std::vector<std::byte> bytes,
               parent.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  std::vector<T> all(bytes.size() / sizeof mine);
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof mine);
  return all;
}

std::vector<Rank> part_of(const std::vector<Wish>& wishes, std::size_t me) {
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < wishes.size(); ++rank) {
    const bool is_with_me = wishes[rank].is_in != 0 && wishes[rank].color == wishes[me].color;
    if (is_with_me) ranks.push_back(Rank{static_cast<std::int32_t>(rank)});
  }
  std::ranges::stable_sort(
      ranks, {}, [&](Rank rank) { return wishes[static_cast<std::size_t>(to_int(rank))].key; });
  return ranks;
}

}  // namespace

Result<std::optional<SplitPart>> split(Bootstrap& parent, std::optional<int> color, int key,
                                       Deadline deadline, Nanoseconds join_timeout) {
  const auto me = static_cast<std::size_t>(to_int(parent.rank()));
  RINGSIDE_TRY(const std::vector<Wish> wishes,
               gather(parent, Wish{color ? 1 : 0, color.value_or(0), key}, deadline));
  SplitPart part;
  if (color) part.ranks = part_of(wishes, me);
  const bool is_first = color && part.ranks.front() == parent.rank();

  // The job's own secret serves: a part of it is no other job.
  std::unique_ptr<BootstrapRoot> root;
  RootText text{};
  if (is_first && part.ranks.size() > 1) {
    RINGSIDE_TRY(root, BootstrapRoot::start({.listen = parent.address(),
                                             .secret = parent.secret(),
                                             .nranks = static_cast<int>(part.ranks.size()),
                                             .join_timeout = join_timeout,
                                             .clock = &parent.clock()}));
    const std::string address = to_string(root->address());
    RINGSIDE_ASSERT(address.size() < text.size(), "address of {} bytes", address.size());
    std::memcpy(text.data(), address.data(), address.size());
  }
  RINGSIDE_TRY(std::vector<RootText> roots, gather(parent, text, deadline));
  if (!color) return std::optional<SplitPart>();

  BootstrapOptions options;
  const auto place = std::ranges::find(part.ranks, parent.rank()) - part.ranks.begin();
  options.rank = Rank{static_cast<std::int32_t>(place)};
  options.nranks = static_cast<int>(part.ranks.size());
  options.listen = parent.address();
  options.join_timeout = join_timeout;
  options.clock = &parent.clock();
  if (options.nranks > 1) {
    RootText& meeting = roots[static_cast<std::size_t>(to_int(part.ranks.front()))];
    meeting.back() = '\0';
    RINGSIDE_TRY(options.id.root, parse_socket_address(meeting.data()));
    options.id.secret = parent.secret();
  }
  RINGSIDE_TRY(part.bootstrap, Bootstrap::join(options));
  return std::optional<SplitPart>(std::move(part));
}

}  // namespace ringside
