#include "engine/runtime/split.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/fixed_text.h"
#include "engine/transport/socket/socket.h"

namespace ringside {
namespace {

/// The request of each rank. Plain bytes.
struct SplitRequest {
  std::int64_t is_in = 0;
  std::int64_t color = 0;
  std::int64_t key = 0;
};

/// Address of the bootstrap root of a part, from its first rank; empty: this rank is first in no part.
using RootText = std::array<char, 64>;

template <typename T>
Result<std::vector<T>> gather(Bootstrap& parent, const T& mine, Deadline deadline) {
  RINGSIDE_TRY(const std::vector<std::byte> bytes,
               parent.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  std::vector<T> all(bytes.size() / sizeof mine);
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof mine);
  return all;
}

std::vector<Rank> part_of(const std::vector<SplitRequest>& requests, std::size_t me) {
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < requests.size(); ++rank) {
    const bool is_with_me = requests[rank].is_in != 0 && requests[rank].color == requests[me].color;
    if (is_with_me) ranks.push_back(Rank{static_cast<std::int32_t>(rank)});
  }
  std::ranges::stable_sort(
      ranks, {}, [&](Rank rank) { return requests[static_cast<std::size_t>(to_int(rank))].key; });
  return ranks;
}

RootText root_text(const SocketAddress& address) {
  RootText text{};
  const std::string whole = to_string(address);
  RINGSIDE_ASSERT(whole.size() < text.size(), "address of {} bytes", whole.size());
  put_text(text, whole);
  return text;
}

/// The root uses the job's secret: every part belongs to the same job.
Result<std::unique_ptr<BootstrapRoot>> start_root(const Bootstrap& parent,
                                                  const SocketAddress& listen, std::size_t ranks,
                                                  Nanoseconds join_timeout) {
  return BootstrapRoot::start({.listen = listen,
                               .secret = parent.secret(),
                               .nranks = static_cast<int>(ranks),
                               .join_timeout = join_timeout,
                               .clock = &parent.clock()});
}

/// meeting  address of the root; not used if there is one rank
Result<std::unique_ptr<Bootstrap>> join_part(const Bootstrap& parent,
                                             const std::vector<Rank>& ranks,
                                             const SocketAddress& meeting,
                                             Nanoseconds join_timeout) {
  const auto place = std::ranges::find(ranks, parent.rank()) - ranks.begin();
  return Bootstrap::join({.rank = Rank{static_cast<std::int32_t>(place)},
                          .nranks = static_cast<int>(ranks.size()),
                          .id = {meeting, parent.secret()},
                          .listen = parent.address(),
                          .join_timeout = join_timeout,
                          .clock = &parent.clock()});
}

}  // namespace

Result<std::optional<SplitPart>> split(Bootstrap& parent, std::optional<int> color, int key,
                                       Deadline deadline, Nanoseconds join_timeout) {
  const auto me = static_cast<std::size_t>(to_int(parent.rank()));
  RINGSIDE_TRY(const std::vector<SplitRequest> requests,
               gather(parent, SplitRequest{color ? 1 : 0, color.value_or(0), key}, deadline));
  SplitPart part;
  if (color) part.ranks = part_of(requests, me);
  const bool is_first = color && part.ranks.front() == parent.rank();

  std::unique_ptr<BootstrapRoot> root;
  RootText text{};
  if (is_first && part.ranks.size() > 1) {
    RINGSIDE_TRY(root, start_root(parent, parent.address(), part.ranks.size(), join_timeout));
    text = root_text(root->address());
  }
  RINGSIDE_TRY(const std::vector<RootText> roots, gather(parent, text, deadline));
  if (!color) return std::optional<SplitPart>();

  SocketAddress meeting;
  if (part.ranks.size() > 1) {
    const RootText& at = roots[static_cast<std::size_t>(to_int(part.ranks.front()))];
    RINGSIDE_TRY(meeting, parse_socket_address(text_of(at)));
  }
  RINGSIDE_TRY(part.bootstrap, join_part(parent, part.ranks, meeting, join_timeout));
  return std::optional<SplitPart>(std::move(part));
}

Result<MeetingPlaces> MeetingPlaces::agree(Bootstrap& bootstrap, Deadline deadline) {
  MeetingPlaces made;
  if (bootstrap.nranks() == 1) return made;
  RINGSIDE_TRY(made.taken_, take_port(bootstrap.address()));
  RINGSIDE_TRY(const Endpoint mine, local_endpoint(made.taken_.get()));
  const RootText text = root_text(std::get<SocketAddress>(mine));
  RINGSIDE_TRY(const std::vector<RootText> all, gather(bootstrap, text, deadline));
  for (const RootText& one : all) {
    RINGSIDE_TRY(const SocketAddress place, parse_socket_address(text_of(one)));
    made.places_.push_back(place);
  }
  return made;
}

Result<SplitPart> MeetingPlaces::meet(const Bootstrap& parent, const std::vector<Rank>& left,
                                      Nanoseconds join_timeout) {
  SplitPart part;
  part.ranks = left;
  std::unique_ptr<BootstrapRoot> root;
  SocketAddress meeting;
  if (left.size() > 1) {
    meeting = places_[static_cast<std::size_t>(to_int(left.front()))];
    if (left.front() == parent.rank()) {
      taken_.reset();
      RINGSIDE_TRY(root, start_root(parent, meeting, left.size(), join_timeout));
    }
  }
  auto joined = join_part(parent, left, meeting, join_timeout);
  if (root) {
    // Prepares the next split.
    root.reset();
    if (auto again = take_port(meeting)) taken_ = *std::move(again);
  }
  if (!joined) return joined.error();
  part.bootstrap = *std::move(joined);
  return part;
}

}  // namespace ringside
