#include "engine/channels/walk.h"

#include <algorithm>
#include <limits>

namespace ringside {
namespace {

constexpr int kWarmUpSteps = 1 << 10;  ///< of the walk in index order; source  NCCL graph/search.cc

constexpr NodeRef kSwitch{NodeKind::Nvs, 0};

/// Returns the id of the PCI function of a network device.
std::int64_t nic_id(const System& system, int net) {
  const std::vector<LinkId>& links = system.node(net_ref(net)).links;
  return links.empty() ? -1 : system.node(system.link(links.front()).to).id;
}

bool is_inside(NodeRef ref) { return ref.kind == NodeKind::Gpu || ref.kind == NodeKind::Nvs; }

}  // namespace

Walk::Outcome Walk::run(Attempt& attempt, Attempt& best, int allowance) {
  attempt_ = &attempt;
  best_ = &best;
  used_.assign(static_cast<std::size_t>(ngpus()), 0);
  attempt.nchannels = 0;
  has_improved_ = false;
  int steps = allowance;
  next_channel(steps);
  if (steps < 0) return {End::Perfect, 0, has_improved_};
  return {steps == 0 ? End::TimedOut : End::Exhausted, steps, has_improved_};
}

void Walk::next_channel(int& steps) {
  Branch branch{.back_to_net = -1, .back_to_first = -1, .order = Order::Free, .steps = &steps};
  if (system_.is_inter && attempt_->pattern == Pattern::Nvls &&
      rules().nvls_head == NvlsHead::ByNumber) {
    head_by_number(branch);
  } else if (system_.is_inter) {
    branch.back_to_net = attempt_->pattern == Pattern::Ring        ? ngpus() - 1
                         : attempt_->pattern == Pattern::SplitTree ? 1
                                                                   : 0;
    next_channel_from_net(branch);
  } else {
    if (attempt_->pattern == Pattern::Ring) branch.back_to_first = ngpus() - 1;
    next_channel_inside(branch);
  }
}

void Walk::next_channel_inside(Branch branch) {
  if (attempt_->pattern == Pattern::Nvls) {
    try_gpu(nullptr, channel(), 0, branch);
    return;
  }
  Branch known = branch;
  if (channel() == 0) {
    known.order = Order::Pci;
    try_gpu(nullptr, 0, 0, known);
  } else {
    known.order = Order::Replay;
    try_gpu(nullptr, previous_gpu_at(0), 0, known);
  }
  if (attempt_->same_channels && channel() > 0) return;
  for (int gpu = 0; gpu < ngpus(); ++gpu) try_gpu(nullptr, gpu, 0, branch);
}

void Walk::next_channel_from_net(Branch branch) {
  // NCCL subtracts whole GB/s from NICs: 17.5 counts as 17, 0.24 as 0.
  const auto speed = static_cast<float>(static_cast<int>(attempt_->bw_inter));
  const bool has_heads =
      attempt_->pattern == Pattern::Nvls || attempt_->pattern == Pattern::CollNetDirect;
  const std::vector<int>& nets = candidates_.of_node(attempt_->type_inter);
  const int count = static_cast<int>(nets.size());
  const int first = channel();
  const bool is_headed_by_channel =
      attempt_->pattern == Pattern::Nvls && rules().nvls_head == NvlsHead::ByChannel;
  for (int i = 0; i < count; ++i) {
    if (is_headed_by_channel && i > 0) break;
    const int net =
        nets[static_cast<std::size_t>(((rules().starts_at_own_nic ? first : 0) + i) % count)];
    if (attempt_->is_collnet && !system_.nets[static_cast<std::size_t>(net)].coll) continue;
    if (budget_.net_left(net) < speed) continue;
    // Every second ring runs in the opposite direction: it enters at the NIC through which the ring before it
    // left.
    if (is_paired() && first % 2 == 1 && net != attempt_->net_out(first - 1)) continue;
    attempt_->net_in(first) = net;
    attempt_->latency_inter = system_.nets[static_cast<std::size_t>(net)].latency_us;
    budget_.charge_net(net, speed);
    bool is_headed = false;
    bool is_repeated = false;
    if (!has_heads) {
      start_at_net(branch, net);
    } else if (first < count) {
      const int gpu = system_.nets[static_cast<std::size_t>(net)].local_gpu;
      is_headed = gpu >= 0;
      const bool may_head_twice = rules().nvls_head != NvlsHead::EachOnce;
      for (int c = 0; c < first && !may_head_twice; ++c) {
        is_repeated = is_repeated || attempt_->gpu(c, 0) == gpu;
      }
      is_headed = is_headed && !is_repeated;
      if (is_headed) {
        const NodeRef from = net_ref(net);
        try_gpu(&from, gpu, 0, branch);
      }
    }
    if (!is_repeated || !rules().repeated_heads_keep_nics) budget_.charge_net(net, -speed);
    if (is_headed) return;
  }
}

void Walk::start_at_net(Branch branch, int net) {
  const NodeRef from = net_ref(net);
  if (channel() > 0 && (attempt_->same_channels || rules().replays_first)) {
    Branch replay = branch;
    replay.order = Order::Replay;
    try_gpu(&from, previous_gpu_at(0), 0, replay);
    if (attempt_->same_channels) return;
  }
  if (channel() == 0 && (system_.count(NodeKind::Nvs) == 0 || rules().warms_up_over_switch)) {
    // A first solution to improve on, which must not use up the step limit.
    int steps = kWarmUpSteps;
    Branch warm_up = branch;
    warm_up.order = Order::Pci;
    warm_up.steps = &steps;
    try_gpu(&from, 0, 0, warm_up);
    if (steps == -1) *branch.steps = -1;
  }
  if (rules().start_gpu == StartGpu::Widest || rules().start_gpu == StartGpu::FirstWidest) {
    start_widest(branch, net);
    return;
  }
  const int local = rules().start_gpu == StartGpu::Own
                        ? system_.nets[static_cast<std::size_t>(net)].local_gpu
                        : -1;
  if (local >= 0) try_gpu(&from, local, 0, branch);
  for (const int gpu : candidates_.gpus_of(net)) {
    if (gpu != local) try_gpu(&from, gpu, 0, branch);
  }
}

/// Starts at the GPUs that have the highest bandwidth to the NIC and, among those, the fewest hops.
/// source  NCCL 2.18 .. 2.26 graph/search.cc: ncclTopoSearchRecNet
void Walk::start_widest(Branch branch, int net) {
  const NodeRef from = net_ref(net);
  float widest = 0;
  int fewest = std::numeric_limits<int>::max();
  for (int gpu = 0; gpu < ngpus(); ++gpu) {
    const Path& path = system_.path(from, gpu_ref(gpu));
    if (path.bandwidth > widest) {
      widest = path.bandwidth;
      fewest = path.hops();
    } else if (path.bandwidth == widest && path.hops() > 0) {
      fewest = std::min(fewest, path.hops());
    }
  }
  if (widest < static_cast<float>(static_cast<int>(attempt_->bw_inter))) return;
  const bool goes_by_pci = rules().start_gpu == StartGpu::FirstWidest;
  const int first = goes_by_pci ? 0 : channel();
  // GPUs whose PCI link is full in one direction are tried in a second round.
  for (int round = 0; round < (goes_by_pci ? 2 : 1); ++round) {
    for (int i = 0; i < ngpus(); ++i) {
      const int gpu = (first + i) % ngpus();
      const Path& path = system_.path(from, gpu_ref(gpu));
      if (path.bandwidth != widest || path.hops() != fewest) continue;
      const bool is_full =
          budget_.pci_left(system_.gpus[static_cast<std::size_t>(gpu)].device) <= 0;
      if (!goes_by_pci || is_full == (round == 1)) try_gpu(&from, gpu, 0, branch);
    }
  }
}

/// The GPU closest to NIC number c heads channel c; the path into the node is free of charge.
/// source  NCCL 2.18 graph/search.cc: ncclTopoSearchRec
void Walk::head_by_number(Branch branch) {
  const std::vector<int>& nets = candidates_.of_node(attempt_->type_inter);
  if (channel() >= static_cast<int>(nets.size())) return;
  const int net = nets[static_cast<std::size_t>(channel())];
  const int gpu = system_.nets[static_cast<std::size_t>(net)].local_gpu;
  if (gpu < 0) return;
  branch.back_to_net = 0;
  attempt_->net_in(channel()) = net;
  attempt_->latency_inter = system_.nets[static_cast<std::size_t>(net)].latency_us;
  try_gpu(nullptr, gpu, 0, branch);
}

/// Returns whether odd channels reverse the NICs of the preceding even channel.
bool Walk::is_paired() const {
  switch (rules().cross_nic) {
    case CrossNic::Free:
      return false;
    case CrossNic::Paired:
      return attempt_->cross_nic != 0;
    case CrossNic::PairedRings:
      return attempt_->pattern == Pattern::Ring && attempt_->cross_nic == 2;
  }
  return false;
}

void Walk::try_gpu(const NodeRef* from, int gpu, int position, Branch branch) {
  if (from != nullptr && !follow(*from, gpu_ref(gpu), 1)) return;
  const std::uint64_t bit = std::uint64_t{1} << channel();
  std::uint64_t& used = used_[static_cast<std::size_t>(gpu)];
  used ^= bit;
  visit(gpu, position, branch);
  used ^= bit;
  if (from != nullptr) unfollow(*from, gpu_ref(gpu), 1);
}

void Walk::visit(int gpu, int position, Branch branch) {
  if (*branch.steps <= 0) return;
  --*branch.steps;
  attempt_->gpu(channel(), position) = gpu;
  if (position == branch.back_to_net) {
    leave_by_net(gpu, position, branch);
  } else if (attempt_->pattern == Pattern::Nvls) {
    spread_over_switch(gpu, *branch.steps);
  } else if (attempt_->pattern == Pattern::CollNetDirect) {
    spread_to_peers(gpu, *branch.steps);
  } else if (position < ngpus() - 1) {
    go_on(gpu, position, branch);
  } else if (position == branch.back_to_first) {
    close_ring(gpu, branch);
  } else {
    finish_channel(*branch.steps);
  }
}

bool Walk::may_return_to(int net) const {
  const NetInfo& back = system_.nets[static_cast<std::size_t>(net)];
  const int start_index = attempt_->net_in(channel());
  const NetInfo& start = system_.nets[static_cast<std::size_t>(start_index)];
  if (back.plane >= 0 && start.plane >= 0 && back.plane != start.plane) return false;
  if (attempt_->pattern == Pattern::Tree && net != start_index) return false;
  if (is_paired()) return channel() % 2 == 0 || net == attempt_->net_in(channel() - 1);
  if (attempt_->cross_nic != 0) return true;
  if (back.rail >= 0 && start.rail >= 0) return back.rail == start.rail;
  if (parameters_.mnnvl_rail_per_host && system_.nhosts > 1) {
    return nic_id(system_, net) == nic_id(system_, start_index) && back.port == start.port;
  }
  return back.guid == start.guid && back.port == start.port;
}

void Walk::leave_by_net(int gpu, int position, Branch branch) {
  const bool is_balanced = attempt_->pattern == Pattern::BalancedTree;
  // A balanced tree uses half of the NIC's speed for each of its first two GPUs.
  const float times = is_balanced ? 0.5F : 1;
  const float speed = attempt_->bw_inter;
  for (const int net : candidates_.of_gpu(gpu, attempt_->type_inter)) {
    if (!may_return_to(net)) continue;
    Branch after = branch;
    after.back_to_net = -1;
    if (is_balanced && position == 0) after.back_to_net = 1;
    if (is_balanced && position != 0 && net != attempt_->net_out(channel())) continue;

    attempt_->bw_inter = speed * times;
    const bool is_reserved = follow(gpu_ref(gpu), net_ref(net), 1);
    attempt_->bw_inter = speed;
    if (!is_reserved) continue;
    attempt_->net_out(channel()) = net;
    visit(gpu, position, after);
    attempt_->bw_inter = speed * times;
    unfollow(gpu_ref(gpu), net_ref(net), 1);
    attempt_->bw_inter = speed;
  }
}

void Walk::go_on(int gpu, int position, Branch branch) {
  const NodeRef from = gpu_ref(gpu);
  switch (branch.order) {
    case Order::Pci:
      try_gpu(&from, position + 1, position + 1, branch);
      return;
    case Order::Replay:
      try_gpu(&from, previous_gpu_at(position + 1), position + 1, branch);
      return;
    case Order::Free:
      const GpuList next = next_gpus(gpu, position, branch.back_to_net);
      for (int i = 0; i < next.count; ++i) {
        if (*branch.steps <= 0) return;
        try_gpu(&from, next.gpus[static_cast<std::size_t>(i)], position + 1, branch);
      }
  }
}

void Walk::close_ring(int gpu, Branch branch) {
  const NodeRef first = gpu_ref(attempt_->gpu(channel(), 0));
  if (!follow(gpu_ref(gpu), first, 1)) return;
  finish_channel(*branch.steps);
  unfollow(gpu_ref(gpu), first, 1);
}

void Walk::spread_over_switch(int head, int& steps) {
  const auto times = [head](int gpu) { return gpu == head ? 2.0F : 1.0F; };
  int down = 0;
  while (down < ngpus() && follow(kSwitch, gpu_ref(down), times(down))) ++down;
  if (down == ngpus()) {
    int up = 0;
    while (up < ngpus() && follow(gpu_ref(up), kSwitch, times(up))) ++up;
    if (up == ngpus()) finish_channel(steps);
    while (up-- > 0) unfollow(gpu_ref(up), kSwitch, times(up));
  }
  while (down-- > 0) unfollow(kSwitch, gpu_ref(down), times(down));
}

void Walk::spread_to_peers(int head, int& steps) {
  const float share = 1.0F / static_cast<float>(ngpus() - 1);
  int out = 0;
  while (out < ngpus() && follow(gpu_ref(head), gpu_ref(out), share)) ++out;
  if (out == ngpus()) {
    int in = 0;
    while (in < ngpus() && follow(gpu_ref(in), gpu_ref(head), share)) ++in;
    if (in == ngpus()) {
      int position = 1;
      for (int gpu = 0; gpu < ngpus(); ++gpu) {
        if (gpu != head) attempt_->gpu(channel(), position++) = gpu;
      }
      finish_channel(steps);
    }
    while (in-- > 0) unfollow(gpu_ref(in), gpu_ref(head), share);
  }
  while (out-- > 0) unfollow(gpu_ref(head), gpu_ref(out), share);
}

void Walk::finish_channel(int& steps) {
  if (steps <= 0) return;
  --steps;
  ++attempt_->nchannels;
  if (is_better()) {
    *best_ = *attempt_;
    has_improved_ = true;
    if (attempt_->nchannels == attempt_->max_channels) steps = -1;
  }
  if (attempt_->nchannels < attempt_->max_channels) next_channel(steps);
  --attempt_->nchannels;
}

bool Walk::is_better() const {
  const Attempt& now = *attempt_;
  const Attempt& best = *best_;
  if (now.nchannels < now.min_channels) return false;
  const auto all = [](const Attempt& graph, float speed) {
    return static_cast<float>(graph.nchannels) * speed;
  };
  if (now.pattern == Pattern::Nvls) {
    // Each head pulls its share through the switch, so more heads are better.
    return (now.nchannels > best.nchannels && now.nchannels <= ngpus()) ||
           (!rules().nvls_counts_channels_only &&
            all(now, now.bw_inter) > all(best, best.bw_inter));
  }
  const float bandwidth = all(now, now.bw_intra);
  float to_beat = all(best, best.bw_intra);
  if (rules().cross_nic_penalty > 0) {
    to_beat *= 1 + static_cast<float>(now.cross_nic - best.cross_nic) * rules().cross_nic_penalty;
  }
  if (bandwidth != to_beat) return bandwidth > to_beat;
  return now.pattern == best.pattern && now.cross_nic == best.cross_nic && now.nhops < best.nhops;
}

int Walk::previous_gpu_at(int position) const { return attempt_->gpu(channel() - 1, position); }

bool Walk::is_used(int gpu) const {
  return (used_[static_cast<std::size_t>(gpu)] >> channel() & 1) != 0;
}

bool Walk::is_tree() const {
  return attempt_->pattern == Pattern::BalancedTree || attempt_->pattern == Pattern::SplitTree ||
         attempt_->pattern == Pattern::Tree;
}

float Walk::speed_between(NodeRef from, NodeRef to) const {
  return is_inside(from) && is_inside(to) ? attempt_->bw_intra : attempt_->bw_inter;
}

void Walk::count_hops(const Path& path, float times) {
  // Single precision, truncated to whole hops each time, as in NCCL.
  attempt_->nhops = static_cast<int>(static_cast<float>(attempt_->nhops) +
                                     times * static_cast<float>(path.hops()));
}

bool Walk::follow(NodeRef from, NodeRef to, float times) {
  const Path& path = system_.path(from, to);
  const bool is_intra = is_inside(from) && is_inside(to);
  const PathType worst = is_intra ? attempt_->type_intra : attempt_->type_inter;
  if (path.hops() == 0 && rules().missing_ways_are_free) return true;
  if (path.type >= PathType::Dis && rules().disconnected_is_refused) return false;
  if (times == 1) {
    if (path.type > worst) return false;
    if (is_tree() && system_.path(to, from).type > worst) return false;
  }
  if (!budget_.reserve(path, from.kind, speed_between(from, to) * times)) return false;
  count_hops(path, times);
  return true;
}

void Walk::unfollow(NodeRef from, NodeRef to, float times) {
  const Path& path = system_.path(from, to);
  budget_.release(path, from.kind, speed_between(from, to) * times);
  count_hops(path, -times);
}

}  // namespace ringside
