#include "sim/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "engine/protocol/slot_fifo.h"

namespace ringside {
namespace {

// Maximum ranks of an all-to-all: 16 million transfers.
constexpr int kMostAllToAll = 4096;
// Maximum ranks with a few peers each: they need little memory, but each looks through a round for each other rank
// (1.1 billion steps).
constexpr int kMostWithFewPeers = 32768;

/// Checks the size, because exchanges are planned rank by rank.
Status check_size(Collective collective, int nranks) {
  const int most = collective == Collective::AllToAll ? kMostAllToAll : kMostWithFewPeers;
  if (nranks <= most) return {};
  return Error{
      ErrorCode::InvalidArgument, fmt::format("{} among {} ranks", to_string(collective), nranks),
      fmt::format("it is simulated among {} at most: give fewer nodes, or a group of the ranks",
                  most)};
}

}  // namespace

Status check_request(const SimRequest& request) {
  const int slots = request.choice.slots_per_chunk;
  if (slots < 1 || slots > kSlots) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} slots a chunk", slots),
                 fmt::format("a connection has {}; give 1 to {}", kSlots, kSlots)};
  }
  if (is_point_to_point(request.choice.collective)) {
    RINGSIDE_TRY(check_size(request.choice.collective, request.network->nranks()));
  }
  for (const auto& ring : request.channels.rings) {
    std::vector<bool> seen(static_cast<std::size_t>(request.network->nranks()), false);
    for (const Rank rank : ring) {
      const auto index = static_cast<std::size_t>(to_int(rank));
      if (index < seen.size()) seen[index] = true;
    }
    if (ring.size() != seen.size() || std::find(seen.begin(), seen.end(), false) != seen.end()) {
      return Error{
          ErrorCode::InvalidArgument,
          fmt::format("a ring does not hold each of the network's {} ranks once", seen.size()),
          "lay the channels on the same job"};
    }
  }
  return {};
}

namespace {

Error no_route(const std::string& what) {
  return {ErrorCode::InvalidArgument, fmt::format("no links lead {}", what),
          "give hosts with NICs (a host without any can only be one node: --nodes 1), or a "
          "collective without messages between them"};
}

std::string place_text(int rank, int channel, std::uint32_t step) {
  return fmt::format("rank {} channel {} step {}", rank, channel, step);
}

}  // namespace

Error no_route_between(Rank from, Rank to) {
  return no_route(fmt::format("from rank {} to rank {}", to_int(from), to_int(to)));
}

Error no_route_through_switch(Rank sender) {
  return no_route(fmt::format("from rank {} through a switch that reduces", to_int(sender)));
}

std::string waits_text(int rank, int channel, std::uint32_t step, bool receives, int peer) {
  return fmt::format("{} waits for a {} rank {}", place_text(rank, channel, step),
                     receives ? "chunk from" : "free slot to", peer);
}

std::string mismatch_text(int rank, int channel, std::uint32_t step, std::int64_t due_chunk,
                          std::int64_t due_piece, std::int64_t chunk, std::int64_t piece) {
  return fmt::format("{} expects chunk {} of piece {}, but gets chunk {} of piece {}",
                     place_text(rank, channel, step), due_chunk, due_piece, chunk, piece);
}

std::string unreceived_text(std::int64_t chunks, Rank sender) {
  return fmt::format("{} chunks that rank {} sent are never received", chunks, to_int(sender));
}

Error stuck_at(Seconds time, const std::vector<std::string>& waits) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown(
      waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, waits.size())));
  if (waits.size() > kShown) shown.push_back(fmt::format("and {} more", waits.size() - kShown));
  return {ErrorCode::Timeout,
          fmt::format("the simulated collective is stuck at {}: {}", format_time(time),
                      fmt::join(shown, "; ")),
          fmt::format("a chunk may take at most {} of a connection's {} slots", kMaxSlotsPerChunk,
                      kSlots)};
}

Error steps_do_not_fit(Collective collective, const std::string& what) {
  return {ErrorCode::Corrupt,
          fmt::format("the steps of {} do not fit together: {}", to_string(collective), what),
          "a defect of the algorithm: report it with this line; prove_collective() of as many "
          "ranks names the step"};
}

Status check_against_links(const SimRequest& request, const SimResult& result) {
  constexpr double kRounding = 1e-4;  // SimGrid's precision is 1e-5 of a flow
  const Seconds least = request.costs.launch + result.busiest;
  if (result.busiest_link < 0 || result.time >= least * (1 - kRounding)) return {};
  return Error{ErrorCode::Corrupt,
               fmt::format("the simulated {} takes {}, and {} alone needs {} for its bytes",
                           to_string(request.choice.collective), format_time(result.time),
                           request.network->link(result.busiest_link).name, format_time(least)),
               "the simulator is at fault: a result faster than the links is not shown"};
}

void BusiestLink::note(int link, Seconds needs) {
  if (link >= network_.first_fabric_link() && needs > in_fabric_) {
    in_fabric_ = needs;
    fabric_link_ = link;
  }
  if (needs <= busiest_) return;
  busiest_ = needs;
  link_ = link;
}

void BusiestLink::write_to(SimResult& result) const {
  result.busiest = busiest_;
  result.busiest_link = link_;
  result.busiest_fabric_link = fabric_link_;
  if (fabric_link_ >= 0) result.busiest_fabric_part = in_fabric_ / busiest_;
}

void set_loads(const SimNetwork& network, LoadSums sums, SimResult& result) {
  BusiestLink busiest(network);
  for (const auto& [link, sum] : sums.bytes()) {
    busiest.note(link, Seconds{sum / network.rate(link).value});
  }
  busiest.write_to(result);
  result.loads = std::move(sums).loads();
}

}  // namespace ringside
