#include "engine/transport/transport.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "engine/transport/loop.h"
#include "engine/transport/rdma/rdma.h"
#include "engine/transport/rdma/rdma_message.h"
#include "engine/transport/shm/shm.h"
#include "engine/transport/tcp/socket_counts.h"
#include "engine/transport/tcp/tcp.h"

namespace ringside {
namespace {

bool are_one(const Whereabouts& from, const Whereabouts& to) { return from.rank == to.rank; }
bool share_host(const Whereabouts& from, const Whereabouts& to) { return from.host == to.host; }
/// Returns whether both ranks have InfiniBand, or both have RoCE.
bool have_one_kind_of_adapter(const Whereabouts& from, const Whereabouts& to) {
  return rdma_kind_of(*from.address_on("rdma")) == rdma_kind_of(*to.address_on("rdma"));
}
std::size_t tcp_sockets(std::string_view receiver, ConnectionShape shape) {
  return socket_counts_of(receiver, shape).sockets();
}
bool are_anywhere(const Whereabouts& /*from*/, const Whereabouts& /*to*/) { return true; }

constexpr std::array kTable{
    Transport{.name = "loop",
              .joins = "a rank to itself",
              .door = Door::None,
              .reaches = are_one,
              .listen = open_loop,
              .make_recv = make_loop_recv_end,
              .make_send = make_loop_send_end},
    Transport{.name = "shm",
              .joins = "ranks of one host",
              .door = Door::Host,
              .waits_for_receiver = true,
              .reaches = share_host,
              .make_recv = make_shm_recv_end,
              .make_send = make_shm_send_end},
    // The adapter moves the data; the CPU only reads completions. LL's lines carry their own flags, while LL128's need
    // a completion at both ends. 8 B to the next rank, 2 ranks on soft-RoCE: 20.3 us; by LL128: 24.3 us.
    Transport{.name = "rdma",
              .joins = "ranks with InfiniBand or RoCE adapters",
              .door = Door::Network,
              .nccl_network = "IB",
              .waits_for_receiver = true,
              .spins = 20,
              .takes_lent_slots = true,
              .ll_up_to = 512_B,
              .reaches = have_one_kind_of_adapter,
              .listen = open_rdma,
              .make_recv = make_rdma_recv_end,
              .make_send = make_rdma_send_end},
    // Slots: the kernel's copies also need the cache (4 ranks, 64 MiB: 66 ms; with 128 KiB: 119 ms). Between hosts, at
    // 1 Gbit/s, an all-reduce of 64 MiB among 4 ranks used 67 to 90 % of the line with 64 KiB, and 92 to 94 % with 256
    // KiB. One socket for both directions: the kernel sends acknowledgements along with data. All-reduce of 8 B, 2
    // ranks over loopback: 3.8 us; with two sockets: 5.3 us. Long transfers use two, because one socket at times takes
    // twice as long (64 MiB: 25 ms and 58 ms).
    Transport{.name = "tcp",
              .joins = "any ranks",
              .door = Door::Network,
              .nccl_network = "Socket",
              .needs_progress = true,
              .takes_lent_slots = true,
              .longest_slot = 64_KiB,
              .slot_between_hosts = 256_KiB,
              .shares_socket_up_to = 8_KiB,
              .sockets = tcp_sockets,
              .reaches = are_anywhere,
              .listen = open_tcp,
              .make_recv = make_tcp_recv_end,
              .make_send = make_tcp_send_end},
};

bool takes(const Transport& transport, MemoryKind memory) {
  return memory == MemoryKind::Host ? transport.takes_host_memory : transport.takes_device_memory;
}

}  // namespace

const std::string* Whereabouts::address_on(std::string_view transport) const {
  const auto found = std::ranges::find(open, transport, &Open::transport);
  return found == open.end() ? nullptr : &found->address;
}

std::span<const Transport> transports() { return kTable; }

const Transport& usual_transport() {
  return *std::ranges::find_if_not(kTable, &Transport::is_inner);
}

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names;
  for (const Transport& transport : kTable) {
    if (!transport.is_inner()) names.push_back(transport.name);
  }
  return names;
}

Result<const Transport*> parse_transport(std::string_view name) {
  const std::vector<std::string_view> names = transport_names();
  if (std::ranges::find(names, name) != names.end()) {
    return &*std::ranges::find(kTable, name, &Transport::name);
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown transport '{}'", name),
               suggestion(name, names)};
}

const Transport* choose_transport(std::span<const Transport> table, const Whereabouts& from,
                                  const Whereabouts& to, MemoryKind memory) {
  const auto joins = [&](const Transport& transport) {
    return from.address_on(transport.name) != nullptr && to.address_on(transport.name) != nullptr &&
           takes(transport, memory) && transport.reaches(from, to);
  };
  const auto found = std::ranges::find_if(table, joins);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace ringside
