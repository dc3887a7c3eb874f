#include "engine/cuda/process_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "engine/runtime/bootstrap.h"

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

}  // namespace

ProcessLinks::ProcessLinks(Bootstrap& bootstrap, DeviceMemory& memory,
                           std::unique_ptr<Connections> connections)
    : bootstrap_(bootstrap), memory_(memory), connections_(std::move(connections)) {}

ProcessLinks::~ProcessLinks() {
  for (const std::span<std::byte> pages : mapped_) memory_.unmap(pages);
}

Result<std::unique_ptr<ProcessLinks>> ProcessLinks::make(Bootstrap& bootstrap, DeviceMemory& memory,
                                                         const Transport* wish, bool may_open,
                                                         Deadline deadline) {
  RINGSIDE_TRY(std::unique_ptr<Connections> connections,
               Connections::make(bootstrap, wish, deadline));
  std::unique_ptr<ProcessLinks> links(new ProcessLinks(bootstrap, memory, std::move(connections)));
  RINGSIDE_TRY(links->gather_reach(may_open, deadline));
  return links;
}

Status ProcessLinks::gather_reach(bool may_open, Deadline deadline) {
  const DeviceId mine = memory_.id();
  RINGSIDE_TRY(const std::vector<std::byte> ids, bootstrap_.all_gather(mine, deadline));
  const auto n = static_cast<std::uint32_t>(bootstrap_.nranks());
  const auto me = static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  std::vector<std::byte> row(n, std::byte{0});
  for (std::uint32_t peer = 0; peer < n; ++peer) {
    if (peer == me) continue;
    DeviceId id{};
    std::memcpy(id.data(), ids.data() + peer * id.size(), id.size());
    RINGSIDE_TRY(const Transport* const transport, connections_->peers().between(me, peer));
    const bool shares_pages = transport->door == Door::Host;
    if (may_open && shares_pages && memory_.reaches(id)) row[peer] = std::byte{1};
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
  std::vector<std::pair<ConnectionId, std::span<std::byte>>> awaited;
  for (const ConnectionId& id : fresh) {
    const bool receives = id.to == me;
    const std::span<std::byte> pages = receives
                                           ? connections_->recv_end(host_id(id)).shared_pages()
                                           : connections_->send_end(host_id(id)).shared_pages();
    if (pages.empty()) {
      RINGSIDE_TRY(make_proxy(id));
    } else if (!opens(id)) {
      RINGSIDE_TRY(map(id, pages));
    } else if (receives) {
      RINGSIDE_TRY(offer(id, pages));
    } else {
      awaited.emplace_back(id, pages);
    }
  }
  for (const auto& [id, pages] : awaited) RINGSIDE_TRY(accept(id, pages, deadline));
  return {};
}

Status ProcessLinks::offer(const ConnectionId& id, std::span<std::byte> pages) {
  RINGSIDE_TRY(fifos_[id], memory_.take_to_share(fifo_size(id)));
  auto* const offer = reinterpret_cast<Offer*>(pages.data());
  RINGSIDE_TRY(offer->handle, memory_.share(fifos_[id]));
  std::atomic_ref(offer->is_there).store(1, std::memory_order_release);
  return {};
}

Status ProcessLinks::accept(const ConnectionId& id, std::span<std::byte> pages, Deadline deadline) {
  constexpr auto kBetweenLooks = std::chrono::microseconds(100);
  auto* const offer = reinterpret_cast<Offer*>(pages.data());
  while (std::atomic_ref(offer->is_there).load(std::memory_order_acquire) == 0) {
    if (has_passed(deadline)) {
      return Error{
          ErrorCode::Timeout,
          fmt::format("rank {} did not say where its slots of channel {} lie", id.to, id.channel)};
    }
    RINGSIDE_TRY(bootstrap_.patience(deadline).at_most(kBetweenLooks).wait_for(-1, 0));
  }
  RINGSIDE_TRY(fifos_[id], memory_.open(offer->handle));
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
  return DeviceFifo(fifos_.at(id)).end(receives, proxies_.contains(id));
}

std::vector<Proxy*> ProcessLinks::proxies_of(std::span<const ConnectionId> ids) const {
  std::vector<Proxy*> found;
  for (const ConnectionId& id : ids) {
    const auto one = proxies_.find(id);
    if (one != proxies_.end()) found.push_back(one->second.get());
  }
  return found;
}

}  // namespace ringside
