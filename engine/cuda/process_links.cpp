#include "engine/cuda/process_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "engine/runtime/bootstrap.h"
#include "engine/transport/file_passing.h"

namespace ringside {
namespace {

/// What a receiver leaves in the pages of a connection whose slots lie in its GPU's memory.
struct Offer {
  std::uint32_t is_there = 0;
  DeviceHandle handle{};
};

/// The connection whose pages have room for a DeviceFifo: beside its slots, for counters.
ConnectionId host_id(ConnectionId id) {
  id.slot_size += 128;
  return id;
}

Bytes fifo_size(const ConnectionId& id) {
  return DeviceFifo::memory_for(id.protocol, Bytes{id.slot_size}, kSlots);
}

Offer& offer_in(const TransportEnd& end) {
  const std::span<std::byte> pages = end.shared_pages();
  RINGSIDE_ASSERT(pages.size() >= sizeof(Offer), "{} bytes for an offer", pages.size());
  return *reinterpret_cast<Offer*>(pages.data());
}

}  // namespace

ProcessLinks::ProcessLinks(Bootstrap& bootstrap, DeviceMemory& memory,
                           std::unique_ptr<Connections> connections)
    : bootstrap_(bootstrap), memory_(memory), connections_(std::move(connections)) {}

ProcessLinks::~ProcessLinks() {
  for (const std::span<std::byte> pages : mapped_) memory_.unmap(pages);
}

Result<std::unique_ptr<ProcessLinks>> ProcessLinks::make(Bootstrap& bootstrap, DeviceMemory& memory,
                                                         const Transport* transport,
                                                         const MemoryWish& wish,
                                                         Deadline deadline) {
  RINGSIDE_TRY(std::unique_ptr<Connections> connections,
               Connections::make(bootstrap, transport, deadline));
  std::unique_ptr<ProcessLinks> links(new ProcessLinks(bootstrap, memory, std::move(connections)));
  RINGSIDE_TRY(links->gather_reach(wish, deadline));
  return links;
}

Status ProcessLinks::gather_reach(const MemoryWish& wish, Deadline deadline) {
  RINGSIDE_TRY(const DevicePlace mine, as_wished(memory_.place(), wish));
  RINGSIDE_TRY(const std::vector<std::byte> places,
               bootstrap_.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  const auto n = static_cast<std::uint32_t>(bootstrap_.nranks());
  const auto me = static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  places_.resize(n);
  std::memcpy(places_.data(), places.data(), places.size());
  between_processes_ = way_between_processes(places_);
  std::vector<std::byte> row(n, std::byte{0});
  for (std::uint32_t peer = 0; peer < n; ++peer) {
    if (peer == me) continue;
    RINGSIDE_TRY(const Transport* const transport, connections_->peers().between(me, peer));
    const bool shares_pages = transport->door == Door::Host;
    const bool opens = wish.may_open && shares_pages && memory_.reaches(places_[peer].id) &&
                       can_open(mine, places_[peer], between_processes_);
    row[peer] = std::byte{static_cast<unsigned char>(opens ? 1 : 0)};
  }
  RINGSIDE_TRY(reach_, bootstrap_.all_gather(row, deadline));
  const auto pairs = static_cast<std::ptrdiff_t>(n * (n - 1));
  keeps_lines_ = std::ranges::count(reach_, std::byte{1}) == pairs;
  return {};
}

bool ProcessLinks::opens(const ConnectionId& id) const {
  const auto n = static_cast<std::size_t>(bootstrap_.nranks());
  return reach_[id.from * n + id.to] == std::byte{1};
}

Status ProcessLinks::connect(std::span<const ConnectionId> wanted, Deadline deadline) {
  const auto me = static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  std::vector<ConnectionId> fresh;
  std::vector<ConnectionId> between;
  for (const ConnectionId& id : wanted) {
    if (fifos_.contains(id)) continue;
    if (id.from == me && id.to == me) {
      RINGSIDE_TRY(fifos_[id], memory_.take(fifo_size(id)));
      continue;
    }
    fresh.push_back(id);
    between.push_back(host_id(id));
  }
  RINGSIDE_TRY(connections_->connect(between, deadline));
  // All offer first and accept then: nobody waits for one who waits.
  std::vector<std::pair<ConnectionId, const TransportEnd*>> awaited;
  for (const ConnectionId& id : fresh) {
    const bool receives = id.to == me;
    const TransportEnd& end = receives
                                  ? static_cast<TransportEnd&>(connections_->recv_end(host_id(id)))
                                  : connections_->send_end(host_id(id));
    if (end.shared_pages().empty()) {
      RINGSIDE_TRY(make_proxy(id));
    } else if (!opens(id)) {
      RINGSIDE_TRY(map(id, end.shared_pages()));
    } else if (receives) {
      RINGSIDE_TRY(offer(id, end, deadline));
    } else {
      awaited.emplace_back(id, &end);
    }
  }
  for (const auto& [id, end] : awaited) RINGSIDE_TRY(accept(id, *end, deadline));
  return {};
}

Status ProcessLinks::offer(const ConnectionId& id, const TransportEnd& end, Deadline deadline) {
  RINGSIDE_TRY(fifos_[id], memory_.take_to_share(fifo_size(id), between_processes_));
  RINGSIDE_TRY(const DeviceShare share, memory_.share(fifos_[id], places_[id.from].process));
  if (share.file) {
    RINGSIDE_TRY(send_fd(end.file_socket(), share.file.get(), bootstrap_.patience(deadline)));
  }
  Offer& offer = offer_in(end);
  offer.handle = share.handle;
  std::atomic_ref(offer.is_there).store(1, std::memory_order_release);
  return {};
}

Status ProcessLinks::accept(const ConnectionId& id, const TransportEnd& end, Deadline deadline) {
  constexpr auto kBetweenLooks = std::chrono::microseconds(100);
  Offer& offer = offer_in(end);
  while (std::atomic_ref(offer.is_there).load(std::memory_order_acquire) == 0) {
    if (has_passed(deadline)) {
      return Error{
          ErrorCode::Timeout,
          fmt::format("rank {} did not say where its slots of channel {} lie", id.to, id.channel)};
    }
    RINGSIDE_TRY(bootstrap_.patience(deadline).at_most(kBetweenLooks).wait_for(-1, 0));
  }
  DeviceShare share{offer.handle, {}};
  if (share.handle.way == MemoryWay::File) {
    RINGSIDE_TRY(share.file, recv_fd(end.file_socket(), bootstrap_.patience(deadline)));
  }
  RINGSIDE_TRY(fifos_[id], memory_.open(share));
  return {};
}

Status ProcessLinks::map(const ConnectionId& id, std::span<std::byte> pages) {
  RINGSIDE_ASSERT(pages.size() >= fifo_size(id).value, "{} bytes for slots that take {}",
                  pages.size(), fifo_size(id).value);
  RINGSIDE_TRY(fifos_[id], memory_.map(pages));
  mapped_.push_back(pages);
  return {};
}

Status ProcessLinks::make_proxy(const ConnectionId& id) {
  if (id.protocol == Protocol::LL128) {
    return Error{ErrorCode::Unsupported, "LL128 through a proxy",
                 "use --proto simple or ll: LL128's lines are whole within GPUs' memory alone"};
  }
  RINGSIDE_TRY(std::byte* const memory, memory_.take_shared(fifo_size(id)));
  fifos_[id] = memory;
  const bool receives = id.to == static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  const ProxyFifo fifo{.end = DeviceFifo(memory).end(receives, true),
                       .protocol = id.protocol,
                       .slot = static_cast<std::int64_t>(id.slot_size)};
  proxies_[id] = receives ? make_recv_proxy(fifo, connections_->recv_end(host_id(id)))
                          : make_send_proxy(fifo, connections_->send_end(host_id(id)));
  return {};
}

Result<DeviceEnd> ProcessLinks::end_of(const ConnectionId& id, bool receives) {
  DeviceEnd end = DeviceFifo(fifos_.at(id)).end(receives, proxies_.contains(id));
  // Outputs are reached where slots are: this GPU's memory, or that of one which processes open.
  if (id.from != id.to && !opens(id)) end.credit = nullptr;
  return end;
}

bool ProcessLinks::has_all(std::span<const ConnectionId> ids) const {
  return std::ranges::all_of(ids, [this](const ConnectionId& id) { return fifos_.contains(id); });
}

bool ProcessLinks::has_proxies(std::span<const ConnectionId> ids) const {
  return std::ranges::any_of(ids, [this](const ConnectionId& id) { return proxies_.contains(id); });
}

std::vector<Proxy*> ProcessLinks::proxies() const {
  std::vector<Proxy*> all;
  for (const auto& [id, proxy] : proxies_) all.push_back(proxy.get());
  return all;
}

}  // namespace ringside
