#include "engine/runtime/host/communicator_log.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <variant>

#include "base/words.h"
#include "engine/debuglog/channel_text.h"
#include "engine/debuglog/operation_text.h"
#include "engine/debuglog/start_text.h"
#include "engine/runtime/bootstrap/debug_output.h"
#include "engine/transport/shm/shared_memory.h"
#include "engine/transport/tcp/socket_counts.h"

namespace ringside {
namespace {

constexpr Subsystems kInit = Subsystem::Init;
constexpr Subsystems kNetwork = Subsystem::Init | Subsystem::Net;

std::uint64_t number_of(const void* pointer) { return std::bit_cast<std::uintptr_t>(pointer); }

TreeEdges edges_of(const Channels::TreePlace& place) {
  TreeEdges edges{.up = to_int(place.parent)};
  const std::size_t count = std::min(place.children.size(), edges.down.size());
  for (std::size_t i = 0; i < count; ++i) edges.down[i] = to_int(place.children[i]);
  return edges;
}

/// Returns the RDMA ports of the rank, from its rdma_address().
std::vector<Hca> adapters_of(const Whereabouts& here) {
  std::vector<Hca> adapters;
  const std::string* const address = here.address_on("rdma");
  if (address == nullptr) return adapters;
  std::istringstream words(*address);
  std::string kind;
  words >> kind;
  for (std::string word; words >> word;) {
    const std::size_t colon = word.rfind(':');
    if (colon == std::string::npos) continue;
    Hca adapter;
    adapter.index = static_cast<int>(adapters.size());
    adapter.name = word.substr(0, colon);
    adapter.port = std::atoi(word.c_str() + colon + 1);
    adapter.is_ethernet = kind == "RoCE";
    adapters.push_back(std::move(adapter));
  }
  return adapters;
}

}  // namespace

std::unique_ptr<CommunicatorLog> CommunicatorLog::make(const void* communicator, Rank rank,
                                                       int nranks) {
  DebugOutput& output = DebugOutput::of_process();
  if (!output.has(DebugLevel::Warn)) return nullptr;
  const CommFacts facts{.function = {},
                        .pointer = number_of(communicator),
                        .rank = to_int(rank),
                        .nranks = nranks,
                        .cuda_dev = -1,
                        .nvml_dev = -1,
                        .bus_id = -1};
  return std::unique_ptr<CommunicatorLog>(new CommunicatorLog(output, facts));
}

CommunicatorLog::CommunicatorLog(DebugOutput& output, CommFacts facts)
    : output_(output),
      facts_(std::move(facts)),
      shows_calls_(output.shows(Subsystem::Coll)),
      shows_choices_(output.shows(Subsystem::Tuning)) {}

void CommunicatorLog::started(std::uint64_t id) {
  facts_.id = id;
  output_.info(kInit, init_start_text(output_.version(), facts_));
}

void CommunicatorLog::variable_applied(const std::string& variable, std::int64_t value) {
  const std::string text = std::to_string(value);
  output_.info(Subsystem::Env, env_echo_text(output_.version(), {variable, text, true}));
}

void CommunicatorLog::hosts_known(const Connections& connections) {
  const Peers& peers = connections.peers();
  std::map<std::string, int> ranks_of;
  for (int rank = 0; rank < facts_.nranks; ++rank) {
    places_.push_back(ranks_of[peers.at(static_cast<std::uint32_t>(rank)).host]++);
  }
  const Whereabouts& here = peers.at(static_cast<std::uint32_t>(facts_.rank));
  log_network(here);
  output_.info(kInit, nodes_text(facts_, {.nnodes = static_cast<int>(ranks_of.size()),
                                          .local_ranks = ranks_of.at(here.host),
                                          .local_rank = place_of(facts_.rank)}));
}

void CommunicatorLog::log_network(const Whereabouts& here) {
  const std::string& door = here.doors[static_cast<std::size_t>(Door::Network)];
  if (door.empty()) return;
  const auto address = parse_endpoint(door);
  const auto* const socket = address ? std::get_if<SocketAddress>(&*address) : nullptr;
  if (socket == nullptr) return;
  const auto interface = interface_at(*socket);
  const std::vector<Hca> adapters = adapters_of(here);
  if (interface && !adapters.empty()) {
    output_.info(kNetwork, ib_devices_text(output_.version(), adapters, *interface));
  } else if (interface) {
    output_.info(kNetwork, socket_interfaces_text({&*interface, 1}));
  }
  output_.info(kNetwork, using_network_text(adapters.empty() ? "Socket" : "IB"));
  const std::string* const tcp = here.address_on("tcp");
  const SocketCounts counts = parse_socket_counts(tcp == nullptr ? "" : *tcp);
  if (adapters.empty() && counts.is_striped()) {
    output_.info(kNetwork, socket_counts_text(counts.threads, counts.per_thread));
  }
}

void CommunicatorLog::completed() {
  output_.info(kInit, init_complete_text(output_.version(), facts_));
}

void CommunicatorLog::channels_made(const Channels& channels) {
  log_rings(channels);
  log_trees(channels);
  const int count = channels.count();
  output_.info(kInit, channel_counts_text(output_.version(),
                                          {.coll = count, .p2p = count, .p2p_per_peer = count}));
}

void CommunicatorLog::log_rings(const Channels& channels) {
  const int count = channels.count();
  for (int channel = 0; channel < count; ++channel) {
    std::vector<int> ranks;
    for (const Rank rank : channels.rings[static_cast<std::size_t>(channel)]) {
      ranks.push_back(to_int(rank));
    }
    if (facts_.rank == 0) {
      output_.info(kInit, channel_ring_text(output_.version(), channel, count, ranks));
    }
    const auto me = std::ranges::find(ranks, facts_.rank);
    if (me == ranks.end()) continue;
    const int previous = me == ranks.begin() ? ranks.back() : *(me - 1);
    const int next = me + 1 == ranks.end() ? ranks.front() : *(me + 1);
    output_.info(Subsystem::Graph, ring_text(channel, previous, facts_.rank, next));
  }
}

void CommunicatorLog::log_trees(const Channels& channels) {
  std::vector<TreeEdges> trees;
  for (const auto& tree : channels.trees) {
    trees.push_back(edges_of(tree[static_cast<std::size_t>(facts_.rank)]));
    output_.info(Subsystem::Graph,
                 tree_text(static_cast<int>(trees.size()) - 1, facts_.rank, trees.back()));
  }
  output_.info(kInit, trees_text(output_.version(), facts_.rank, trees));
}

void CommunicatorLog::connected(std::span<const ConnectionId> ids, const Connections& connections,
                                const Choice& choice) {
  const auto me = static_cast<std::uint32_t>(facts_.rank);
  ConnectionFacts facts{};
  facts.connection = is_point_to_point(choice.collective) ? 1 : 0;
  for (const ConnectionId& id : ids) {
    const Transport& transport = connections.transport_of(id);
    const bool is_network = !transport.nccl_network.empty();
    // NCCL logs no connection within a rank, and receivers log a connection only if it uses a network.
    if (transport.is_inner() || (id.from != me && !is_network)) continue;
    // NCCL has one connection for all protocols and slot sizes.
    facts.channel = static_cast<int>(id.channel);
    if (!connected_.emplace(facts.connection, facts.channel, id.from, id.to).second) continue;
    facts.from = end_of(id.from);
    facts.to = end_of(id.to);
    facts.medium = !is_network ? Medium::Shm : id.from == me ? Medium::NetSend : Medium::NetReceive;
    facts.network = transport.nccl_network;
    // The ends of messages are made while their call runs.
    const auto is_gdr = [](const auto* end) {
      return end != nullptr && end->lent().region != nullptr && end->lent().region->is_device();
    };
    facts.is_gdr = id.from == me ? is_gdr(connections.find_send_end(id))
                                 : is_gdr(connections.find_recv_end(id));
    output_.info(kNetwork, connection_text(output_.version(), facts));
  }
  const AlgorithmFacts& algorithm = facts_of(choice.algorithm);
  if (!algorithm.has_own_lanes || facts.connection != 0) return;
  if (algorithm.graph == GraphId::Ring && !std::exchange(has_rings_, true)) {
    output_.info(kInit, connected_rings_text(output_.version(), {}));
  }
  if (algorithm.graph == GraphId::Tree && !std::exchange(has_trees_, true)) {
    output_.info(kInit, connected_trees_text());
  }
}

void CommunicatorLog::called(const CollectiveCall& call, std::uint64_t op_count,
                             const CallPlan& plan) {
  if (shows_calls_) log_call(call, op_count);
  // Sends and receives have no algorithm to log.
  if (!shows_choices_ || is_point_to_point(call.collective)) return;
  TunedChoice choice;
  choice.collective = plan.choice.collective;
  choice.algorithm = plan.choice.algorithm;
  choice.protocol = plan.choice.protocol;
  choice.channels.last = plan.choice.nchannels - 1;
  output_.info(Subsystem::Tuning, choice_text(output_.version(), plan.bytes, choice));
}

void CommunicatorLog::log_call(const CollectiveCall& call, std::uint64_t op_count) {
  CallFacts facts{.collective = call.collective,
                  .op_count = op_count,
                  .send_buffer = number_of(call.input),
                  .recv_buffer = number_of(call.output),
                  .count = static_cast<std::uint64_t>(call.count),
                  .type = call.type,
                  .op = call.op,
                  .root = to_int(call.root),
                  .comm = facts_.pointer,
                  .nranks = facts_.nranks};
  const auto log = [&] { output_.info(Subsystem::Coll, call_text(facts)); };
  if (call.collective == Collective::SendRecv && call.sends.empty() && call.recvs.empty()) {
    // The pattern of nccl-tests: each rank sends to the next and receives from the previous rank.
    facts.collective = Collective::Send;
    facts.root = (facts_.rank + 1) % facts_.nranks;
    log();
    facts.collective = Collective::Recv;
    facts.root = (facts_.rank + facts_.nranks - 1) % facts_.nranks;
    return log();
  }
  if (call.sends.empty() && call.recvs.empty()) return log();
  const std::uint64_t element = size_of(call.type).value;
  const auto log_each = [&](Collective of, const std::vector<Transfer>& transfers,
                            const void* buffer) {
    facts.collective = of;
    for (const Transfer& transfer : transfers) {
      const std::uint64_t at =
          number_of(buffer) + static_cast<std::uint64_t>(transfer.offset) * element;
      facts.send_buffer = of == Collective::Send ? at : 0;
      facts.recv_buffer = of == Collective::Recv ? at : 0;
      facts.count = static_cast<std::uint64_t>(transfer.count);
      facts.root = to_int(transfer.peer);
      log();
    }
  };
  log_each(Collective::Send, call.sends, call.input);
  log_each(Collective::Recv, call.recvs, call.output);
}

void CommunicatorLog::failed(const Error& why, const WarnPlace& place) {
  if (std::exchange(has_failed_, true)) return;
  output_.warn(place, why);
}

void CommunicatorLog::destroyed() {
  if (output_.version().is_from(31)) output_.info(Subsystem::Destroy, destroy_start_text(facts_));
  output_.info(Subsystem::Destroy, destroy_text(output_.version(), facts_));
}

ConnectionEnd CommunicatorLog::end_of(std::uint32_t rank) const {
  return {.rank = static_cast<int>(rank), .nvml_dev = place_of(static_cast<int>(rank))};
}

int CommunicatorLog::place_of(int rank) const { return places_[static_cast<std::size_t>(rank)]; }

}  // namespace ringside
