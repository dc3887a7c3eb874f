#include "engine/runtime/connect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "engine/runtime/bootstrap.h"
#include "engine/runtime/failure.h"
#include "engine/runtime/host_identity.h"
#include "engine/transport/acceptor.h"
#include "engine/transport/loop.h"
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
  cpu_set_t cores{};        ///< that it may run on
  std::uint64_t cache = 0;  ///< bytes of a core's second level
};

template <std::size_t N>
void put_text(std::array<char, N>& field, const std::string& text) {
  // A longer host identity is cut: two hosts would have to agree in 447 letters to be mixed up.
  std::memcpy(field.data(), text.data(), std::min(text.size(), N - 1));
}

/// A connection's name as the dialling rank says it.
struct Hello {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t channel = 0;
  std::uint32_t index = 0;
  std::uint64_t protocol = 0;
  std::uint64_t slot_size = 0;
};

ConnectionId reverse_of(ConnectionId id) {
  std::swap(id.from, id.to);
  return id;
}

Hello hello_of(const ConnectionId& id) {
  return {id.from,     id.to, id.channel, id.index, static_cast<std::uint64_t>(id.protocol),
          id.slot_size};
}

/// errors  Corrupt: no rank of this version says so
Result<ConnectionId> parse_hello(std::span<const std::byte> bytes) {
  Hello hello;
  if (bytes.size() != sizeof hello) {
    return Error{ErrorCode::Corrupt, "a hello of another size than this version's"};
  }
  std::memcpy(&hello, bytes.data(), sizeof hello);
  if (hello.protocol > static_cast<std::uint64_t>(Protocol::Simple)) {
    return Error{ErrorCode::Corrupt, fmt::format("rank {} wants protocol {}, which nobody knows",
                                                 hello.from, hello.protocol)};
  }
  return ConnectionId{
      hello.from,     hello.to, hello.channel, hello.index, static_cast<Protocol>(hello.protocol),
      hello.slot_size};
}

Endpoint fresh_name() {
  const Secret random = random_secret();
  std::string name = "ringside-";
  for (const std::byte byte : random.bytes) {
    name += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return AbstractName{name};
}

}  // namespace

class Connections::Impl {
 public:
  Impl(Bootstrap& bootstrap, std::optional<TransportKind> transport, const Failure& failure)
      : bootstrap_(bootstrap), forced_(transport), failure_(failure) {}

  Status open(Deadline deadline) {
    if (bootstrap_.nranks() > 1) RINGSIDE_TRY(listen());
    RINGSIDE_TRY(exchange(deadline));
    return describe();
  }

  Status connect(std::span<const ConnectionId> wanted, Deadline deadline) {
    std::vector<std::pair<ConnectionId, UniqueFd>> dialled;
    std::vector<ConnectionId> awaited;
    share_sockets(wanted);
    // All knock first and answer then: the acceptors' threads let the knocking in meanwhile.
    for (const ConnectionId& id : wanted) {
      const bool is_there = id.from == me() ? sends_.contains(id) : recvs_.contains(id);
      if (is_there || rides_along(id)) continue;
      if (id.from == id.to) {
        add_loop(id);
      } else if (id.from == me()) {
        RINGSIDE_TRY(UniqueFd fd, dial(id, deadline));
        dialled.emplace_back(id, std::move(fd));
      } else {
        awaited.push_back(id);
      }
    }
    RINGSIDE_TRY(answer(awaited, deadline));
    for (auto& [id, fd] : dialled) RINGSIDE_TRY(finish(id, std::move(fd), deadline));
    return {};
  }

  void abort() noexcept {
    const std::lock_guard lock(mutex_);
    is_aborted_ = true;
    for (auto& [id, end] : sends_) end->abort();
    for (auto& [id, end] : recvs_) end->abort();
  }

  [[nodiscard]] SendEnd& send_end(const ConnectionId& id) const { return *sends_.at(id); }
  [[nodiscard]] RecvEnd& recv_end(const ConnectionId& id) const { return *recvs_.at(id); }
  [[nodiscard]] bool needs_progress(const ConnectionId& id) const {
    return id.from != id.to && kind_between(id) == TransportKind::Tcp;
  }
  [[nodiscard]] const HostLayout& layout() const { return layout_; }

 private:
  [[nodiscard]] std::uint32_t me() const {
    return static_cast<std::uint32_t>(to_int(bootstrap_.rank()));
  }
  [[nodiscard]] const PeerInfo& info(std::uint32_t rank) const { return peers_[rank]; }
  [[nodiscard]] bool share_host(std::uint32_t a, std::uint32_t b) const {
    return info(a).host == info(b).host;
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

  Status exchange(Deadline deadline) {
    PeerInfo mine;
    put_text(mine.host, host_identity());
    if (shm_) put_text(mine.shm, to_string(shm_->address()));
    if (tcp_) put_text(mine.tcp, to_string(tcp_->address()));
    CPU_ZERO(&mine.cores);
    const long cache = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    mine.cache = cache > 0 ? static_cast<std::uint64_t>(cache) : HostLayout{}.cache.value;
    if (::sched_getaffinity(0, sizeof mine.cores, &mine.cores) != 0) CPU_SET(0, &mine.cores);
    RINGSIDE_TRY(const std::vector<std::byte> all,
                 bootstrap_.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
    peers_.resize(all.size() / sizeof(PeerInfo));
    std::memcpy(peers_.data(), all.data(), peers_.size() * sizeof(PeerInfo));
    // They come from ranks that proved the secret, but a text without its end would be read past it.
    for (PeerInfo& peer : peers_) peer.host.back() = peer.shm.back() = peer.tcp.back() = '\0';
    return {};
  }

  /// Fills layout_; but for what is local, every rank comes to the same.
  Status describe() {
    const auto n = static_cast<std::uint32_t>(peers_.size());
    layout_.cache = Bytes{std::ranges::min(peers_, {}, &PeerInfo::cache).cache};
    bool any_shm = false;
    bool any_tcp = false;
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      const std::uint32_t next = (rank + 1) % n;
      if (forced_ == TransportKind::Shm && !share_host(rank, next)) {
        return Error{
            ErrorCode::Unsupported,
            fmt::format("ranks {} and {} are on different hosts: shm cannot join them", rank, next),
            "leave --transport away, or give tcp"};
      }
      (kind_between(rank, next) == TransportKind::Shm ? any_shm : any_tcp) = true;
      const auto [ranks, cores] = ranks_and_cores_beside(rank);
      layout_.is_crowded |= ranks > cores;
      if (rank != me()) continue;
      layout_.local_ranks = ranks;
      layout_.local_cores = cores;
    }
    layout_.ranks_per_node = equal_neighbours();
    layout_.transport = n == 1 ? "none" : any_shm && any_tcp ? "shm+tcp" : any_tcp ? "tcp" : "shm";
    return {};
  }

  /// On the rank's host, and what those ranks may run on.
  [[nodiscard]] std::pair<int, int> ranks_and_cores_beside(std::uint32_t rank) const {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    int ranks = 0;
    for (std::uint32_t other = 0; other < peers_.size(); ++other) {
      if (!share_host(rank, other)) continue;
      ++ranks;
      CPU_OR(&cores, &cores, &info(other).cores);
    }
    return {ranks, std::max(1, CPU_COUNT(&cores))};
  }

  /// How many neighbouring ranks each host has, where there are several with equally many; else 0.
  [[nodiscard]] int equal_neighbours() const {
    const auto n = static_cast<std::uint32_t>(peers_.size());
    std::uint32_t each = 1;
    while (each < n && share_host(0, each)) ++each;
    if (each == n || n % each != 0) return 0;
    for (std::uint32_t rank = each; rank < n; ++rank) {
      const bool begins = rank % each == 0;
      if (share_host(rank - 1, rank) == begins) return 0;
    }
    return static_cast<int>(each);
  }

  [[nodiscard]] TransportKind kind_between(std::uint32_t a, std::uint32_t b) const {
    return forced_.value_or(share_host(a, b) ? TransportKind::Shm : TransportKind::Tcp);
  }
  [[nodiscard]] TransportKind kind_between(const ConnectionId& id) const {
    return kind_between(id.from, id.to);
  }

  [[nodiscard]] Error about(Error error, const ConnectionId& id) const {
    error.message = fmt::format("rank {} cannot reach rank {} on channel {}: {}", me(),
                                id.from == me() ? id.to : id.from, id.channel, error.message);
    return error;
  }

  /// Finds those whose socket takes the other direction, too (kShortSlot): the one from the lower rank is dialled.
  /// Both ranks are asked for the same connections, so they come to the same.
  void share_sockets(std::span<const ConnectionId> wanted) {
    shared_.clear();
    const std::set<ConnectionId> all(wanted.begin(), wanted.end());
    for (const ConnectionId& id : all) {
      const bool is_long = id.protocol == Protocol::Simple && id.slot_size > kShortSlot.value;
      if (id.from >= id.to || is_long || kind_between(id) != TransportKind::Tcp) continue;
      const bool is_new = !sends_.contains(id) && !recvs_.contains(id) &&
                          !sends_.contains(reverse_of(id)) && !recvs_.contains(reverse_of(id));
      if (is_new && all.contains(reverse_of(id))) shared_.insert(id);
    }
  }
  [[nodiscard]] bool rides_along(const ConnectionId& id) const {
    return shared_.contains(reverse_of(id));
  }

  /// The other direction's descriptor of a socket that both take.
  /// errors  System: out of descriptors
  Result<UniqueFd> share(const UniqueFd& fd, const ConnectionId& id) const {
    UniqueFd other(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    if (other) return other;
    return about(system_error("its socket", errno, "raise the limit: ulimit -n"), id);
  }

  Result<UniqueFd> dial(const ConnectionId& id, Deadline deadline) {
    const PeerInfo& peer = info(id.to);
    RINGSIDE_TRY(
        const Endpoint endpoint,
        parse_endpoint(kind_between(id) == TransportKind::Shm ? peer.shm.data() : peer.tcp.data()));
    const Hello hello = hello_of(id);
    auto fd = connect_authenticated(endpoint, bootstrap_.secret(),
                                    std::as_bytes(std::span(&hello, 1)), deadline);
    if (!fd) return about(fd.error(), id);
    return fd;
  }

  /// Like accept(), but looks up now and then whether there is still something to wait for.
  Result<Accepted> await(Acceptor& acceptor, Deadline deadline) const {
    for (;;) {
      auto accepted = acceptor.accept(std::min(deadline, deadline_in(kLookUp)));
      if (accepted || accepted.error().code != ErrorCode::Timeout || has_passed(deadline)) {
        return accepted;
      }
      if (failure_.happened()) return Error{ErrorCode::Aborted, "the job has failed elsewhere"};
    }
  }

  /// Takes what is awaited, in whatever order it comes. What comes early waits in early_.
  Status answer(std::vector<ConnectionId> awaited, Deadline deadline) {
    while (!awaited.empty()) {
      const auto found = std::ranges::find_if(
          awaited, [&](const ConnectionId& id) { return early_.contains(id); });
      if (found != awaited.end()) {
        RINGSIDE_TRY(take_in(*found, std::move(early_.extract(*found).mapped()), deadline));
        awaited.erase(found);
        continue;
      }
      const ConnectionId& first = awaited.front();
      Acceptor& acceptor = kind_between(first) == TransportKind::Shm ? *shm_ : *tcp_;
      auto accepted = await(acceptor, deadline);
      if (!accepted) return about(accepted.error(), first);
      RINGSIDE_TRY(const ConnectionId id, parse_hello(accepted->hello));
      RINGSIDE_TRY(check_expected(id, awaited));
      early_.insert_or_assign(id, std::move(accepted->fd));
    }
    return {};
  }

  /// A rank dials the connections of one call before those of the next. So while something of it is
  /// awaited, what it dials is that.
  Status check_expected(const ConnectionId& id, std::span<const ConnectionId> awaited) const {
    const auto is_from_it = [&](const ConnectionId& one) { return one.from == id.from; };
    const bool is_early = std::ranges::none_of(awaited, is_from_it);
    if (id.to == me() && (is_early || std::ranges::find(awaited, id) != awaited.end())) return {};
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("rank {} wants channel {} with {} slots of {} bytes, which rank {} "
                             "does not expect",
                             id.from, id.channel, to_string(id.protocol), id.slot_size, me()),
                 "give every rank the same calls, channels, protocol and slot size"};
  }

  Status take_in(const ConnectionId& id, UniqueFd fd, Deadline deadline) {
    if (kind_between(id) == TransportKind::Tcp) {
      if (shared_.contains(id)) {
        RINGSIDE_TRY(UniqueFd other, share(fd, id));
        add_tcp_send(reverse_of(id), std::move(other));
      }
      add_tcp_recv(id, std::move(fd));
      return {};
    }
    auto end = make_shm_recv_end(std::move(fd), Bytes{id.slot_size}, deadline, id.protocol);
    if (!end) return about(end.error(), id);
    add(recvs_, id, *std::move(end));
    return {};
  }

  /// Until the peer says something on the socket, or there is nothing more to wait for.
  Status await_word(const UniqueFd& fd, Deadline deadline) const {
    pollfd entry{fd.get(), POLLIN, 0};
    while (::poll(&entry, 1, poll_timeout(std::min(deadline, deadline_in(kLookUp)))) <= 0) {
      if (has_passed(deadline)) return {};  // whoever reads says so
      if (failure_.happened()) return Error{ErrorCode::Aborted, "the job has failed elsewhere"};
    }
    return {};
  }

  Status finish(const ConnectionId& id, UniqueFd fd, Deadline deadline) {
    if (kind_between(id) == TransportKind::Tcp) {
      if (shared_.contains(id)) {
        RINGSIDE_TRY(UniqueFd other, share(fd, id));
        add_tcp_recv(reverse_of(id), std::move(other));
      }
      add_tcp_send(id, std::move(fd));
      return {};
    }
    if (const Status word = await_word(fd, deadline); !word) return about(word.error(), id);
    auto end = make_shm_send_end(std::move(fd), Bytes{id.slot_size}, deadline, id.protocol);
    if (!end) return about(end.error(), id);
    add(sends_, id, *std::move(end));
    return {};
  }

  void add_tcp_send(const ConnectionId& id, UniqueFd fd) {
    add(sends_, id, make_tcp_send_end(std::move(fd), Bytes{id.slot_size}, id.protocol));
  }
  void add_tcp_recv(const ConnectionId& id, UniqueFd fd) {
    add(recvs_, id, make_tcp_recv_end(std::move(fd), Bytes{id.slot_size}, id.protocol));
  }

  void add_loop(const ConnectionId& id) {
    LoopEnds ends = make_loop_ends(Bytes{id.slot_size});
    add(sends_, id, std::move(ends.send));
    add(recvs_, id, std::move(ends.recv));
  }

  template <typename Ends, typename End>
  void add(Ends& ends, const ConnectionId& id, End end) {
    const std::lock_guard lock(mutex_);
    if (is_aborted_) end->abort();
    ends.emplace(id, std::move(end));
  }

  Bootstrap& bootstrap_;
  std::optional<TransportKind> forced_;
  const Failure& failure_;
  std::unique_ptr<Acceptor> shm_;
  std::unique_ptr<Acceptor> tcp_;
  std::vector<PeerInfo> peers_;
  HostLayout layout_;
  std::map<ConnectionId, UniqueFd> early_;  ///< let in, not yet asked for
  std::set<ConnectionId> shared_;  ///< of this call: whose socket takes the other direction, too

  std::mutex mutex_;  ///< guards what abort() looks at against what connect() adds
  bool is_aborted_ = false;
  std::map<ConnectionId, std::unique_ptr<SendEnd>> sends_;
  std::map<ConnectionId, std::unique_ptr<RecvEnd>> recvs_;
};

const char* to_string(TransportKind kind) { return kind == TransportKind::Shm ? "shm" : "tcp"; }

Result<std::unique_ptr<Connections>> Connections::make(Bootstrap& bootstrap,
                                                       std::optional<TransportKind> transport,
                                                       const Failure& failure, Deadline deadline) {
  auto impl = std::make_unique<Impl>(bootstrap, transport, failure);
  RINGSIDE_TRY(impl->open(deadline));
  return std::unique_ptr<Connections>(new Connections(std::move(impl)));
}

Connections::Connections(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connections::~Connections() = default;

Status Connections::connect(std::span<const ConnectionId> wanted, Deadline deadline) {
  return impl_->connect(wanted, deadline);
}
SendEnd& Connections::send_end(const ConnectionId& id) const { return impl_->send_end(id); }
RecvEnd& Connections::recv_end(const ConnectionId& id) const { return impl_->recv_end(id); }
bool Connections::needs_progress(const ConnectionId& id) const { return impl_->needs_progress(id); }
void Connections::abort() noexcept { impl_->abort(); }
const HostLayout& Connections::layout() const { return impl_->layout(); }

}  // namespace ringside
