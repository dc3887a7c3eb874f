#include "engine/runtime/host/connect.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/messages.h"
#include "engine/runtime/host/host_identity.h"
#include "engine/transport/faulty_end.h"
#include "engine/transport/open_transports.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {
namespace {

/// The sockets of a connection in the order that both ends use; a socket that has not arrived yet is empty.
using Sockets = std::vector<UniqueFd>;

ConnectionId reverse_of(ConnectionId id) {
  std::swap(id.from, id.to);
  return id;
}

std::vector<std::byte> hello_of(const ConnectionId& id, std::size_t socket) {
  return to_bytes(ConnectionHello{id.from, id.to, id.channel, id.index, id.protocol, id.slot_size,
                                  static_cast<std::uint32_t>(socket)});
}

ConnectionId id_in(const ConnectionHello& hello) {
  return {hello.from, hello.to, hello.channel, hello.index, hello.protocol, hello.slot_size};
}

}  // namespace

class Connections::Impl {
 public:
  Impl(Bootstrap& bootstrap, Wakeup off, LinkFaults faults)
      : bootstrap_(bootstrap),
        off_(std::move(off)),
        faults_(std::move(faults)),
        me_(static_cast<std::uint32_t>(to_int(bootstrap.rank()))) {}

  Status open(const Transport* requested, Deadline deadline) {
    std::vector<const Transport*> wanted;
    for (const Transport& transport : transports()) {
      const bool is_requested = requested == nullptr || requested == &transport;
      if (transport.is_inner() || (is_requested && bootstrap_.nranks() > 1)) {
        wanted.push_back(&transport);
      }
    }
    RINGSIDE_TRY(open_, OpenTransports::open(
                            {me_, host_identity(), bootstrap_.address(), &bootstrap_.clock()},
                            bootstrap_.secret(), wanted, requested));
    RINGSIDE_TRY(peers_, Peers::gather(bootstrap_, describe_rank(open_->whereabouts()), requested,
                                       deadline));
    RINGSIDE_TRY(layout_, peers_.layout(me_));
    return {};
  }

  void set_lender(Lender lender) { lender_ = std::move(lender); }

  Status connect(std::span<const ConnectionId> wanted, Deadline deadline) {
    const std::lock_guard lock(making_);
    const Patience patience(deadline, off_);
    RINGSIDE_TRY(dial_all(wanted, patience));
    RINGSIDE_TRY(accept_expected(patience));
    for (Dialled& one : dialled_) {
      RINGSIDE_TRY(make_dialled(one.id, std::move(one.sockets), patience));
    }
    dialled_.clear();
    return {};
  }

  Status begin(std::span<const ConnectionId> wanted, Deadline deadline) {
    const std::lock_guard lock(making_);
    until_ = deadline;
    return dial_all(with_reverse_directions(wanted), Patience(deadline, off_));
  }

  Status advance() {
    const std::lock_guard lock(making_);
    const Patience patience(until_, off_);
    RINGSIDE_TRY(accept_present_peers(patience));
    for (std::size_t i = 0; i < dialled_.size();) {
      if (!is_answered(dialled_[i])) {
        ++i;
        continue;
      }
      Dialled one = std::move(dialled_[i]);
      dialled_.erase(dialled_.begin() + static_cast<std::ptrdiff_t>(i));
      RINGSIDE_TRY(make_dialled(one.id, std::move(one.sockets), patience));
    }
    return {};
  }

  void abort() noexcept {
    off_.signal();
    const std::lock_guard lock(mutex_);
    is_aborted_ = true;
    for (auto& [id, one] : sends_) one.end->abort();
    for (auto& [id, one] : recvs_) one.end->abort();
  }

  [[nodiscard]] SendEnd* find_send_end(const ConnectionId& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = sends_.find(id);
    return found == sends_.end() ? nullptr : found->second.end.get();
  }
  [[nodiscard]] RecvEnd* find_recv_end(const ConnectionId& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = recvs_.find(id);
    return found == recvs_.end() ? nullptr : found->second.end.get();
  }
  [[nodiscard]] SendEnd& send_end(const ConnectionId& id) const { return *sends_.at(id).end; }
  [[nodiscard]] RecvEnd& recv_end(const ConnectionId& id) const { return *recvs_.at(id).end; }
  [[nodiscard]] ConnectionCount& count_of(const ConnectionId& id, bool receives) const {
    const std::lock_guard lock(mutex_);
    return receives ? *recvs_.at(id).count : *sends_.at(id).count;
  }

  [[nodiscard]] std::vector<Progress> progress() const {
    std::vector<Progress> all;
    const auto add_all = [&](const auto& ends, bool receives) {
      for (const auto& [id, one] : ends) {
        all.push_back({id, receives, one.count->messages.load(std::memory_order_relaxed),
                       one.count->bytes.load(std::memory_order_relaxed),
                       one.count->is_waiting.load(std::memory_order_relaxed)});
      }
    };
    const std::lock_guard lock(mutex_);
    add_all(sends_, false);
    add_all(recvs_, true);
    return all;
  }
  [[nodiscard]] const Transport& transport_of(const ConnectionId& id) const {
    return **peers_.between(id.from, id.to);
  }
  [[nodiscard]] const HostLayout& layout() const { return layout_; }
  [[nodiscard]] const Peers& peers() const { return peers_; }

 private:
  [[nodiscard]] std::uint32_t other_of(const ConnectionId& id) const {
    return id.from == me_ ? id.to : id.from;
  }

  [[nodiscard]] Error about(Error error, const ConnectionId& id) const {
    error.message = fmt::format("rank {} cannot reach rank {} on channel {}: {}", me_, other_of(id),
                                id.channel, error.message);
    return error;
  }

  /// The sockets from dial(), before the other rank has answered.
  struct Dialled {
    ConnectionId id;
    Sockets sockets;
  };

  /// Returns whether begin() has begun the connection, and advance() has not made its end yet.
  [[nodiscard]] bool is_pending(const ConnectionId& id) const {
    return std::ranges::find(dialled_, id, &Dialled::id) != dialled_.end() ||
           std::ranges::find(awaited_, id) != awaited_.end();
  }

  /// Dials all connections before it answers any, because the acceptors' threads accept meanwhile.
  Status dial_all(std::span<const ConnectionId> wanted, const Patience& patience) {
    RINGSIDE_TRY(share_sockets(wanted));
    for (const ConnectionId& id : wanted) {
      const bool is_there = id.from == me_ ? sends_.contains(id) : recvs_.contains(id);
      if (is_there || is_pending(id) || uses_reverse_socket(id)) continue;
      RINGSIDE_TRY(const Transport* const transport, peers_.between(id.from, id.to));
      if (transport->is_inner()) {
        RINGSIDE_TRY(make_recv(id, {}, patience));
        RINGSIDE_TRY(make_send(id, {}, patience));
      } else if (id.from == me_) {
        RINGSIDE_TRY(Sockets sockets, dial(id, patience));
        dialled_.push_back({id, std::move(sockets)});
      } else {
        awaited_.push_back(id);
      }
    }
    return {};
  }

  /// Returns whether one socket may carry the connection and its opposite direction.
  [[nodiscard]] bool may_share(const ConnectionId& id, const Transport& transport) const {
    const bool is_short =
        id.protocol != Protocol::Simple || id.slot_size <= transport.shares_socket_up_to.value;
    return transport.shares_sockets() && is_short;
  }

  /// Adds the opposite directions that share sockets. One rank may list one direction now and the other later, while
  /// its peer lists both at once; both ranks must use the same sockets.
  [[nodiscard]] std::vector<ConnectionId> with_reverse_directions(
      std::span<const ConnectionId> wanted) const {
    std::set<ConnectionId> all(wanted.begin(), wanted.end());
    for (const ConnectionId& id : wanted) {
      const auto transport = peers_.between(id.from, id.to);
      if (transport && may_share(id, **transport)) all.insert(reverse_of(id));
    }
    return {all.begin(), all.end()};
  }

  /// Finds the connections whose socket also carries the opposite direction; the lower rank dials them. Both ranks
  /// have the same list, so they find the same connections.
  Status share_sockets(std::span<const ConnectionId> wanted) {
    const std::set<ConnectionId> all(wanted.begin(), wanted.end());
    for (const ConnectionId& id : all) {
      if (id.from >= id.to || !all.contains(reverse_of(id))) continue;
      RINGSIDE_TRY(const Transport* const transport, peers_.between(id.from, id.to));
      const auto is_new = [&](const ConnectionId& one) {
        return !sends_.contains(one) && !recvs_.contains(one) && !is_pending(one);
      };
      if (may_share(id, *transport) && is_new(id) && is_new(reverse_of(id))) shared_.insert(id);
    }
    return {};
  }
  /// Returns whether the connection needs no sockets, because those of the opposite direction carry it. Its end is made
  /// with the opposite one.
  [[nodiscard]] bool uses_reverse_socket(const ConnectionId& id) const {
    return shared_.contains(reverse_of(id));
  }

  /// Duplicates the sockets for the opposite direction.
  /// errors  System: out of descriptors
  Result<Sockets> share(const Sockets& sockets, const ConnectionId& id) const {
    Sockets others;
    others.emplace_back(::fcntl(sockets.front().get(), F_DUPFD_CLOEXEC, 0));
    if (others.front()) return others;
    return about(system_error("cannot duplicate its socket", errno, "raise the limit: ulimit -n"),
                 id);
  }

  [[nodiscard]] std::size_t sockets_of(const ConnectionId& id) const {
    const Transport& transport = transport_of(id);
    const std::string* const receiver = peers_.at(id.to).address_on(transport.name);
    if (transport.sockets == nullptr || receiver == nullptr) return 1;
    return transport.sockets(*receiver, {id.protocol, Bytes{id.slot_size}});
  }

  Result<Sockets> dial(const ConnectionId& id, const Patience& patience) {
    Sockets sockets(sockets_of(id));
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      auto fd = open_->dial(transport_of(id), peers_.at(id.to), hello_of(id, i), patience);
      if (!fd) return about(fd.error(), id);
      sockets[i] = *std::move(fd);
    }
    return sockets;
  }

  /// Returns whether all sockets of the connection have arrived.
  [[nodiscard]] bool has_arrived(const ConnectionId& id) const {
    const auto found = early_.find(id);
    return found != early_.end() && found->second.size() == sockets_of(id) &&
           std::ranges::all_of(found->second, [](const UniqueFd& one) { return bool(one); });
  }

  /// Stores an accepted socket among those of its connection.
  /// errors  Corrupt: not a socket of a connection to this rank
  Status store_socket(const ConnectionId& id, std::uint32_t socket, UniqueFd fd) {
    if (id.from >= static_cast<std::uint32_t>(bootstrap_.nranks())) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("an unexpected peer claims to be rank {}", id.from)};
    }
    if (id.to != me_) {
      return Error{
          ErrorCode::Corrupt,
          fmt::format("rank {} connects to rank {}, but asks for rank {}", id.from, me_, id.to)};
    }
    const std::size_t count = sockets_of(id);
    if (socket >= count) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("rank {} makes socket {} of a connection that has {}", id.from,
                               socket, count)};
    }
    Sockets& sockets = early_[id];
    sockets.resize(count);
    sockets[socket] = std::move(fd);
    return {};
  }

  /// Accepts the expected connections, in any order. Connections that arrive too early wait in early_.
  Status accept_expected(const Patience& patience) {
    for (;;) {
      RINGSIDE_TRY(make_arrived_ends(patience));
      if (awaited_.empty()) return {};
      RINGSIDE_TRY(const ConnectionHello hello, accept_next(awaited_.front(), patience));
      RINGSIDE_TRY(check_expected(id_in(hello), awaited_));
    }
  }

  /// Accepts the expected connections without waiting. A peer may connect for a connection that this rank needs only in a
  /// later call.
  Status accept_present_peers(const Patience& patience) {
    for (;;) {
      RINGSIDE_TRY(make_arrived_ends(patience));
      const auto calling = std::ranges::find_if(
          awaited_, [&](const ConnectionId& id) { return open_->can_accept(transport_of(id)); });
      if (calling == awaited_.end()) return {};
      RINGSIDE_TRY(accept_next(*calling, patience));
    }
  }

  /// Makes the ends of the expected connections that have arrived.
  Status make_arrived_ends(const Patience& patience) {
    for (;;) {
      const auto found =
          std::ranges::find_if(awaited_, [&](const ConnectionId& id) { return has_arrived(id); });
      if (found == awaited_.end()) return {};
      const ConnectionId id = *found;
      awaited_.erase(found);
      RINGSIDE_TRY(make_expected(id, std::move(early_.extract(id).mapped()), patience));
    }
  }

  /// Accepts the next peer on the transport of an expected connection. The peer may connect for another connection.
  Result<ConnectionHello> accept_next(const ConnectionId& expected, const Patience& patience) {
    auto accepted = open_->accept(transport_of(expected), patience);
    if (!accepted) return about(accepted.error(), expected);
    RINGSIDE_TRY(const ConnectionHello hello, parse_connection_hello(accepted->hello));
    RINGSIDE_TRY(store_socket(id_in(hello), hello.socket, std::move(accepted->fd)));
    return hello;
  }

  /// Returns whether the sending end can be made without waiting for the receiver.
  [[nodiscard]] bool is_answered(const Dialled& one) const {
    return !transport_of(one.id).waits_for_receiver || is_readable(one.sockets.front().get());
  }

  /// A rank dials the connections of one call before those of the next. So while this rank expects a connection from a
  /// peer, the peer's next connection must be an expected one.
  Status check_expected(const ConnectionId& id, std::span<const ConnectionId> awaited) const {
    const auto is_from_it = [&](const ConnectionId& one) { return one.from == id.from; };
    const bool is_early = std::ranges::none_of(awaited, is_from_it);
    if (is_early || std::ranges::find(awaited, id) != awaited.end()) return {};
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("rank {} wants channel {} with {} slots of {} bytes, which rank {} "
                             "does not expect",
                             id.from, id.channel, to_string(id.protocol), id.slot_size, me_),
                 "give every rank the same calls, channels, protocol and slot size"};
  }

  /// Makes the end of an expected connection, and of the opposite direction if its socket carries both.
  Status make_expected(const ConnectionId& id, Sockets sockets, const Patience& patience) {
    if (shared_.contains(id)) {
      RINGSIDE_TRY(Sockets other, share(sockets, id));
      RINGSIDE_TRY(make_send(reverse_of(id), std::move(other), patience));
    }
    return make_recv(id, std::move(sockets), patience);
  }

  /// Makes the end of a dialled connection, and of the opposite direction if its socket carries both.
  Status make_dialled(const ConnectionId& id, Sockets sockets, const Patience& patience) {
    if (shared_.contains(id)) {
      RINGSIDE_TRY(Sockets other, share(sockets, id));
      RINGSIDE_TRY(make_recv(reverse_of(id), std::move(other), patience));
    }
    return make_send(id, std::move(sockets), patience);
  }

  Result<Joint> joint(const ConnectionId& id, bool receives, Sockets sockets,
                      const Patience& patience) const {
    UniqueFd first;
    if (!sockets.empty()) {
      first = std::move(sockets.front());
      sockets.erase(sockets.begin());
    }
    Joint made = open_->joint(transport_of(id), peers_.at(other_of(id)), std::move(first),
                              {id.protocol, Bytes{id.slot_size}}, id.channel, patience);
    made.more = std::move(sockets);
    // If a fault drops a message, the end would take its slot for the next message's slot.
    const bool is_lent = id.protocol == Protocol::Simple && lender_ != nullptr &&
                         transport_of(id).takes_lent_slots && (receives || fault_of(id) == nullptr);
    if (is_lent) {
      RINGSIDE_TRY(made.lent, lender_(id, receives));
    }
    return made;
  }
  Status make_send(const ConnectionId& id, Sockets sockets, const Patience& patience) {
    RINGSIDE_TRY(Joint made, joint(id, false, std::move(sockets), patience));
    auto end = transport_of(id).make_send(std::move(made));
    const Fault* const fault = fault_of(id);
    if (end && fault != nullptr) {
      end = make_faulty_send_end(*std::move(end), *fault, bootstrap_.clock());
    }
    return add(sends_, id, std::move(end));
  }
  Status make_recv(const ConnectionId& id, Sockets sockets, const Patience& patience) {
    RINGSIDE_TRY(Joint made, joint(id, true, std::move(sockets), patience));
    return add(recvs_, id, transport_of(id).make_recv(std::move(made)));
  }
  [[nodiscard]] const Fault* fault_of(const ConnectionId& id) const {
    return faults_.find(static_cast<int>(id.from), static_cast<int>(id.to),
                        static_cast<int>(id.channel));
  }

  template <typename Ends, typename End>
  Status add(Ends& ends, const ConnectionId& id, Result<End> end) {
    if (!end) return about(end.error(), id);
    const std::lock_guard lock(mutex_);
    if (is_aborted_) (*end)->abort();
    typename Ends::mapped_type counted{*std::move(end), std::make_unique<ConnectionCount>()};
    ends.emplace(id, std::move(counted));
    return {};
  }

  Bootstrap& bootstrap_;
  const Wakeup off_;  ///< signalled by abort()
  const LinkFaults faults_;
  Lender lender_;
  const std::uint32_t me_;
  std::unique_ptr<OpenTransports> open_;
  Peers peers_;
  HostLayout layout_;

  /// Guards the members below; held while ends are made, by one thread at a time
  std::mutex making_;
  Deadline until_;                         ///< deadline of begin()
  std::vector<Dialled> dialled_;           ///< connections that the peer has not answered yet
  std::vector<ConnectionId> awaited_;      ///< connections that have not arrived yet
  std::map<ConnectionId, Sockets> early_;  ///< accepted, but not requested yet
  /// Connections whose socket also carries the opposite direction, both ends of which advance() or connect() makes
  std::set<ConnectionId> shared_;

  template <typename End>
  struct Counted {
    std::unique_ptr<End> end;
    std::unique_ptr<ConnectionCount> count;
  };
  /// Guards the members that other threads read while connect() adds to them
  mutable std::mutex mutex_;
  bool is_aborted_ = false;
  std::map<ConnectionId, Counted<SendEnd>> sends_;
  std::map<ConnectionId, Counted<RecvEnd>> recvs_;
};

Result<std::unique_ptr<Connections>> Connections::make(Bootstrap& bootstrap,
                                                       const Transport* requested,
                                                       Deadline deadline, LinkFaults faults) {
  RINGSIDE_TRY(Wakeup off, Wakeup::make());
  auto impl = std::make_unique<Impl>(bootstrap, std::move(off), std::move(faults));
  RINGSIDE_TRY(impl->open(requested, deadline));
  return std::unique_ptr<Connections>(new Connections(std::move(impl)));
}

Connections::Connections(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connections::~Connections() = default;

void Connections::set_lender(Lender lender) { impl_->set_lender(std::move(lender)); }

Status Connections::connect(std::span<const ConnectionId> wanted, Deadline deadline) {
  return impl_->connect(wanted, deadline);
}
Status Connections::begin(std::span<const ConnectionId> wanted, Deadline deadline) {
  return impl_->begin(wanted, deadline);
}
Status Connections::advance() { return impl_->advance(); }
SendEnd* Connections::find_send_end(const ConnectionId& id) const {
  return impl_->find_send_end(id);
}
RecvEnd* Connections::find_recv_end(const ConnectionId& id) const {
  return impl_->find_recv_end(id);
}
SendEnd& Connections::send_end(const ConnectionId& id) const { return impl_->send_end(id); }
RecvEnd& Connections::recv_end(const ConnectionId& id) const { return impl_->recv_end(id); }
ConnectionCount& Connections::count_of(const ConnectionId& id, bool receives) const {
  return impl_->count_of(id, receives);
}
std::vector<Connections::Progress> Connections::progress() const { return impl_->progress(); }
const Transport& Connections::transport_of(const ConnectionId& id) const {
  return impl_->transport_of(id);
}
void Connections::abort() noexcept { impl_->abort(); }
const HostLayout& Connections::layout() const { return impl_->layout(); }
const Peers& Connections::peers() const { return impl_->peers(); }

}  // namespace ringside
