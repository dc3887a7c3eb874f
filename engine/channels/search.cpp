#include "engine/channels/search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "engine/channels/attempt.h"
#include "engine/channels/net_candidates.h"
#include "engine/channels/walk.h"

namespace ringside {
namespace {

/// Limits of a search, in steps.
/// source  NCCL graph/search.cc: NCCL_SEARCH_TIMEOUT_SAMECHANNELS, NCCL_SEARCH_TIMEOUT
constexpr int kStepsSameChannels = 1 << 8;
constexpr int kSteps = 1 << 14;
constexpr int kMaxNvlsHeads = 32;  ///< source  NCCL: NCCL_MAX_NVLS_ARITY

/// Returns the next farther path type that the release knows.
PathType next(PathType type, const SearchRules& rules) {
  auto farther = static_cast<PathType>(static_cast<int>(type) + 1);
  if (farther == PathType::C2c && !rules.has_c2c_paths) farther = PathType::Pix;
  return farther == PathType::P2c && !rules.has_p2c_paths ? PathType::Pxn : farther;
}

struct TypeRange {
  PathType least, most;
};

/// Returns the range of types of the paths from each GPU to each other vertex of a kind.
TypeRange types_to(const System& system, NodeKind kind) {
  TypeRange range{PathType::Sys, PathType::Loc};
  for (int gpu = 0; gpu < system.count(NodeKind::Gpu); ++gpu) {
    for (int to = 0; to < system.count(kind); ++to) {
      if (kind == NodeKind::Gpu && gpu == to) continue;
      const PathType type = system.path({NodeKind::Gpu, gpu}, {kind, to}).type;
      range = {std::min(range.least, type), std::max(range.most, type)};
    }
  }
  return range;
}

/// Returns the types of all paths from one kind of vertex to another, without duplicates.
std::vector<PathType> path_types(const System& system, NodeKind from, NodeKind to) {
  std::set<PathType> types;
  for (int a = 0; a < system.count(from); ++a) {
    for (int b = 0; b < system.count(to); ++b) types.insert(system.path({from, a}, {to, b}).type);
  }
  return {types.begin(), types.end()};
}

int min_sm(const System& system) {
  int least = 1 << 20;
  for (const DevInfo& dev : system.devs) least = std::min(least, dev.sm);
  return least;
}

/// Returns whether the GPUs form two groups of several GPUs each, joined by NVLink within a group and not
/// between the groups.
bool has_two_islands(const System& system) {
  const auto ngpus = static_cast<std::size_t>(system.count(NodeKind::Gpu));
  std::vector<std::size_t> island(ngpus);
  std::iota(island.begin(), island.end(), std::size_t{0});
  for (std::size_t g = 0; g < ngpus; ++g) {
    for (std::size_t peer = g + 1; peer < ngpus; ++peer) {
      const Path& path = system.path({NodeKind::Gpu, static_cast<int>(g)},
                                     {NodeKind::Gpu, static_cast<int>(peer)});
      if (path.type == PathType::Nvl) {
        std::replace(island.begin(), island.end(), island[peer], island[g]);
      }
    }
  }
  int islands = 0;
  for (std::size_t g = 0; g < ngpus; ++g) {
    if (std::count(island.begin(), island.end(), g) > 1) ++islands;
  }
  return islands == 2;
}

/// One search of one node. It relaxes its requirements until it finds a solution, then tries to improve it.
class Search {
 public:
  Search(const System& system, const TopologyParameters& topology,
         const ChannelParameters& channels, const SearchRequest& request)
      : system_(system),
        parameters_(channels),
        candidates_(system, topology, channels),
        walk_(system, channels, candidates_),
        sm_(min_sm(system)),
        speeds_(rules().ladders.of(sm_, system.is_inter)),
        intra_types_(path_types(system, NodeKind::Gpu, NodeKind::Gpu)),
        inter_types_(path_types(system, NodeKind::Gpu, NodeKind::Net)) {
    const auto append = [](std::vector<PathType>& types, const std::vector<PathType>& more) {
      types.insert(types.end(), more.begin(), more.end());
    };
    append(intra_types_, path_types(system, NodeKind::Gpu, NodeKind::Nvs));
    append(intra_types_, path_types(system, NodeKind::Nvs, NodeKind::Gpu));
    append(inter_types_, path_types(system, NodeKind::Net, NodeKind::Gpu));
    best_.id = request.id;
    best_.pattern = request.pattern;
    best_.is_collnet = request.is_collnet;
    best_.min_channels = request.min_channels;
    best_.max_channels = request.max_channels;
    best_.ngpus = system.count(NodeKind::Gpu);
    best_.gpus.assign(static_cast<std::size_t>(best_.ngpus * Attempt::kMaxChannels), 0);
    best_.nets.assign(static_cast<std::size_t>(2 * Attempt::kMaxChannels), 0);
  }

  Graph run();

 private:
  [[nodiscard]] const SearchRules& rules() const { return parameters_.rules.search; }
  void set_bounds();
  [[nodiscard]] bool is_impossible() const;
  void find();
  bool relax();
  void duplicate_channels();
  void improve();
  void fall_back();
  bool walk();
  [[nodiscard]] Walk::Outcome outcome_of(int allowance);
  [[nodiscard]] std::size_t fastest_below(float speed) const;
  [[nodiscard]] Graph result() const;

  const System& system_;
  const ChannelParameters& parameters_;
  NetCandidates candidates_;
  Walk walk_;
  int sm_;
  std::span<const float> speeds_;
  std::vector<PathType> intra_types_, inter_types_;  ///< types of all paths that a walk may use

  Attempt best_, attempt_;
  int cross_nic_ = 0;
  TypeRange intra_{PathType::Loc, PathType::Sys}, inter_{PathType::Pix, PathType::Sys};
  bool is_same_at_first_ = true;
  std::size_t speed_ = 0;
  Walk::Outcome outcome_{Walk::End::Exhausted, 0, false};
  int improvements_ = 0;
  struct Seen {
    int improvements;  ///< number of improvements before the walk
    Walk::Outcome outcome;
  };
  std::map<std::tuple<float, float, bool, Pattern, int, PathType, PathType, int>, Seen> seen_;
  int steps_left_ = rules().most_steps;
};

void Search::set_bounds() {
  const int ngpus = best_.ngpus;
  const bool may_cross = best_.pattern == Pattern::Ring || best_.pattern == Pattern::BalancedTree ||
                         best_.pattern == Pattern::SplitTree;
  cross_nic_ = system_.count(NodeKind::Net) > 1 && may_cross ? parameters_.cross_nic : 0;
  best_.cross_nic = cross_nic_ == 1 ? 1 : 0;
  if (!rules().types_are_those_of_paths) {
    if (ngpus > 1) intra_.least = PathType::Nvl;
  } else {
    if (ngpus > 1) intra_ = types_to(system_, NodeKind::Gpu);
    if (system_.is_inter && system_.count(NodeKind::Net) > 0) {
      inter_ = types_to(system_, NodeKind::Net);
      if (sm_ < 90 && rules().old_gpus_reach_all_nics) inter_.most = PathType::Sys;
    }
  }
  best_.type_intra = intra_.least;
  best_.type_inter = inter_.least;
  is_same_at_first_ = best_.pattern != Pattern::Nvls;
  best_.same_channels = is_same_at_first_;
  if (is_impossible()) return;

  const int all_gpus = std::min(ngpus, rules().max_channels);
  if (best_.pattern == Pattern::Nvls) {
    if (rules().nvls_heads != NvlsHeads::All || !system_.is_inter) best_.max_channels = all_gpus;
    if (rules().nvls_heads == NvlsHeads::UpTo32) {
      best_.max_channels = std::min(kMaxNvlsHeads, ngpus);
    }
  }
  if (best_.pattern == Pattern::CollNetDirect) {
    const int most = rules().most_direct_heads;
    best_.max_channels = most < 0 ? all_gpus : std::min(most, ngpus);
  }
  if (ngpus == 1 && best_.pattern != Pattern::Ring) best_.pattern = Pattern::Tree;
  // Within one node every GPU must head a share; otherwise some GPUs would only receive.
  if (!system_.is_inter && best_.pattern == Pattern::Nvls) best_.min_channels = best_.max_channels;
  // A ring crosses between two islands twice, so require at least one link in each direction.
  if (rules().two_islands_need_two && best_.pattern == Pattern::Ring && has_two_islands(system_) &&
      best_.max_channels >= 2 && best_.min_channels == 1) {
    best_.min_channels = 2;
  }
}

bool Search::is_impossible() const {
  return best_.pattern == Pattern::Nvls && (system_.count(NodeKind::Nvs) == 0 || sm_ < 90);
}

std::size_t Search::fastest_below(float speed) const {
  std::size_t i = 0;
  while (speeds_[i] > speed && i + 1 < speeds_.size()) ++i;
  return i;
}

/// Runs one walk.
/// returns  whether the search is finished: no better solution exists at these speeds
bool Search::walk() {
  const int allowance = attempt_.same_channels ? kStepsSameChannels : kSteps;
  steps_left_ -= allowance;
  outcome_ = outcome_of(allowance);
  return outcome_.end == Walk::End::Perfect ||
         static_cast<float>(best_.nchannels) * best_.bw_inter >= system_.total_bandwidth;
}

/// Returns the farthest of the existing path types that `worst` allows: two limits with the same result allow the same
/// paths.
PathType reached_type(std::span<const PathType> there, PathType worst) {
  PathType reached = PathType::Loc;
  for (const PathType type : there) {
    if (type <= worst) reached = std::max(reached, type);
  }
  return reached;
}

/// Runs a walk, unless it would repeat a walk without result: allowing a path type that no path has changes
/// nothing. (CollNet direct is always walked, because its hop count drifts from walk to walk.)
Walk::Outcome Search::outcome_of(int allowance) {
  const auto key = std::tuple{attempt_.bw_intra,
                              attempt_.bw_inter,
                              attempt_.same_channels,
                              attempt_.pattern,
                              attempt_.cross_nic,
                              reached_type(intra_types_, attempt_.type_intra),
                              reached_type(inter_types_, attempt_.type_inter),
                              attempt_.min_channels};
  const auto known = seen_.find(key);
  if (known != seen_.end() && known->second.improvements == improvements_ &&
      attempt_.pattern != Pattern::CollNetDirect) {
    return known->second.outcome;
  }
  const Seen seen{improvements_, walk_.run(attempt_, best_, allowance)};
  if (seen.outcome.has_improved) ++improvements_;
  seen_[key] = seen;
  return seen.outcome;
}

/// Finds the first solution, from the highest speed downwards.
void Search::find() {
  attempt_ = best_;
  float total = system_.total_bandwidth;
  const int ndevs = system_.count(system_.silicon);
  if (ndevs == 1 && best_.pattern != Pattern::Ring && rules().lone_gpu_is_endless) {
    total = std::numeric_limits<float>::infinity();
  }
  if (ndevs > 1 && best_.pattern != Pattern::Ring) {
    total = static_cast<float>(static_cast<double>(total) * (ndevs * 1.0 / (ndevs - 1)));
  }
  if (!rules().starts_within_total) total = std::numeric_limits<float>::infinity();
  const auto needed = static_cast<float>(best_.min_channels);
  while ((speeds_[speed_] > system_.max_bandwidth || speeds_[speed_] * needed > total) &&
         speed_ + 1 < speeds_.size()) {
    ++speed_;
  }
  attempt_.bw_intra = attempt_.bw_inter = speeds_[speed_];
  while (!walk() && relax()) {
  }
}

/// Relaxes one requirement. Requirements that were relaxed before are restored.
/// returns  whether there is another attempt to make
bool Search::relax() {
  const bool is_found = best_.nchannels > 0;
  // Requiring one order for all channels only shortens the search; on AMD, SYS paths are too slow for other
  // orders to help.
  const bool is_amd = !system_.cpus.empty() && system_.cpus.front().arch == CpuArch::X86 &&
                      system_.cpus.front().vendor == CpuVendor::Amd;
  const bool is_kept = is_amd && attempt_.type_intra == PathType::Sys && !rules().amd_shares_orders;
  if (attempt_.same_channels && !is_kept) {
    attempt_.same_channels = false;
    return true;
  }
  attempt_.same_channels = is_same_at_first_;

  steps_left_ += outcome_.steps_left;
  if (steps_left_ < 0 && is_found) return false;

  if (sm_ >= 90 && attempt_.pattern == Pattern::BalancedTree) {
    attempt_.pattern = Pattern::Tree;
    return true;
  }
  attempt_.pattern = best_.pattern;

  const PathType most_intra = system_.is_inter ? attempt_.type_inter : intra_.most;
  if (attempt_.type_intra < most_intra && (!is_found || attempt_.type_intra < best_.type_intra)) {
    attempt_.type_intra = next(attempt_.type_intra, rules());
    if (attempt_.type_intra < PathType::Dis || !rules().types_end_before_dis) return true;
  }
  attempt_.type_intra = intra_.least;

  if (system_.is_inter && attempt_.type_inter < inter_.most &&
      (!is_found || attempt_.type_inter < best_.type_inter ||
       attempt_.type_inter < PathType::Pxn)) {
    attempt_.type_inter = next(attempt_.type_inter, rules());
    if (attempt_.type_inter < PathType::Dis || !rules().types_end_before_dis) return true;
  }
  attempt_.type_inter = inter_.least;

  const bool pairs_rings = rules().cross_nic == CrossNic::PairedRings;
  if (cross_nic_ == 2 && attempt_.cross_nic == 0 &&
      (best_.pattern == Pattern::Ring || best_.pattern == Pattern::BalancedTree ||
       (best_.pattern == Pattern::SplitTree && !pairs_rings))) {
    attempt_.cross_nic = pairs_rings ? 2 : 1;
    return true;
  }
  attempt_.cross_nic = cross_nic_ == 1 && !rules().cross_nic_is_first_only ? 1 : 0;

  // If there is a solution, one with half its speed cannot be better.
  if (speed_ + 1 < speeds_.size() && (!is_found || speeds_[speed_ + 1] / best_.bw_inter > 0.49F)) {
    attempt_.bw_intra = attempt_.bw_inter = speeds_[++speed_];
    return true;
  }
  return false;
}

/// Splits fast channels in two, because more threads fill them better.
void Search::duplicate_channels() {
  if (best_.nchannels == 0 || best_.pattern == Pattern::Nvls || best_.bw_intra < 25) return;
  if (sm_ > 80 && best_.bw_intra < 50 && best_.nchannels > 4) return;
  const int found = best_.nchannels;
  const int wanted = std::min(2 * found, best_.max_channels);
  for (int c = found; c < wanted; ++c) {
    for (int i = 0; i < best_.ngpus; ++i) best_.gpu(c, i) = best_.gpu(c - found, i);
    best_.net_in(c) = best_.net_in(c - found);
    best_.net_out(c) = best_.net_out(c - found);
  }
  const auto parts = static_cast<float>((wanted + found - 1) / found);
  best_.bw_intra /= parts;
  best_.bw_inter /= parts;
  best_.nchannels = wanted;
}

/// Searches for the same number of channels at higher speeds, as long as solutions are found.
void Search::improve() {
  attempt_ = best_;
  speed_ = fastest_below(best_.bw_inter);
  attempt_.bw_intra = attempt_.bw_inter = speeds_[speed_];
  attempt_.min_channels = best_.nchannels;
  bool is_finished = true;
  while (is_finished && speed_ > 0) {
    if (best_.pattern == Pattern::Ring) {
      if (!rules().improves_rings) return;
      attempt_.bw_intra = attempt_.bw_inter = speeds_[--speed_];
    } else if (rules().improves_nvls_inter && best_.pattern == Pattern::Nvls &&
               attempt_.bw_inter == best_.bw_inter && attempt_.bw_inter < attempt_.bw_intra * 2) {
      attempt_.min_channels = attempt_.max_channels = best_.nchannels;
      attempt_.bw_inter = speeds_[--speed_];
    } else if (attempt_.bw_intra == best_.bw_intra && attempt_.bw_intra < attempt_.bw_inter * 2) {
      attempt_.bw_intra = speeds_[--speed_];
    } else {
      return;
    }
    walk();
    is_finished = outcome_.end != Walk::End::TimedOut;
  }
}

/// Rings and trees must exist: uses index order, at a speed that marks the result as unreliable.
void Search::fall_back() {
  constexpr float kSpeed = 0.1F;  // GB/s; source  NCCL graph/search.cc
  best_.nchannels = 1;
  for (int i = 0; i < best_.ngpus; ++i) best_.gpu(0, i) = i;
  best_.bw_intra = kSpeed;
  best_.type_intra = PathType::Sys;
  if (!rules().falls_back_to_nics) {
    best_.net_in(0) = best_.net_out(0) = 0;
    best_.bw_inter = kSpeed;
    best_.type_inter = PathType::Sys;
    return;
  }
  best_.net_in(0) = candidates_.first_of(0);
  best_.net_out(0) = candidates_.first_of(best_.ngpus - 1);
  const bool has_nets = best_.net_in(0) >= 0;
  best_.bw_inter = has_nets ? kSpeed : 0;
  best_.type_inter = has_nets ? PathType::Sys : PathType::Dis;
}

Graph Search::run() {
  set_bounds();
  if (is_impossible()) return result();
  find();
  if (rules().improves_first) improve();
  duplicate_channels();
  if (!rules().improves_first) improve();
  if (best_.nchannels == 0 && !best_.is_collnet && best_.pattern != Pattern::Nvls) fall_back();
  return result();
}

Graph Search::result() const {
  Graph graph;
  static_cast<GraphSummary&>(graph) = best_;
  const int listed = best_.pattern == Pattern::Nvls ? 1 : best_.ngpus;
  for (int c = 0; c < best_.nchannels; ++c) {
    std::vector<int> order;
    for (int i = 0; i < listed; ++i) order.push_back(best_.gpu(c, i));
    graph.intra.push_back(std::move(order));
    if (system_.is_inter) graph.inter.push_back({best_.net_in(c), best_.net_out(c)});
  }
  return graph;
}

}  // namespace

Graph search_graph(const System& system, const TopologyParameters& topology,
                   const ChannelParameters& channels, const SearchRequest& request) {
  return Search{system, topology, channels, request}.run();
}

Graphs search_graphs(const System& system, const TopologyParameters& topology,
                     const ChannelParameters& channels, bool has_nvls, const Graphs& given) {
  const auto search = [&](const SearchRequest& request) {
    const Graph& known = given[request.id];
    const bool may_cross = known.cross_nic != 1 || channels.cross_nic != 0;
    if (known.nchannels > 0 && may_cross) return known;
    return search_graph(system, topology, channels, request);
  };
  const int most = channels.rules.search.max_channels;
  Graphs graphs;
  Graph& ring = graphs[GraphId::Ring];
  ring = search({.id = GraphId::Ring, .pattern = Pattern::Ring, .max_channels = most / 2});
  const int same = ring.nchannels;
  graphs[GraphId::Tree] = search({.id = GraphId::Tree,
                                  .pattern = Pattern::BalancedTree,
                                  .min_channels = same,
                                  .max_channels = same});

  const SearchRequest chain{.id = GraphId::CollNetChain,
                            .pattern = Pattern::Tree,
                            .is_collnet = true,
                            .min_channels = same,
                            .max_channels = same};
  const SearchRequest direct{.id = GraphId::CollNetDirect,
                             .pattern = Pattern::CollNetDirect,
                             .is_collnet = true,
                             .max_channels = most};
  const SearchRequest nvls{.id = GraphId::Nvls, .pattern = Pattern::Nvls, .max_channels = most};
  // A graph that is not searched is reported as requested, with no channels.
  for (const auto& [request, is_wanted] :
       {std::pair{chain, channels.collnet_enable},
        std::pair{direct, channels.collnet_enable && channels.rules.search.most_direct_heads != 0},
        std::pair{nvls, has_nvls}}) {
    Graph& graph = graphs[request.id];
    if (is_wanted) {
      graph = search(request);
    } else {
      graph.id = request.id;
      graph.pattern = request.pattern;
      graph.is_collnet = request.is_collnet;
    }
  }
  if (channels.rules.search.most_direct_heads == 0) {
    graphs[GraphId::CollNetDirect] = graphs[GraphId::CollNetChain];
  }
  return graphs;
}

}  // namespace ringside
