#include "engine/collectives/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "engine/collectives/plan_parts.h"
#include "engine/tuning/chunk.h"

namespace ringside {
namespace {

/// A shrunken chunk is a multiple of this, as plan_channels() says.
constexpr std::int64_t kChunkGrainBytes = 16;

Error bad_call(const std::string& what, const std::string& help) {
  return {ErrorCode::InvalidArgument, what, help};
}

/// Returns whether each channel has its own ring or tree. The other algorithms use the same lane on all
/// channels.
bool needs_lanes(const Choice& choice, const Channels& channels) {
  return channels.rings.front().size() == 1 ||
         (facts_of(choice.algorithm).has_own_lanes && !is_point_to_point(choice.collective));
}

Status check_rank(const char* what, Rank rank, int nranks) {
  if (to_int(rank) >= 0 && to_int(rank) < nranks) return {};
  return bad_call(fmt::format("{} {} among {} ranks", what, to_int(rank), nranks),
                  fmt::format("give 0 to {}", nranks - 1));
}

Status check_numbers(const PlanCommon& common) {
  const CallShape& call = common.call;
  RINGSIDE_TRY(check_rank("root", call.root, common.nranks));
  if (call.count < 0) return bad_call(fmt::format("a count of {}", call.count), "give 0 or more");
  if (common.chunk < 1) {
    return bad_call("a chunk is shorter than an element", "choose a longer chunk");
  }
  if (common.choice.collective != Collective::AllGatherV) return {};
  if (call.counts.size() != static_cast<std::size_t>(common.nranks) ||
      std::ranges::any_of(call.counts, [](std::int64_t count) { return count < 0; })) {
    return bad_call(fmt::format("{} counts for {} ranks", call.counts.size(), common.nranks),
                    "give each rank's count, 0 or more");
  }
  return {};
}

std::vector<Rank> natural_order(int nranks) {
  std::vector<Rank> order;
  order.reserve(static_cast<std::size_t>(nranks));
  for (int rank = 0; rank < nranks; ++rank) order.push_back(Rank{rank});
  return order;
}

/// Stores the position of each rank on the rings that the plan uses.
void add_rings(PlanTables& tables) {
  for (int channel = 0; channel < tables.choice.nchannels; ++channel) {
    const auto index = static_cast<std::size_t>(channel);
    const std::vector<Rank>& ring = tables.channels.rings[index];
    std::vector<std::int32_t>& places = tables.places.emplace_back(ring.size(), -1);
    for (std::size_t i = 0; i < ring.size(); ++i) {
      places[static_cast<std::size_t>(to_int(ring[i]))] = static_cast<std::int32_t>(i);
    }
    tables.rings.push_back(std::make_shared<const std::vector<Rank>>(ring));
  }
}

Planner planner_for(const PlanCommon& common) {
  return common.nranks == 1 ? plan_ring : planner_of(common.choice.algorithm);
}

PlanInput input_for(const PlanTables& tables, Rank rank) { return {{tables}, tables, rank}; }

}  // namespace

ChannelTask PlanInput::task(const ChunkMap::Shape& shape) const {
  return {{.collective = choice.collective,
           .algorithm = choice.algorithm,
           .ring = {to_int(rank), nranks},
           .root = to_int(call.root)},
          ChunkMap(shape)};
}

ChunkMap::Shape PlanInput::shape(const RankOrder& order, const ChannelPart& part) const {
  return {.collective = choice.collective,
          .order = order,
          .count = call.count,
          .part = part,
          .chunk = chunk,
          .grain = chunk_grain};
}

std::vector<std::vector<Rank>> nodes_of(const PlanTables& tables) {
  if (!tables.channels.nodes.empty()) return tables.channels.nodes;
  return {*tables.natural};
}

Error missing_structure(const PlanInput& input, const std::string& what) {
  return {ErrorCode::Unsupported,
          fmt::format("{} by {}: {}", to_string(input.choice.collective),
                      to_string(input.choice.algorithm), what),
          "choose another algorithm"};
}

Result<TaskPlanner> TaskPlanner::make(const Choice& choice, const Channels& channels,
                                      const CallShape& call) {
  RINGSIDE_TRY(check_algorithm(choice.collective, choice.algorithm));
  const int most = needs_lanes(choice, channels) ? channels.count() : kMaxChannels;
  if (choice.nchannels < 1 || choice.nchannels > most) {
    return bad_call(
        fmt::format("{} channels were chosen, and there are {}", choice.nchannels, most),
        fmt::format("choose 1 to {}", most));
  }
  const auto element = static_cast<std::int64_t>(size_of(call.type).value);
  auto tables = std::make_shared<PlanTables>(PlanTables{
      {.choice = choice,
       .channels = channels,
       .call = call,
       .nranks = static_cast<int>(channels.rings.front().size()),
       .chunk = static_cast<std::int64_t>(choice.chunk.value) / element,
       .channel_grain = static_cast<std::int64_t>(grain_of(choice.protocol).value) / element,
       .chunk_grain = kChunkGrainBytes / element,
       .chunks_in_flight = kSlots / std::max(choice.slots_per_chunk, 1)}});
  RINGSIDE_TRY(check_numbers(*tables));
  tables->natural = std::make_shared<const std::vector<Rank>>(natural_order(tables->nranks));
  if (!is_point_to_point(choice.collective)) {
    tables->parts = split_channels(call.count, choice.nchannels, tables->channel_grain);
    if (planner_for(*tables) == plan_ring) add_rings(*tables);
    add_heads(*tables);
    add_chain_ends(*tables);
  }
  return TaskPlanner(std::move(tables));
}

int TaskPlanner::nranks() const { return tables_->nranks; }
int TaskPlanner::nchannels() const { return tables_->choice.nchannels; }

bool TaskPlanner::are_alike(int a, int b) const {
  const Algorithm algorithm = tables_->choice.algorithm;
  if (is_point_to_point(tables_->choice.collective) || tables_->call.counts.size() > 0)
    return false;
  const auto x = static_cast<std::size_t>(a);
  const auto y = static_cast<std::size_t>(b);
  if (tables_->parts[x].count != tables_->parts[y].count) return false;
  switch (algorithm) {
    case Algorithm::Ring:
      return tables_->channels.rings[x] == tables_->channels.rings[y];
    case Algorithm::Tree:
      return tables_->channels.trees[x] == tables_->channels.trees[y];
    case Algorithm::NvlsTree:
      // Even channels use the first of the two trees between nodes, odd ones the second.
      return a % 2 == b % 2;
    case Algorithm::Nvls:
      return true;
    default:
      return false;
  }
}

TaskPlanner TaskPlanner::evened(double share) const {
  auto tables = std::make_shared<PlanTables>(*tables_);
  std::int64_t most = 0;
  for (const ChannelPart& part : tables->parts) most = std::max(most, part.count);
  for (ChannelPart& part : tables->parts) {
    const auto lacking = static_cast<double>(most - part.count);
    if (lacking <= share * static_cast<double>(most)) part.count = most;
  }
  return TaskPlanner(std::move(tables));
}

Result<std::vector<ChannelTask>> TaskPlanner::tasks(Rank rank, int first, int last) const {
  RINGSIDE_TRY(check_rank("rank", rank, nranks()));
  PlanInput input = input_for(*tables_, rank);
  if (is_point_to_point(input.choice.collective)) return plan_exchange(input, first, last);
  const NodeGroups groups = node_groups(input);
  input.groups = &groups;
  const Planner plan = planner_for(input);
  std::vector<ChannelTask> tasks;
  for (int channel = first; channel < last; ++channel) {
    RINGSIDE_TRY(ChannelTask task,
                 plan(input, channel, tables_->parts[static_cast<std::size_t>(channel)]));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

Result<std::vector<ChannelTask>> TaskPlanner::tasks(Rank rank) const {
  return tasks(rank, 0, nchannels());
}

Result<ChannelTask> TaskPlanner::task(Rank rank, int channel) const {
  if (channel < 0 || channel >= nchannels()) {
    return bad_call(fmt::format("channel {} of {}", channel, nchannels()),
                    fmt::format("give 0 to {}", nchannels() - 1));
  }
  RINGSIDE_TRY(std::vector<ChannelTask> one, tasks(rank, channel, channel + 1));
  return std::move(one.front());
}

Result<std::vector<ChannelTask>> plan_channels(const Choice& choice, const Channels& channels,
                                               const CallShape& call, Rank rank) {
  RINGSIDE_TRY(const TaskPlanner plan, TaskPlanner::make(choice, channels, call));
  return plan.tasks(rank);
}

Bytes call_bytes(Collective collective, const CallShape& call, int nranks) {
  auto count = static_cast<std::uint64_t>(call.count);
  switch (collective) {
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::AllToAll:
    case Collective::Gather:
    case Collective::Scatter:
      count *= static_cast<std::uint64_t>(nranks);
      break;
    case Collective::AllGatherV:
      count = std::accumulate(call.counts.begin(), call.counts.end(), std::uint64_t{0},
                              [](std::uint64_t sum, std::int64_t one) {
                                return sum + static_cast<std::uint64_t>(one);
                              });
      break;
    default:
      break;
  }
  return size_of(call.type) * count;
}

}  // namespace ringside
