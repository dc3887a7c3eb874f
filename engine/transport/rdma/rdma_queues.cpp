#include "engine/transport/rdma/rdma_queues.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "base/peer_memory.h"
#include "engine/protocol/line.h"

namespace ringside {
namespace {

constexpr std::size_t kPage = 4096;
/// Requests up to this size carry their data inline if the adapter supports it. NCCL requests as much room as its
/// credit messages need; a line of LL128 and the shortest messages also fit.
constexpr std::uint32_t kInline = 256;
/// source  NCCL, ncclIbRtrQp: 12 means that a sender retries after 0.64 ms if the peer has posted no receive
constexpr std::uint8_t kReceiverNotReadyTimer = 12;
constexpr std::uint8_t kReceiverNotReadyRetries = 7;  ///< retries for ever
constexpr std::uint8_t kHopLimit = 255;
constexpr std::uint32_t kPacketNumbers = (1U << 24) - 1;

constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

Error verbs_error(const char* call, int number, const OpenRdmaPort& port) {
  return system_error(fmt::format("Call to {} failed on {}", call, port.name()), number,
                      number == ENOMEM ? "raise the locked memory: ulimit -l unlimited"
                                       : "see rdma link and this host's kernel log");
}

}  // namespace

std::string OpenRdmaPort::name() const { return fmt::format("{}:{}", port.device, port.number); }

Result<RdmaMemory> RdmaMemory::of(const OpenRdmaCard& card, std::span<std::byte> bytes) {
  RdmaMemory memory;
  memory.bytes_ = bytes;
  for (const OpenRdmaPort& port : card.ports) {
    ibv_mr* region = nullptr;
    if (card.settings.has_relaxed_ordering && card.verbs->reg_mr_iova2 != nullptr) {
      region = card.verbs->reg_mr_iova2(port.domain, bytes.data(), bytes.size(),
                                        reinterpret_cast<std::uint64_t>(bytes.data()),
                                        kAccess | IBV_ACCESS_RELAXED_ORDERING);
    } else {
      region = card.verbs->reg_mr(port.domain, bytes.data(), bytes.size(), kAccess);
    }
    if (region == nullptr) {
      const int number = errno;
      rlimit limit{};
      ::getrlimit(RLIMIT_MEMLOCK, &limit);
      return rdma_memory_error(number, bytes.size(), limit.rlim_cur, port.name());
    }
    memory.keys_.emplace_back(region, Deregister{card.verbs->dereg_mr});
  }
  return memory;
}

Result<RdmaMemory> RdmaMemory::of_device(const OpenRdmaCard& card, const SharedRegion& region) {
  const VerbsLibrary& verbs = *card.verbs;
  const bool has_dmabuf = region.fd() >= 0 && verbs.reg_dmabuf_mr != nullptr;
  const bool has_peers = has_peer_memory("/sys");
  Error why{ErrorCode::Unsupported,
            "the GPU's driver exports no dma-buf, and nvidia_peermem is not loaded",
            "modprobe nvidia-peermem"};
  RINGSIDE_TRY(region.suits(card.ports.front().port.card));
  for (const bool is_dmabuf : {true, false}) {
    if (!(is_dmabuf ? has_dmabuf : has_peers)) continue;
    RdmaMemory memory;
    memory.is_device_ = true;
    memory.how_ = is_dmabuf ? "GPUDirect by dma-buf" : "GPUDirect by nvidia_peermem";
    memory.bytes_ = {region.data(), region.size()};
    for (const OpenRdmaPort& port : card.ports) {
      const auto address = reinterpret_cast<std::uint64_t>(region.data());
      ibv_mr* const made =
          is_dmabuf
              ? verbs.reg_dmabuf_mr(port.domain, 0, region.size(), address, region.fd(), kAccess)
              : verbs.reg_mr(port.domain, region.data(), region.size(), kAccess);
      if (made == nullptr) {
        why = verbs_error(is_dmabuf ? "ibv_reg_dmabuf_mr" : "ibv_reg_mr", errno, port);
        why.code = ErrorCode::Unsupported;
        break;
      }
      memory.keys_.emplace_back(made, Deregister{verbs.dereg_mr});
    }
    if (memory.keys_.size() == card.ports.size()) return memory;
  }
  return why;
}

Result<RdmaMemory> RdmaMemory::allocate(const OpenRdmaCard& card, std::size_t size) {
  const std::size_t whole = round_up(size, kPage);
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kPage, whole));
  if (memory == nullptr) return system_error("cannot allocate slots", ENOMEM);
  std::unique_ptr<std::byte[], Free> own(memory);
  std::memset(memory, 0, whole);
  RINGSIDE_TRY(RdmaMemory made, of(card, {memory, whole}));
  made.own_ = std::move(own);
  return made;
}

class RdmaQueues::Impl {
 public:
  explicit Impl(const OpenRdmaCard& card) : card_(card), verbs_(*card.verbs) {}
  ~Impl() {
    for (const Queue& queue : queues_) verbs_.destroy_qp(queue.pair);
    for (ibv_cq* completions : completions_) verbs_.destroy_cq(completions);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status make(std::size_t count, Depth depth) {
    depth_ = depth;
    const std::size_t per_port = (count + card_.ports.size() - 1) / card_.ports.size();
    for (const OpenRdmaPort& port : card_.ports) {
      const std::size_t room = per_port * (depth.sends + depth.receives);
      ibv_cq* const made =
          verbs_.create_cq(port.context, static_cast<int>(room), nullptr, nullptr, 0);
      if (made == nullptr) return verbs_error("ibv_create_cq", errno, port);
      completions_.push_back(made);
    }
    for (std::size_t i = 0; i < count; ++i) RINGSIDE_TRY(add_queue());
    return {};
  }

  RdmaEndInfo info(const RdmaMemory& memory, std::span<const std::byte> place) const {
    RdmaEndInfo info;
    info.memory = reinterpret_cast<std::uint64_t>(place.data());
    for (std::size_t i = 0; i < card_.ports.size(); ++i) {
      const OpenRdmaPort& port = card_.ports[i];
      info.ports.push_back({port.gid.gid, memory.remote_key(i), port.lid, port.mtu,
                            port.port.is_ethernet, port.name()});
    }
    for (const Queue& queue : queues_) {
      info.queues.push_back({queue.pair->qp_num, queue.first_packet});
    }
    return info;
  }

  Status connect(const RdmaEndInfo& theirs, std::string peer) {
    if (theirs.queues.size() != queues_.size()) {
      return Error{ErrorCode::Corrupt, fmt::format("the peer has {} queues where there are {} here",
                                                   theirs.queues.size(), queues_.size())};
    }
    peer_ = std::move(peer);
    theirs_ = theirs;
    for (std::size_t i = 0; i < queues_.size(); ++i) RINGSIDE_TRY(connect_one(i));
    return {};
  }

  Status write(std::size_t index, const Write& write) {
    const Queue& queue = queues_[index];
    ibv_sge piece{reinterpret_cast<std::uint64_t>(write.from),
                  static_cast<std::uint32_t>(write.bytes), write.key};
    ibv_send_wr request{};
    request.wr_id = write.id;
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = write.mark != nullptr ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    if (write.mark != nullptr) request.imm_data = htonl(write.mark->word());
    unsigned flags = write.is_reported ? IBV_SEND_SIGNALED : 0;
    if (write.bytes <= queue.inline_bytes && !write.is_device) flags |= IBV_SEND_INLINE;
    request.send_flags = flags;
    request.wr.rdma.remote_addr = write.to;
    request.wr.rdma.rkey = theirs_.ports[their_port_of(index)].key;
    ibv_send_wr* bad = nullptr;
    const int number = ibv_post_send(queue.pair, &request, &bad);
    if (number != 0) return verbs_error("ibv_post_send", number, port_at(index));
    return {};
  }

  Result<std::size_t> poll(std::span<Done> room) {
    std::size_t found = 0;
    for (std::size_t port = 0; port < completions_.size() && found < room.size(); ++port) {
      constexpr std::size_t kAtOnce = 16;
      std::array<ibv_wc, kAtOnce> all;  // NOLINT(*-member-init): those that are filled are read
      const int number = ibv_poll_cq(
          completions_[port], static_cast<int>(std::min(kAtOnce, room.size() - found)), all.data());
      if (number < 0) return verbs_error("ibv_poll_cq", EIO, card_.ports[port]);
      for (const ibv_wc& one : std::span(all).first(static_cast<std::size_t>(number))) {
        RINGSIDE_TRY(room[found++], take(one));
      }
    }
    return found;
  }

  [[nodiscard]] std::size_t count() const { return queues_.size(); }
  [[nodiscard]] std::size_t port_of(std::size_t queue) const { return queue % card_.ports.size(); }

  [[nodiscard]] RdmaPath path_of(std::size_t index) const {
    const OpenRdmaPort& port = port_at(index);
    RdmaPath path{.peer = peer_.empty() ? "unknown" : peer_,
                  .device = port.name(),
                  .local = port.gid.gid,
                  .remote = {},
                  .gid_index = port.gid.index,
                  .queue = queues_[index].pair->qp_num};
    if (!theirs_.ports.empty()) {
      path.remote = theirs_.ports[their_port_of(index)].gid;
      path.remote_device = theirs_.ports[their_port_of(index)].name;
      path.remote_queue = theirs_.queues[index].number;
      constexpr int kBytesOfMtu0 = 128;  // verbs encodes an MTU of 256 bytes as 1, of 512 as 2
      path.mtu = kBytesOfMtu0 << std::min<int>(port.mtu, theirs_.ports[their_port_of(index)].mtu);
    }
    return path;
  }

 private:
  struct Queue {
    ibv_qp* pair;
    std::uint32_t first_packet;
    std::uint32_t inline_bytes;
  };

  [[nodiscard]] const OpenRdmaPort& port_at(std::size_t queue) const {
    return card_.ports[port_of(queue)];
  }
  [[nodiscard]] std::size_t their_port_of(std::size_t queue) const {
    return queue % theirs_.ports.size();
  }

  Status add_queue() {
    const OpenRdmaPort& port = port_at(queues_.size());
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = completions_[port_of(queues_.size())];
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {depth_.sends, depth_.receives, 1, 1, kInline};
    ibv_qp* pair = verbs_.create_qp(port.domain, &attributes);
    if (pair == nullptr) {
      attributes.cap = {depth_.sends, depth_.receives, 1, 1, 0};
      pair = verbs_.create_qp(port.domain, &attributes);
    }
    if (pair == nullptr) return verbs_error("ibv_create_qp", errno, port);
    static thread_local std::minstd_rand random{std::random_device{}()};
    queues_.push_back({pair, static_cast<std::uint32_t>(random()) & kPacketNumbers,
                       std::min(attributes.cap.max_inline_data, kInline)});
    ibv_qp_attr init{};
    init.qp_state = IBV_QPS_INIT;
    init.port_num = static_cast<std::uint8_t>(port.port.number);
    init.pkey_index = static_cast<std::uint16_t>(card_.settings.partition);
    init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    return modify(queues_.size() - 1, init,
                  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "RESET",
                  "INIT");
  }

  Status connect_one(std::size_t index) {
    const OpenRdmaPort& port = port_at(index);
    const RdmaEndInfo::Port& other = theirs_.ports[their_port_of(index)];
    for (std::uint32_t i = 0; i < depth_.receives; ++i) RINGSIDE_TRY(post_receive(index));

    ibv_qp_attr ready{};
    ready.qp_state = IBV_QPS_RTR;
    ready.path_mtu = static_cast<ibv_mtu>(std::min(port.mtu, other.mtu));
    ready.dest_qp_num = theirs_.queues[index].number;
    ready.rq_psn = theirs_.queues[index].first_packet & kPacketNumbers;
    ready.max_dest_rd_atomic = 1;
    ready.min_rnr_timer = kReceiverNotReadyTimer;
    set_path(ready.ah_attr, port, other);
    RINGSIDE_TRY(modify(index, ready,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                        "INIT", "RTR"));
    ibv_qp_attr send{};
    send.qp_state = IBV_QPS_RTS;
    send.timeout = static_cast<std::uint8_t>(card_.settings.timeout);
    send.retry_cnt = static_cast<std::uint8_t>(card_.settings.retries);
    send.rnr_retry = kReceiverNotReadyRetries;
    send.sq_psn = queues_[index].first_packet;
    send.max_rd_atomic = 1;
    return modify(index, send,
                  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
                  "RTR", "RTS");
  }

  void set_path(ibv_ah_attr& path, const OpenRdmaPort& port, const RdmaEndInfo::Port& other) const {
    constexpr std::size_t kPrefix = 8;  // bytes of a GID that name the subnet
    const bool is_routed = !std::equal(
        port.gid.gid.bytes.begin(), port.gid.gid.bytes.begin() + kPrefix, other.gid.bytes.begin());
    path.port_num = static_cast<std::uint8_t>(port.port.number);
    path.sl = static_cast<std::uint8_t>(card_.settings.service_level);
    path.dlid = other.lid;
    if (!port.port.is_ethernet && !is_routed) return;
    path.is_global = 1;
    std::memcpy(path.grh.dgid.raw, other.gid.bytes.data(), other.gid.bytes.size());
    path.grh.sgid_index = static_cast<std::uint8_t>(port.gid.index);
    path.grh.hop_limit = kHopLimit;
    path.grh.traffic_class = static_cast<std::uint8_t>(card_.settings.traffic_class);
  }

  Status modify(std::size_t index, ibv_qp_attr& attributes, int mask, const char* from,
                const char* to) {
    const int number = verbs_.modify_qp(queues_[index].pair, &attributes, mask);
    if (number != 0) return rdma_connect_error(number, from, to, path_of(index));
    return {};
  }

  Status post_receive(std::size_t index) {
    ibv_recv_wr request{};
    request.wr_id = index;
    ibv_recv_wr* bad = nullptr;
    const int number = ibv_post_recv(queues_[index].pair, &request, &bad);
    if (number != 0) return verbs_error("ibv_post_recv", number, port_at(index));
    return {};
  }

  Result<Done> take(const ibv_wc& one) {
    if (one.status != IBV_WC_SUCCESS) return failure_of(one);
    Done done;
    done.id = one.wr_id;
    if (one.opcode != IBV_WC_RECV_RDMA_WITH_IMM) return done;
    done.is_receive = true;
    done.queue = one.wr_id;
    done.bytes = one.byte_len;
    done.mark = RdmaMark::from_word(ntohl(one.imm_data));
    RINGSIDE_TRY(post_receive(done.queue));
    return done;
  }

  Error failure_of(const ibv_wc& one) const {
    std::size_t index = 0;
    while (index + 1 < queues_.size() && queues_[index].pair->qp_num != one.qp_num) ++index;
    // The opcode of a failed completion is undefined. Only the end that has slots posts receives.
    return rdma_completion_error(static_cast<int>(one.status), one.vendor_err,
                                 depth_.receives == 0 || one.wr_id >= queues_.size(),
                                 path_of(index));
  }

  const OpenRdmaCard& card_;
  const VerbsLibrary& verbs_;
  Depth depth_;
  std::vector<ibv_cq*> completions_;  ///< [port]
  std::vector<Queue> queues_;
  std::string peer_;
  RdmaEndInfo theirs_;
};

Result<RdmaQueues> RdmaQueues::make(const OpenRdmaCard& card, std::size_t count, Depth depth) {
  auto impl = std::make_unique<Impl>(card);
  RINGSIDE_TRY(impl->make(count, depth));
  return RdmaQueues(std::move(impl));
}
RdmaQueues::RdmaQueues(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RdmaQueues::RdmaQueues(RdmaQueues&&) noexcept = default;
RdmaQueues::~RdmaQueues() = default;

std::size_t RdmaQueues::count() const { return impl_->count(); }
std::size_t RdmaQueues::port_of(std::size_t queue) const { return impl_->port_of(queue); }
RdmaEndInfo RdmaQueues::info(const RdmaMemory& memory, std::span<const std::byte> place) const {
  return impl_->info(memory, place);
}
Status RdmaQueues::connect(const RdmaEndInfo& theirs, std::string peer) {
  return impl_->connect(theirs, std::move(peer));
}
Status RdmaQueues::write(std::size_t queue, const Write& write) {
  return impl_->write(queue, write);
}
RdmaPath RdmaQueues::path_of(std::size_t queue) const { return impl_->path_of(queue); }
Result<std::size_t> RdmaQueues::poll(std::span<Done> room) { return impl_->poll(room); }

}  // namespace ringside
