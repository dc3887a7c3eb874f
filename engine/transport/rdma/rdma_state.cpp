#include "engine/transport/rdma/rdma_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/warning.h"
#include "engine/transport/rdma/rdma.h"
#include "engine/transport/socket/interface.h"
#include "engine/transport/socket/socket.h"

namespace ringside {
namespace {

constexpr const char* kPortsOfKernel = "/sys/class/infiniband";
/// Number of cached registrations. Each is one SharedMemory of the program.
constexpr std::size_t kMostRegistered = 32;
constexpr Nanoseconds kAnswerTime = std::chrono::seconds(5);  ///< a few bytes into an empty socket

/// Returns the addresses of this network namespace as GIDs.
std::vector<Gid> own_gids() {
  std::vector<Gid> gids;
  const auto interfaces = local_interfaces();
  if (!interfaces) return gids;
  for (const Interface& interface : *interfaces) {
    gids.push_back(gid_of(interface.address));
  }
  return gids;
}

bool is_fatal_event(ibv_event_type type) {
  return type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_CQ_ERR ||
         type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_ACCESS_ERR;
}

bool is_of_port(ibv_event_type type) {
  return type == IBV_EVENT_PORT_ERR || type == IBV_EVENT_PORT_ACTIVE ||
         type == IBV_EVENT_LID_CHANGE || type == IBV_EVENT_PKEY_CHANGE ||
         type == IBV_EVENT_GID_CHANGE || type == IBV_EVENT_SM_CHANGE ||
         type == IBV_EVENT_CLIENT_REREGISTER;
}

/// Receives the sender's message.
/// returns  false: it has not arrived completely
Result<bool> receive_sender_info(RdmaPending& pending) {
  std::array<std::byte, kRdmaMessageLimit> room{};
  while (pending.reader.wanted() > 0) {
    const auto wanted = std::span(room).first(pending.reader.wanted());
    RINGSIDE_TRY(const std::size_t moved, recv_some(pending.socket, wanted));
    if (moved == 0) return false;
    RINGSIDE_TRY(pending.reader.receive(wanted.first(moved)));
  }
  RINGSIDE_TRY(pending.theirs, parse_rdma_message(pending.reader.take(), pending.shape));
  return true;
}

Result<bool> join_sender(RdmaPending& pending) {
  RINGSIDE_TRY(const bool is_whole, receive_sender_info(pending));
  if (!is_whole) return false;
  const Status joined = pending.queues.connect(pending.theirs, describe_peer(pending.socket));
  // Set before the sender gets the answer: this end may see the sender's data at once, and then needs the queues.
  if (joined) pending.stage.store(RdmaPending::Stage::Ready, std::memory_order_release);
  RINGSIDE_TRY(send_frame(pending.socket, make_rdma_answer(joined), deadline_in(kAnswerTime)));
  RINGSIDE_TRY(joined);
  return true;
}

}  // namespace

Result<std::unique_ptr<TransportState>> RdmaState::open(const LocalSite& here) {
  RINGSIDE_TRY(const RdmaSettings settings, rdma_settings_from(here.environment));
  if (settings.is_disabled) {
    return Error{ErrorCode::Unsupported, "NCCL_IB_DISABLE turns RDMA off", "unset it"};
  }
  RINGSIDE_TRY(const std::vector<RdmaCard> cards,
               choose_rdma_cards(read_rdma_ports(kPortsOfKernel), settings, own_gids()));
  RINGSIDE_TRY(const VerbsLibrary* const verbs, verbs_library());
  std::unique_ptr<RdmaState> state(new RdmaState(*verbs, *here.clock));
  for (const RdmaCard& card : cards) {
    auto& open = state->cards_.emplace_back(std::make_unique<OpenRdmaCard>());
    open->verbs = verbs;
    open->settings = settings;
    for (std::size_t i = 0; i < card.ports.size(); ++i) {
      RINGSIDE_TRY(state->open_port(*open, card.ports[i], card.gids[i]));
    }
  }
  RINGSIDE_TRY(state->wakeup_, Wakeup::make());
  state->thread_ =
      std::jthread([raw = state.get()](const std::stop_token& stop) { raw->serve(stop); });
  return std::unique_ptr<TransportState>(std::move(state));
}

RdmaState::~RdmaState() {
  if (thread_.joinable()) {
    thread_.request_stop();
    wakeup_->signal();
    thread_.join();
  }
  registered_.clear();
  for (const Device& device : devices_) {
    verbs_.dealloc_pd(device.domain);
    verbs_.close_device(device.context);
  }
}

Result<ibv_context*> RdmaState::context_of(const RdmaPort& port) {
  const auto known = std::ranges::find(devices_, port.device, &Device::name);
  if (known != devices_.end()) return known->context;
  ibv_device** const list = verbs_.get_device_list(nullptr);
  if (list == nullptr) return system_error("cannot list RDMA devices", errno);
  ibv_context* context = nullptr;
  int number = ENODEV;
  for (ibv_device** one = list; *one != nullptr; ++one) {
    if (port.device != verbs_.get_device_name(*one)) continue;
    context = verbs_.open_device(*one);
    number = errno;
  }
  verbs_.free_device_list(list);
  if (context == nullptr) {
    Error error = system_error(
        fmt::format("NET/IB : Unable to open device {}", port.device), number,
        "in a container, pass /dev/infiniband/uverbs* on; see its permissions; install "
        "ibverbs-providers");
    // In some containers the kernel lists adapters that may not be used: such a rank goes without RDMA.
    error.code = ErrorCode::Unsupported;
    return error;
  }
  ibv_pd* const domain = verbs_.alloc_pd(context);
  if (domain == nullptr) {
    verbs_.close_device(context);
    return system_error(fmt::format("Call to ibv_alloc_pd failed on {}", port.device), errno);
  }
  // One thread waits for the events of all cards.
  ::fcntl(context->async_fd, F_SETFL, ::fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
  devices_.push_back({port.device, context, domain});
  return context;
}

Status RdmaState::open_port(OpenRdmaCard& card, const RdmaPort& port, const RdmaPort::Entry& gid) {
  RINGSIDE_TRY(ibv_context* const context, context_of(port));
  ibv_port_attr attributes{};
  const int number =
      verbs_.query_port(context, static_cast<std::uint8_t>(port.number), &attributes);
  if (number != 0) {
    return system_error(fmt::format("NET/IB : Unable to query port {}", port.text()), number);
  }
  ibv_pd* const domain = std::ranges::find(devices_, port.device, &Device::name)->domain;
  card.ports.push_back({port, gid, context, domain, attributes.lid,
                        static_cast<std::uint8_t>(attributes.active_mtu)});
  return {};
}

std::string RdmaState::address() const {
  std::vector<std::string> ports;
  for (const auto& card : cards_) {
    for (const OpenRdmaPort& port : card->ports) ports.push_back(port.name());
  }
  const OpenRdmaCard& first = *cards_.front();
  return rdma_address(first.ports.front().port.is_ethernet, first.settings.queues, ports);
}

Status RdmaState::check() const {
  if (!is_fatal_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  return Error{ErrorCode::System, fatal_, "see rdma link and this host's kernel log"};
}

void RdmaState::add(std::shared_ptr<RdmaPending> pending) {
  {
    const std::lock_guard lock(mutex_);
    pending_.push_back(std::move(pending));
  }
  wakeup_->signal();
}

void RdmaState::forget(const RdmaPending& pending) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pending_, [&](const auto& one) { return one.get() == &pending; });
}

Result<std::shared_ptr<const RdmaMemory>> RdmaState::registered(const OpenRdmaCard& card,
                                                                const SharedRegion& region) {
  const std::lock_guard lock(mutex_);
  std::erase_if(registered_, [](const Registered& one) { return one.region.expired(); });
  const auto known = std::ranges::find_if(registered_, [&](const Registered& one) {
    return one.card == &card && one.id == region.id();
  });
  if (known != registered_.end()) {
    std::rotate(known, known + 1, registered_.end());
    return registered_.back().memory;
  }
  Result<RdmaMemory> made = region.is_device()
                                ? RdmaMemory::of_device(card, region)
                                : RdmaMemory::of(card, {region.data(), region.size()});
  std::shared_ptr<const RdmaMemory> memory;
  if (made) {
    memory = std::make_shared<const RdmaMemory>(*std::move(made));
  } else if (!region.is_device()) {
    return made.error();
  } else {
    report_warning({"engine/transport/rdma/rdma_state.cpp", __LINE__, __func__},
                   fmt::format("NET/IB : GPU memory goes through the host's on {}: {}",
                               card.ports.front().name(), made.error().message));
  }
  if (registered_.size() == kMostRegistered) registered_.erase(registered_.begin());
  registered_.push_back({&card, region.weak_from_this(), region.id(), std::move(memory)});
  return registered_.back().memory;
}

RdmaLent RdmaState::take(const OpenRdmaCard& card, const Joint& joint) {
  // The ends themselves pack lines.
  if (joint.shape.protocol != Protocol::Simple) return {};
  for (const LentSlots& offer : joint.lent) {
    check_room(offer, joint.shape.slot_size);
    auto memory = registered(card, *offer.region);
    if (memory && *memory != nullptr) return {*std::move(memory), offer};
    if (!memory) {
      report_warning({"engine/transport/rdma/rdma_state.cpp", __LINE__, __func__},
                     fmt::format("NET/IB : slots are copied on {}: {}", card.ports.front().name(),
                                 memory.error().message));
    }
  }
  return {};
}

void RdmaState::serve(const std::stop_token& stop) {
  std::vector<pollfd> polled;
  while (!stop.stop_requested()) {
    polled.assign(1, {wakeup_->fd(), POLLIN, 0});
    for (const Device& device : devices_) polled.push_back({device.context->async_fd, POLLIN, 0});
    {
      const std::lock_guard lock(mutex_);
      for (const auto& pending : pending_) polled.push_back({pending->socket, POLLIN, 0});
    }
    // A connection that is removed meanwhile causes at most one useless wake-up.
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
    wakeup_->clear();
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (polled[1 + i].revents != 0) read_card_events(devices_[i].context);
    }
    read_peer_messages();
  }
}

void RdmaState::read_card_events(ibv_context* context) {
  ibv_async_event event{};
  while (verbs_.get_async_event(context, &event) == 0) {
    const char* const device = verbs_.get_device_name(context->device);
    const bool is_fatal = is_fatal_event(event.event_type);
    const bool is_bad = is_fatal || event.event_type == IBV_EVENT_PORT_ERR;
    const std::string text = fmt::format(
        "NET/IB : {}:{} {}: {}", device, is_of_port(event.event_type) ? event.element.port_num : 1,
        is_fatal ? "async fatal event" : "Got non-fatal async event",
        verbs_.event_type_str(event.event_type));
    verbs_.ack_async_event(&event);
    // Changes of addresses and partitions are harmless.
    if (!is_bad) continue;
    report_warning({"engine/transport/rdma/rdma_state.cpp", __LINE__, "read_card_events"}, text);
    if (!is_fatal) continue;
    const std::lock_guard lock(mutex_);
    if (fatal_.empty()) fatal_ = text;
    is_fatal_.store(true, std::memory_order_release);
  }
}

void RdmaState::read_peer_messages() {
  const std::lock_guard lock(mutex_);
  std::erase_if(pending_, [](const std::shared_ptr<RdmaPending>& pending) {
    const Result<bool> joined = join_sender(*pending);
    if (joined && !*joined) return false;
    if (!joined) pending->error = joined.error();
    pending->stage.store(joined ? RdmaPending::Stage::Ready : RdmaPending::Stage::Failed,
                         std::memory_order_release);
    return true;
  });
}

Result<std::unique_ptr<TransportState>> open_rdma(const LocalSite& here) {
  return RdmaState::open(here);
}

}  // namespace ringside
