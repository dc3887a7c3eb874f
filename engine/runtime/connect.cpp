#include "engine/runtime/connect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/runtime/bootstrap.h"
#include "engine/runtime/failure.h"
#include "engine/runtime/host_identity.h"
#include "engine/transport/acceptor.h"
#include "engine/transport/shm.h"
#include "engine/transport/tcp.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kLookUp{100};

/// What each rank tells all others before they connect. Plain bytes of fixed length.
struct PeerInfo {
  std::array<char, 448> host{};  ///< host_identity()
  std::array<char, 112> shm{};   ///< where it listens, as to_string(Endpoint)
  std::array<char, 80> tcp{};
};

template <std::size_t N>
void put_text(std::array<char, N>& field, const std::string& text) {
  // A longer host identity is cut: two hosts would have to agree in 447 letters to be mixed up.
  std::memcpy(field.data(), text.data(), std::min(text.size(), N - 1));
}

/// The hello of a connection: which one it is.
struct ConnectionId {
  std::uint32_t from = 0;
  std::uint32_t channel = 0;
  std::uint64_t slot_size = 0;
  std::uint64_t protocol = 0;
};

/// As it comes from a peer, so it may be none.
const char* name_of(std::uint64_t protocol) {
  return protocol <= static_cast<std::uint64_t>(Protocol::Simple)
             ? to_string(static_cast<Protocol>(protocol))
             : "unknown";
}

/// Finds the neighbours' places, and knocks and answers.
class RingConnector {
 public:
  RingConnector(Bootstrap& bootstrap, std::optional<TransportKind> transport, Bytes slot_size,
                Deadline deadline, const Failure& failure, Protocol protocol)
      : bootstrap_(bootstrap),
        forced_(transport),
        slot_size_(slot_size),
        deadline_(deadline),
        failure_(failure),
        protocol_(protocol) {}

  Result<ConnectedRings> connect(const Channels& channels) {
    RINGSIDE_TRY(listen());
    RINGSIDE_TRY(exchange());
    std::vector<ChannelEnds> ends = neighbours(channels);
    std::vector<UniqueFd> dialled;
    // All knock first and answer then: the acceptors' threads let the knocking in meanwhile.
    for (std::size_t channel = 0; channel < ends.size(); ++channel) {
      RINGSIDE_TRY(ends[channel].kind, kind_between(me(), ends[channel].next));
      RINGSIDE_TRY(UniqueFd fd, dial(ends[channel], channel));
      dialled.push_back(std::move(fd));
    }
    RINGSIDE_TRY(answer(ends));
    for (std::size_t channel = 0; channel < ends.size(); ++channel) {
      RINGSIDE_TRY(ends[channel].send, finish(std::move(dialled[channel]), ends[channel], channel));
    }
    return ConnectedRings{std::move(ends), transports_on(channels)};
  }

 private:
  [[nodiscard]] Rank me() const { return bootstrap_.rank(); }
  [[nodiscard]] const PeerInfo& info(Rank rank) const {
    return peers_[static_cast<std::size_t>(to_int(rank))];
  }

  Status listen() {
    const Secret& secret = bootstrap_.secret();
    if (forced_ != TransportKind::Tcp) {
      RINGSIDE_TRY(shm_, Acceptor::listen(fresh_name(), secret));
    }
    if (forced_ != TransportKind::Shm) {
      RINGSIDE_TRY(tcp_, Acceptor::listen(with_port(bootstrap_.address(), 0), secret));
    }
    return {};
  }

  static Endpoint fresh_name() {
    const Secret random = random_secret();
    std::string name = "ringside-";
    for (const std::byte byte : random.bytes) {
      name += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    }
    return AbstractName{name};
  }

  Status exchange() {
    PeerInfo mine;
    put_text(mine.host, host_identity());
    if (shm_) put_text(mine.shm, to_string(shm_->address()));
    if (tcp_) put_text(mine.tcp, to_string(tcp_->address()));
    RINGSIDE_TRY(const std::vector<std::byte> all,
                 bootstrap_.all_gather(std::as_bytes(std::span(&mine, 1)), deadline_));
    peers_.resize(all.size() / sizeof(PeerInfo));
    std::memcpy(peers_.data(), all.data(), peers_.size() * sizeof(PeerInfo));
    // They come from ranks that proved the secret, but a text without its end would be read past it.
    for (PeerInfo& peer : peers_) peer.host.back() = peer.shm.back() = peer.tcp.back() = '\0';
    return {};
  }

  [[nodiscard]] std::vector<ChannelEnds> neighbours(const Channels& channels) const {
    std::vector<ChannelEnds> ends;
    for (const std::vector<Rank>& ring : channels.rings) {
      const auto at = std::find(ring.begin(), ring.end(), me());
      RINGSIDE_ASSERT(at != ring.end(), "rank {} is not on the ring", to_int(me()));
      ChannelEnds& end = ends.emplace_back();
      end.next = at + 1 == ring.end() ? ring.front() : *(at + 1);
      end.previous = at == ring.begin() ? ring.back() : *(at - 1);
    }
    return ends;
  }

  [[nodiscard]] Result<TransportKind> kind_between(Rank a, Rank b) const {
    const bool one_host = info(a).host == info(b).host;
    if (forced_ == TransportKind::Shm && !one_host) {
      return Error{ErrorCode::Unsupported,
                   fmt::format("ranks {} and {} are on different hosts: shm cannot join them",
                               to_int(a), to_int(b)),
                   "leave --transport away, or give tcp"};
    }
    return forced_.value_or(one_host ? TransportKind::Shm : TransportKind::Tcp);
  }

  /// Of all hops of all rings; every rank comes to the same answer.
  [[nodiscard]] std::string transports_on(const Channels& channels) const {
    bool any_shm = false;
    bool any_tcp = false;
    for (const std::vector<Rank>& ring : channels.rings) {
      for (std::size_t i = 0; i < ring.size(); ++i) {
        const auto kind = kind_between(ring[i], ring[(i + 1) % ring.size()]);
        any_shm |= kind && *kind == TransportKind::Shm;
        any_tcp |= kind && *kind == TransportKind::Tcp;
      }
    }
    return any_shm && any_tcp ? "shm+tcp" : any_tcp ? "tcp" : "shm";
  }

  Error about(Error error, Rank peer, std::size_t channel) const {
    error.message = fmt::format("rank {} cannot reach rank {} on channel {}: {}", to_int(me()),
                                to_int(peer), channel, error.message);
    return error;
  }

  Result<UniqueFd> dial(const ChannelEnds& ends, std::size_t channel) {
    const PeerInfo& peer = info(ends.next);
    RINGSIDE_TRY(
        const Endpoint endpoint,
        parse_endpoint(ends.kind == TransportKind::Shm ? peer.shm.data() : peer.tcp.data()));
    const ConnectionId id{static_cast<std::uint32_t>(to_int(me())),
                          static_cast<std::uint32_t>(channel), slot_size_.value,
                          static_cast<std::uint64_t>(protocol_)};
    auto fd = connect_authenticated(endpoint, bootstrap_.secret(), std::as_bytes(std::span(&id, 1)),
                                    deadline_);
    if (!fd) return about(fd.error(), ends.next, channel);
    return fd;
  }

  /// Like accept(), but looks up now and then whether there is still something to wait for.
  Result<Accepted> await(Acceptor& acceptor) const {
    for (;;) {
      auto accepted = acceptor.accept(std::min(deadline_, deadline_in(kLookUp)));
      if (accepted || accepted.error().code != ErrorCode::Timeout || has_passed(deadline_)) {
        return accepted;
      }
      if (failure_.happened()) return Error{ErrorCode::Aborted, "the job has failed elsewhere"};
    }
  }

  /// Takes one connection a channel from the rank before, in whatever order they come.
  Status answer(std::vector<ChannelEnds>& ends) {
    for (std::size_t i = 0; i < ends.size(); ++i) {
      RINGSIDE_TRY(const TransportKind kind, kind_between(ends[i].previous, me()));
      Acceptor& acceptor = kind == TransportKind::Shm ? *shm_ : *tcp_;
      auto accepted = await(acceptor);
      if (!accepted) return about(accepted.error(), ends[i].previous, i);
      ConnectionId id;
      if (accepted->hello.size() != sizeof id) {
        return Error{ErrorCode::Corrupt, "a hello of another size than this version's"};
      }
      std::memcpy(&id, accepted->hello.data(), sizeof id);
      if (id.channel >= ends.size() || ends[id.channel].recv ||
          Rank{static_cast<std::int32_t>(id.from)} != ends[id.channel].previous ||
          id.slot_size != slot_size_.value ||
          id.protocol != static_cast<std::uint64_t>(protocol_)) {
        return Error{
            ErrorCode::InvalidArgument,
            fmt::format("rank {} wants channel {} with {} slots of {} bytes, which rank {} "
                        "does not expect",
                        id.from, id.channel, name_of(id.protocol), id.slot_size, to_int(me())),
            "give every rank the same channels, protocol and slot size"};
      }
      auto& end = ends[id.channel].recv;
      if (kind == TransportKind::Shm) {
        RINGSIDE_TRY(end,
                     make_shm_recv_end(std::move(accepted->fd), slot_size_, deadline_, protocol_));
      } else {
        end = make_tcp_recv_end(std::move(accepted->fd), slot_size_, protocol_);
      }
    }
    return {};
  }

  Result<std::unique_ptr<SendEnd>> finish(UniqueFd fd, const ChannelEnds& ends,
                                          std::size_t channel) const {
    if (ends.kind == TransportKind::Tcp) {
      return make_tcp_send_end(std::move(fd), slot_size_, protocol_);
    }
    auto end = make_shm_send_end(std::move(fd), slot_size_, deadline_, protocol_);
    if (!end) return about(end.error(), ends.next, channel);
    return end;
  }

  Bootstrap& bootstrap_;
  std::optional<TransportKind> forced_;
  Bytes slot_size_;
  Deadline deadline_;
  const Failure& failure_;
  Protocol protocol_;
  std::unique_ptr<Acceptor> shm_;
  std::unique_ptr<Acceptor> tcp_;
  std::vector<PeerInfo> peers_;
};

}  // namespace

const char* to_string(TransportKind kind) { return kind == TransportKind::Shm ? "shm" : "tcp"; }

Result<ConnectedRings> connect_rings(Bootstrap& bootstrap, const Channels& channels,
                                     std::optional<TransportKind> transport, Bytes slot_size,
                                     Deadline deadline, const Failure& failure, Protocol protocol) {
  if (bootstrap.nranks() == 1) {
    return ConnectedRings{std::vector<ChannelEnds>(channels.rings.size()), "none"};
  }
  return RingConnector(bootstrap, transport, slot_size, deadline, failure, protocol)
      .connect(channels);
}

}  // namespace ringside
