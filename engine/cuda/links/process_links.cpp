#include "engine/cuda/links/process_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/transport/shm/shared_memory.h"
#include "engine/transport/socket/file_passing.h"

namespace ringside {
namespace {

/// Entries of `reach_`: whether a rank can open another rank's memory (0: it cannot), and whether LL128's lines then
/// arrive whole.
constexpr std::byte kCanOpen{1}, kCanOpenWithLines{2};

/// The description that a receiver writes into the pages of a connection whose slots lie in its GPU's memory.
struct Offer {
  std::uint32_t is_there = 0;
  DeviceHandle handle{};
};

/// Pinned memory of this process that holds a DeviceFifo.
class FifoRegion final : public SharedRegion {
 public:
  explicit FifoRegion(std::span<std::byte> memory) : memory_(memory) {}
  [[nodiscard]] std::uint64_t id() const override { return id_; }
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] std::byte* data() const override { return memory_.data(); }
  [[nodiscard]] std::size_t size() const override { return memory_.size(); }

 private:
  const std::uint64_t id_ = fresh_region_id();
  std::span<std::byte> memory_;
};

const char* text_of(MemoryAccess way) {
  switch (way) {
    case MemoryAccess::Address:
      return "the receiver's GPU, by address";
    case MemoryAccess::Ipc:
      return "the receiver's GPU, by CUDA IPC";
    case MemoryAccess::File:
      return "the receiver's GPU, by cuMem";
    case MemoryAccess::None:
      break;
  }
  return "memory of the host";
}

Bytes fifo_size(const ConnectionId& id) {
  return DeviceFifo::memory_for(id.protocol, Bytes{id.slot_size}, kSlots);
}

/// Bytes by which each slot of a host connection is longer than a kernel's, so that its pages also hold the counters of a
/// DeviceFifo. A multiple of 128, to which slots are aligned.
constexpr std::uint64_t kCounterBytesPerSlot = 128;
static_assert(kCounterBytesPerSlot * kSlots >= DeviceFifo::kSlotsAt);

/// Slot size of a connection whose pages hold only an Offer.
constexpr std::uint32_t kOfferSlotSize = kBytesOfLinks;
static_assert(sizeof(Offer) <= kOfferSlotSize);

Offer& offer_in(const TransportEnd& end) {
  const std::span<std::byte> pages = end.shared_pages();
  RINGSIDE_ASSERT(pages.size() >= sizeof(Offer), "{} bytes for an offer", pages.size());
  return *reinterpret_cast<Offer*>(pages.data());
}

}  // namespace

ProcessLinks::ProcessLinks(Bootstrap& bootstrap, DeviceMemory& memory,
                           const GpuDirectSettings& direct,
                           std::unique_ptr<Connections> connections, const LinkFaults& faults)
    : bootstrap_(bootstrap),
      memory_(memory),
      direct_(direct),
      faults_(faults),
      connections_(std::move(connections)),
      switches_(bootstrap, memory) {
  connections_->set_lender(
      [this](const ConnectionId& id, bool receives) { return lend(id, receives); });
}

ProcessLinks::~ProcessLinks() {
  for (const std::span<std::byte> pages : mapped_) memory_.unmap(pages);
}

Result<std::unique_ptr<ProcessLinks>> ProcessLinks::make(Bootstrap& bootstrap, DeviceMemory& memory,
                                                         const Transport* transport,
                                                         const MemorySettings& settings,
                                                         Deadline deadline,
                                                         const LinkFaults& faults) {
  RINGSIDE_TRY(std::unique_ptr<Connections> connections,
               Connections::make(bootstrap, transport, deadline, faults));
  std::unique_ptr<ProcessLinks> links(
      new ProcessLinks(bootstrap, memory, settings.direct, std::move(connections), faults));
  RINGSIDE_TRY(links->gather_reach(settings, deadline));
  return links;
}

Status ProcessLinks::gather_reach(const MemorySettings& settings, Deadline deadline) {
  RINGSIDE_TRY(const DevicePlace mine, with_settings(memory_.place(), settings));
  RINGSIDE_TRY(const std::vector<std::byte> places,
               bootstrap_.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  const auto n = static_cast<std::uint32_t>(bootstrap_.nranks());
  const auto me = static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  places_.resize(n);
  std::memcpy(places_.data(), places.data(), places.size());
  between_processes_ = access_between_processes(places_);
  std::vector<std::byte> row(n, std::byte{0});
  for (std::uint32_t peer = 0; peer < n; ++peer) {
    if (peer == me) continue;
    RINGSIDE_TRY(const Transport* const transport, connections_->peers().between(me, peer));
    const bool shares_pages = transport->door == Door::Host;
    const bool can = settings.may_open && shares_pages && memory_.reaches(places_[peer].id) &&
                     can_open(mine, places_[peer], between_processes_);
    if (can) row[peer] = memory_.keeps_lines(places_[peer].id) ? kCanOpenWithLines : kCanOpen;
  }
  RINGSIDE_TRY(reach_, bootstrap_.all_gather(row, deadline));
  const auto pairs = static_cast<std::ptrdiff_t>(n * (n - 1));
  keeps_lines_ = std::ranges::count(reach_, kCanOpenWithLines) == pairs;
  has_switch_ = find_switch();
  return {};
}

bool ProcessLinks::find_switch() const {
  if (!std::ranges::all_of(places_, &DevicePlace::has_multicast)) return false;
  const std::size_t n = places_.size();
  const auto per_node = static_cast<std::size_t>(layout().ranks_per_node);
  const std::size_t node = per_node != 0 ? per_node : n;
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      if (from == to || from / node != to / node) continue;
      const bool share_gpu = places_[from].id == places_[to].id;
      if (share_gpu || reach_[from * n + to] == std::byte{0}) return false;
    }
  }
  return true;
}

int ProcessLinks::ranks_per_gpu() const {
  std::ptrdiff_t most = 1;
  for (const DevicePlace& place : places_) {
    if (place.id == DeviceId{}) continue;  // its GPU is unknown
    most = std::max(most, std::ranges::count(places_, place.id, &DevicePlace::id));
  }
  return static_cast<int>(most);
}

const TransportEnd& ProcessLinks::end_between(const ConnectionId& id) const {
  const bool receives = id.to == static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  if (receives) return connections_->recv_end(host_id(id));
  return connections_->send_end(host_id(id));
}

Status ProcessLinks::connect_switches(std::span<const SwitchName> wanted, Deadline deadline) {
  return switches_.connect(
      wanted, [this](const ConnectionId& id) -> const TransportEnd& { return end_between(id); },
      deadline);
}

bool ProcessLinks::sender_opens_slots(const ConnectionId& id) const {
  const auto n = static_cast<std::size_t>(bootstrap_.nranks());
  return reach_[id.from * n + id.to] != std::byte{0};
}

ConnectionId ProcessLinks::host_id(ConnectionId id) const {
  if (connections_->transport_of(id).door == Door::Host) id.slot_size += kCounterBytesPerSlot;
  return id;
}

Status ProcessLinks::check_fault(const ConnectionId& id) const {
  const bool has_proxy = id.from != id.to && connections_->transport_of(id).door != Door::Host;
  const Fault* const fault = faults_.find(static_cast<int>(id.from), static_cast<int>(id.to),
                                          static_cast<int>(id.channel));
  if (has_proxy || fault == nullptr) return {};
  return Error{
      ErrorCode::Unsupported,
      fmt::format("cannot inject {} from rank {} to rank {}, whose kernels share the slots' memory",
                  to_string(fault->kind), id.from, id.to),
      "use --transport tcp or rdma, whose messages a proxy sends"};
}

Status ProcessLinks::connect(std::span<const ConnectionId> wanted, Deadline deadline) {
  const auto me = static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  std::vector<ConnectionId> fresh;
  std::vector<ConnectionId> between;
  for (const ConnectionId& id : wanted) {
    if (links_.contains(id)) continue;
    RINGSIDE_TRY(check_fault(id));
    if (id.from == me && id.to == me) {
      RINGSIDE_TRY(std::byte* const fifo, memory_.take(fifo_size(id)));
      add(id, {.fifo = fifo, .type = "this rank's GPU"});
      continue;
    }
    fresh.push_back(id);
    between.push_back(host_id(id));
  }
  RINGSIDE_TRY(connections_->connect(between, deadline));
  // Every rank offers first and accepts afterwards, so no rank waits for one that is itself waiting.
  std::vector<ConnectionId> awaited;
  for (const ConnectionId& id : fresh) {
    const std::span<std::byte> pages = end_between(id).shared_pages();
    if (pages.empty()) {
      RINGSIDE_TRY(make_proxy(id));
    } else if (!sender_opens_slots(id)) {
      RINGSIDE_TRY(map(id, pages));
    } else if (id.to == me) {
      RINGSIDE_TRY(std::byte* const fifo, memory_.take_to_share(fifo_size(id), between_processes_));
      RINGSIDE_TRY(const MemoryAccess access, offer(id, fifo, deadline));
      add(id, {.fifo = fifo, .type = text_of(access)});
    } else {
      awaited.push_back(id);
    }
  }
  for (const ConnectionId& id : awaited) {
    RINGSIDE_TRY(const Opened opened, accept(id, deadline));
    add(id, {.fifo = opened.memory, .type = text_of(opened.access)});
  }
  return {};
}

Result<std::vector<std::byte*>> ProcessLinks::exchange_memory(std::byte* mine,
                                                              std::span<const std::byte> shares,
                                                              std::uint32_t number,
                                                              Deadline deadline) {
  // Larger than the channel number of any call, so that no call's connection has the same id.
  constexpr std::uint32_t kChannelOfMemory = 1U << 20;
  const auto n = static_cast<std::uint32_t>(bootstrap_.nranks());
  const auto me = static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  std::vector<ConnectionId> offered, awaited, between;
  const auto add = [&](std::vector<ConnectionId>& to, std::uint32_t from, std::uint32_t owner) {
    const ConnectionId id{.from = from,
                          .to = owner,
                          .channel = kChannelOfMemory,
                          .index = number,
                          .slot_size = kOfferSlotSize};
    if (!sender_opens_slots(id) || shares[owner] == std::byte{0}) return;
    to.push_back(id);
    between.push_back(host_id(id));
  };
  for (std::uint32_t peer = 0; peer < n; ++peer) {
    if (peer == me) continue;
    add(offered, peer, me);
    add(awaited, me, peer);
  }
  RINGSIDE_TRY(connections_->connect(between, deadline));
  std::vector<std::byte*> places(n, nullptr);
  places[me] = mine;
  for (const ConnectionId& id : offered) {
    RINGSIDE_TRY(offer(id, mine, deadline));
  }
  for (const ConnectionId& id : awaited) {
    RINGSIDE_TRY(const Opened opened, accept(id, deadline));
    places[id.to] = opened.memory;
  }
  return places;
}

bool ProcessLinks::can_share(std::byte* memory) const {
  const auto me = static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  bool is_opened = false;
  for (std::uint32_t peer = 0; peer < places_.size(); ++peer) {
    if (peer == me || !sender_opens_slots({.from = peer, .to = me})) continue;
    if (!memory_.share(memory, places_[peer].process)) return false;
    is_opened = true;
  }
  return is_opened;
}

Result<MemoryAccess> ProcessLinks::offer(const ConnectionId& id, std::byte* memory,
                                         Deadline deadline) {
  const TransportEnd& end = end_between(id);
  RINGSIDE_TRY(const DeviceShare share, memory_.share(memory, places_[id.from].process));
  if (share.file) {
    RINGSIDE_TRY(send_fd(end.file_socket(), share.file.get(), bootstrap_.patience(deadline)));
  }
  Offer& offer = offer_in(end);
  offer.handle = share.handle;
  std::atomic_ref(offer.is_there).store(1, std::memory_order_release);
  return share.handle.access;
}

Result<ProcessLinks::Opened> ProcessLinks::accept(const ConnectionId& id, Deadline deadline) {
  constexpr auto kBetweenLooks = std::chrono::microseconds(100);
  const TransportEnd& end = end_between(id);
  Offer& offer = offer_in(end);
  while (std::atomic_ref(offer.is_there).load(std::memory_order_acquire) == 0) {
    if (has_passed(deadline)) {
      return Error{
          ErrorCode::Timeout,
          fmt::format("rank {} did not send the address of its slots of channel {}", id.to,
                      id.channel),
          "find out why that rank is late or hangs: ringside attach lists the calls of all ranks"};
    }
    RINGSIDE_TRY(bootstrap_.patience(deadline).at_most(kBetweenLooks).wait_for(-1, 0));
  }
  DeviceShare share{offer.handle, {}};
  if (share.handle.access == MemoryAccess::File) {
    RINGSIDE_TRY(share.file, recv_fd(end.file_socket(), bootstrap_.patience(deadline)));
  }
  RINGSIDE_TRY(std::byte* const memory, memory_.open(share));
  return Opened{memory, share.handle.access};
}

Status ProcessLinks::map(const ConnectionId& id, std::span<std::byte> pages) {
  RINGSIDE_ASSERT(pages.size() >= fifo_size(id).value, "{} bytes for slots that take {}",
                  pages.size(), fifo_size(id).value);
  RINGSIDE_TRY(std::byte* const fifo, memory_.map(pages));
  mapped_.push_back(pages);
  add(id, {.fifo = fifo, .cpu_fifo = pages.data(), .type = text_of(MemoryAccess::None)});
  return {};
}

/// Offers the GPU's memory before the host's memory, until an end of that transport has refused the GPU's memory.
Result<LentOffers> ProcessLinks::lend(const ConnectionId& id, bool receives) {
  RINGSIDE_TRY(std::byte* const fifo, memory_.take_shared(fifo_size(id)));
  lent_[id] = fifo;
  LentOffers offers;
  const AdapterAccess access = memory_.adapter_access();
  const Transport& transport = connections_->transport_of(id);
  if (!refused_by_.contains(&transport) && may_lend(direct_, access, receives)) {
    RINGSIDE_TRY(AdapterMemory slots,
                 memory_.take_for_adapters(LentSlots::memory_for(Bytes{id.slot_size})));
    offers.push_back({adapter_region(std::move(slots), direct_, access), 0});
  }
  const std::span<std::byte> whole(fifo, fifo_size(id).value);
  offers.push_back({std::make_shared<const FifoRegion>(whole), DeviceFifo::kSlotsAt});
  return offers;
}

Status ProcessLinks::make_proxy(const ConnectionId& id) {
  if (id.protocol == Protocol::LL128) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("cannot use LL128 from rank {} to rank {}: a proxy sends their "
                             "messages, which does not "
                             "keep LL128's lines whole",
                             id.from, id.to),
                 "use --proto simple or ll"};
  }
  Link link;
  const auto lent_fifo = lent_.find(id);
  if (lent_fifo != lent_.end()) {
    link.fifo = lent_fifo->second;
    lent_.erase(lent_fifo);
  } else {
    RINGSIDE_TRY(link.fifo, memory_.take_shared(fifo_size(id)));
  }
  link.cpu_fifo = link.fifo;
  const bool receives = id.to == static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  const Transport& transport = connections_->transport_of(id);
  const LentUse lent =
      receives ? connections_->recv_end(id).lent() : connections_->send_end(id).lent();
  if (lent.region != nullptr && lent.region->data() != link.fifo) link.slots = lent.region->data();
  const AdapterAccess access = memory_.adapter_access();
  const bool was_offered = id.protocol == Protocol::Simple && may_lend(direct_, access, receives);
  if (link.slots == nullptr && was_offered) refused_by_.insert(&transport);
  ProxyFifo served{.end = DeviceFifo(link.fifo).end(receives, true),
                   .protocol = id.protocol,
                   .slot = static_cast<std::int64_t>(id.slot_size)};
  if (link.slots != nullptr && access.flush == AdapterAccess::Flush::ByHost) {
    served.flush = [this] { return memory_.flush_arrived(); };
  }
  link.type = fmt::format("{}, {}", transport.name, lent.how.empty() ? "copied" : lent.how);
  link.proxy = receives ? make_recv_proxy(served, connections_->recv_end(id))
                        : make_send_proxy(served, connections_->send_end(id));
  add(id, std::move(link));
  return {};
}

Result<DeviceEnd> ProcessLinks::end_of(const ConnectionId& id, bool receives) {
  const Link& link = links_.at(id);
  DeviceEnd end = DeviceFifo(link.fifo).end(receives, link.proxy != nullptr);
  if (link.slots != nullptr) end.slots = link.slots;
  // With credit, the sender's kernel stores into the receiver's output. It can do so only in memory of its own GPU or of
  // a GPU whose memory it opens.
  if (id.from != id.to && !sender_opens_slots(id)) end.credit = nullptr;
  return end;
}

bool ProcessLinks::has_all(std::span<const ConnectionId> ids,
                           std::span<const SwitchName> switches) const {
  return switches_.has_all(switches) &&
         std::ranges::all_of(ids, [this](const ConnectionId& id) { return links_.contains(id); });
}

bool ProcessLinks::has_proxies(std::span<const ConnectionId> ids) const {
  return std::ranges::any_of(
      ids, [this](const ConnectionId& id) { return links_.at(id).proxy != nullptr; });
}

std::vector<Proxy*> ProcessLinks::proxies() const {
  std::vector<Proxy*> all;
  for (const auto& [id, link] : links_) {
    if (link.proxy) all.push_back(link.proxy.get());
  }
  return all;
}

std::vector<ConnectionId> ProcessLinks::carried(std::span<const ConnectionId> ids) const {
  std::vector<ConnectionId> found;
  for (const ConnectionId& id : ids) {
    if (id.from != id.to && !sender_opens_slots(id)) found.push_back(host_id(id));
  }
  return found;
}

void ProcessLinks::add(const ConnectionId& id, Link link) {
  const std::lock_guard lock(mutex_);
  links_[id] = std::move(link);
}

std::vector<Connections::Progress> ProcessLinks::progress() const {
  const auto me = static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  std::vector<Connections::Progress> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, link] : links_) {
    for (const bool receives : {false, true}) {
      if ((receives ? id.to : id.from) != me) continue;
      if (const auto one = look_at(memory_, link.cpu_fifo, link.fifo, receives)) {
        all.push_back({id, receives, one->messages, 0, one->is_waiting != 0});
      }
    }
  }
  return all;
}

std::map<std::string, int> ProcessLinks::connection_types() const {
  std::map<std::string, int> counts;
  for (const auto& [id, link] : links_) ++counts[link.type];
  return counts;
}

}  // namespace ringside
