#include <algorithm>

#include "engine/topology/paths/paths.h"
#include "engine/topology/paths/reach.h"

namespace ringside {
namespace {

NodeRef cpu_ref(int index) { return {NodeKind::Cpu, index}; }

class Adjuster {
 public:
  Adjuster(System& system, const TopologyParameters& parameters)
      : system_(system), parameters_(parameters) {}

  void run() {
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      divert_refused_peers(gpu);
      mark_unreachable_peers(gpu);
    }
    name_c2c_nets();
    for (int net = 0; net < nets_; ++net) adjust_net(net);
    for (int net = 0; net < nets_; ++net) {
      system_.nets[static_cast<std::size_t>(net)].local_gpu = local_gpu(system_, net, parameters_);
    }
  }

 private:
  /// Returns the type of two paths joined end to end.
  [[nodiscard]] PathType joined_type(PathType a, PathType b) const {
    const auto [near, far] = std::minmax(a, b);
    const bool is_p2c = near == PathType::C2c && far == PathType::Phb;
    return is_p2c && parameters_.rules.p2c_nets != P2cNets::None ? PathType::P2c : far;
  }

  /// Routes the traffic from one vertex to another through a third.
  void divert(NodeRef from, NodeRef via, NodeRef to) {
    const Path& first = system_.path(from, via);
    const Path& second = system_.path(via, to);
    Path joined{
        .type = via.kind == NodeKind::Gpu ? PathType::Pxn : joined_type(first.type, second.type),
        .bandwidth = std::min(first.bandwidth, second.bandwidth),
        .links = first.links};
    joined.links.insert(joined.links.end(), second.links.begin(), second.links.end());
    path_of(system_, from, to) = std::move(joined);
  }

  void divert_refused_peers(int gpu) {
    const int cpu = local_cpu(system_, gpu, parameters_.rules);
    if (cpu < 0) return;
    for (int peer = 0; peer < gpus_; ++peer) {
      if (may_p2p(system_, parameters_, peer, gpu)) continue;
      divert(gpu_ref(peer), cpu_ref(cpu), gpu_ref(gpu));
    }
  }

  void mark_unreachable_peers(int gpu) {
    for (int peer = 0; peer < gpus_; ++peer) {
      if (peer == gpu || may_connect_in_node(system_, parameters_, gpu, peer)) continue;
      path_of(system_, gpu_ref(gpu), gpu_ref(peer)).type = PathType::Net;
    }
  }

  [[nodiscard]] float most_bandwidth(NodeRef from, NodeKind to) const {
    float most = 0;
    for (int i = 0; i < system_.count(to); ++i) {
      most = std::max(most, system_.path(from, {to, i}).bandwidth);
    }
    return most;
  }

  /// A NIC at a CPU that a GPU reaches by C2C counts as nearer than a path through the CPU, if neither has a wider
  /// path to another device.
  void name_c2c_nets() {
    if (parameters_.rules.p2c_nets == P2cNets::None) return;
    std::vector<float> most_of_net;
    for (int net = 0; net < nets_; ++net) {
      most_of_net.push_back(most_bandwidth(net_ref(net), NodeKind::Gpu));
    }
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      const int cpu = local_cpu(system_, gpu, parameters_.rules);
      if (cpu < 0) continue;
      const float most_of_gpu = most_bandwidth(gpu_ref(gpu), NodeKind::Net);
      for (int net = 0; net < nets_; ++net) {
        Path& there = path_of(system_, gpu_ref(gpu), net_ref(net));
        Path& back = path_of(system_, net_ref(net), gpu_ref(gpu));
        const bool is_local = parameters_.rules.p2c_nets == P2cNets::All ||
                              (there.bandwidth == most_of_gpu &&
                               back.bandwidth == most_of_net[static_cast<std::size_t>(net)]);
        const PathType type = joined_type(system_.path(gpu_ref(gpu), cpu_ref(cpu)).type,
                                          system_.path(net_ref(net), cpu_ref(cpu)).type);
        if (!is_local || type != PathType::P2c) continue;
        there.type = std::min(there.type, type);
        back.type = std::min(back.type, type);
      }
    }
  }

  void adjust_net(int net) {
    // The GPU closest to the NIC depends on paths that change in this loop.
    int relay = local_gpu(system_, net, parameters_);
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      bool is_changed = false;
      if (!parameters_.pxn_disable && relay >= 0 && relay != gpu && is_worth_pxn(gpu, relay, net)) {
        // Only for outgoing traffic: incoming traffic is received by the GPU next to the NIC anyway.
        divert(gpu_ref(gpu), gpu_ref(relay), net_ref(net));
        is_changed = true;
      }
      const bool is_near = system_.path(gpu_ref(gpu), net_ref(net)).type < PathType::Phb ||
                           parameters_.rules.gdr_diverts_far_nics;
      const int cpu = local_cpu(system_, gpu, parameters_.rules);
      if (is_near && cpu >= 0 && !may_gdr(system_, parameters_, gpu, net, false)) {
        divert(net_ref(net), cpu_ref(cpu), gpu_ref(gpu));
        divert(gpu_ref(gpu), cpu_ref(cpu), net_ref(net));
        is_changed = true;
      }
      if (is_changed) relay = local_gpu(system_, net, parameters_);
    }
  }

  [[nodiscard]] bool is_worth_pxn(int gpu, int relay, int net) const {
    const PathType farthest = parameters_.pxn_c2c ? PathType::P2c : PathType::Pxb;
    const Path& own = system_.path(gpu_ref(gpu), net_ref(net));
    const Path& relayed = system_.path(gpu_ref(relay), net_ref(net));
    const TopologyRules& rules = parameters_.rules;
    const bool is_same_host = system_.node(gpu_ref(relay)).host == system_.node(gpu_ref(gpu)).host;
    return (!rules.pxn_needs_gdr || may_gdr(system_, parameters_, relay, net, true)) &&
           relayed.type <= farthest &&
           system_.path(gpu_ref(relay), gpu_ref(gpu)).type <= PathType::Nvl &&
           (is_same_host || !rules.pxn_stays_on_host) &&
           (relayed.bandwidth > own.bandwidth ||
            own.type > (rules.pxn_before_p2c ? PathType::Pxb : PathType::Pxn));
  }

  System& system_;
  const TopologyParameters& parameters_;
  int gpus_ = system_.count(NodeKind::Gpu);
  int nets_ = system_.count(NodeKind::Net);
};

}  // namespace

void adjust_paths(System& system, const TopologyParameters& parameters) {
  Adjuster{system, parameters}.run();
}

}  // namespace ringside
