#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/protocol/staging.h"
#include "engine/transport/open_transports.h"
#include "engine/transport/shm/shared_memory.h"

namespace ringside {

/// Returns success if this machine has what the transport needs, e.g. an adapter.
inline Status can_be_opened(const Transport& transport) {
  if (transport.listen == nullptr) return {};
  auto opened = transport.listen({.rank = 0, .host = "this host", .interface = loopback_address()});
  return opened || opened.error().code != ErrorCode::Unsupported ? Status() : opened.error();
}

/// Returns the transports that tests run on: rows of the table, not names, so that a new row is tested unchanged.
/// Those that this machine cannot open are skipped; TransportTable.CanBeOpenedHere names them.
inline std::vector<const Transport*> every_transport() {
  std::vector<const Transport*> all;
  for (const Transport& transport : transports()) {
    if (can_be_opened(transport)) all.push_back(&transport);
  }
  return all;
}

/// Returns those that join different ranks.
inline std::vector<const Transport*> joining_transports() {
  std::vector<const Transport*> all = every_transport();
  std::erase_if(all, [](const Transport* transport) { return transport->is_inner(); });
  return all;
}

/// Returns those whose ends can lend their slots.
inline std::vector<const Transport*> lending_transports() {
  std::vector<const Transport*> all = every_transport();
  std::erase_if(all, [](const Transport* transport) { return !transport->takes_lent_slots; });
  return all;
}

using TransportAndProtocol = std::tuple<const Transport*, Protocol>;

inline std::string name_of(const testing::TestParamInfo<TransportAndProtocol>& test) {
  const auto [transport, protocol] = test.param;
  return std::string(transport->name) + "_" + to_string(protocol);
}
inline std::string name_of(const testing::TestParamInfo<const Transport*>& test) {
  return std::string(test.param->name);
}

struct Ends {
  std::unique_ptr<SendEnd> send;
  std::unique_ptr<RecvEnd> recv;
};

inline constexpr Bytes kSlot = 4_KiB;  ///< for connections whose slot size does not matter

inline Deadline in_20_s() { return deadline_in(std::chrono::seconds(20)); }

/// Opens one transport for one rank.
inline std::unique_ptr<OpenTransports> open_rank(const Transport& transport, std::uint32_t rank,
                                                 const Secret& secret) {
  const std::array wanted{&transport};
  auto opened =
      OpenTransports::open({rank, "this host", loopback_address()}, secret, wanted, &transport);
  EXPECT_TRUE(opened) << opened.error().message;
  return *std::move(opened);
}

/// Memory that a caller lends to an end.
class HostRegion final : public SharedRegion {
 public:
  explicit HostRegion(Bytes size) : memory_(size) {}
  [[nodiscard]] std::uint64_t id() const override { return id_; }
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] std::byte* data() const override { return memory_.bytes().data(); }
  [[nodiscard]] std::size_t size() const override { return memory_.bytes().size(); }

 private:
  const std::uint64_t id_ = fresh_region_id();
  Staging memory_;
};

/// Returns slots that lie behind other data in their region.
inline LentSlots slots_to_lend(Bytes slot_size) {
  constexpr std::size_t kBefore = 3 * LentSlots::kGrain;
  const Bytes size = LentSlots::memory_for(slot_size) + Bytes{kBefore};
  return {std::make_shared<const HostRegion>(size), kBefore};
}

/// Which ends have lent slots.
struct Lending {
  bool send = false, recv = false;
};

/// Two ranks in this process; one rank if the transport joins a rank to itself.
class TwoRanks {
 public:
  explicit TwoRanks(const Transport& transport, Lending lending = {})
      : transport_(transport), lending_(lending) {
    const Secret secret = random_secret();
    first_ = open_rank(transport, 0, secret);
    if (!transport.is_inner()) second_ = open_rank(transport, 1, secret);
  }

  [[nodiscard]] OpenTransports& first() const { return *first_; }
  [[nodiscard]] OpenTransports& second() const { return second_ ? *second_ : *first_; }

  /// Returns the connected socket's ends of the first rank and of the second.
  [[nodiscard]] std::pair<UniqueFd, UniqueFd> meet() const {
    if (transport_.is_inner()) return {};
    auto dialled = first().dial(transport_, second().whereabouts(), {}, in_20_s());
    EXPECT_TRUE(dialled) << dialled.error().message;
    auto accepted = second().accept(transport_, in_20_s());
    EXPECT_TRUE(accepted) << accepted.error().message;
    return {*std::move(dialled), std::move(accepted->fd)};
  }

  [[nodiscard]] Result<std::unique_ptr<RecvEnd>> make_recv(UniqueFd peer, ConnectionShape shape,
                                                           const Patience& patience) const {
    Joint joint =
        second().joint(transport_, first().whereabouts(), std::move(peer), shape, 0, patience);
    if (lending_.recv) joint.lent = {slots_to_lend(shape.slot_size)};
    return transport_.make_recv(std::move(joint));
  }
  [[nodiscard]] Result<std::unique_ptr<SendEnd>> make_send(UniqueFd peer, ConnectionShape shape,
                                                           const Patience& patience) const {
    Joint joint =
        first().joint(transport_, second().whereabouts(), std::move(peer), shape, 0, patience);
    if (lending_.send) joint.lent = {slots_to_lend(shape.slot_size)};
    return transport_.make_send(std::move(joint));
  }

  /// Connects the first rank to the second, in one thread: making a receiving end never blocks.
  [[nodiscard]] Ends connect(ConnectionShape shape) const {
    auto [dialled, accepted] = meet();
    auto recv = make_recv(std::move(accepted), shape, in_20_s());
    EXPECT_TRUE(recv) << recv.error().message;
    auto send = make_send(std::move(dialled), shape, in_20_s());
    EXPECT_TRUE(send) << send.error().message;
    return {*std::move(send), *std::move(recv)};
  }

 private:
  const Transport& transport_;
  const Lending lending_;
  std::unique_ptr<OpenTransports> first_;
  std::unique_ptr<OpenTransports> second_;
};

/// Returns the error of an end whose peer has died, which it reports on its own or when it is asked.
inline ErrorCode end_of(SendEnd& send) {
  for (const Deadline deadline = in_20_s(); !has_passed(deadline);) {
    if (const auto slot = send.acquire(); !slot) return slot.error().code;
    if (const auto alive = send.check_peer(); !alive) return alive.error().code;
    std::this_thread::yield();
  }
  return ErrorCode::Timeout;
}
inline ErrorCode end_of(RecvEnd& recv) {
  for (const Deadline deadline = in_20_s(); !has_passed(deadline);) {
    if (const auto slot = recv.peek(); !slot) return slot.error().code;
    if (const auto alive = recv.check_peer(); !alive) return alive.error().code;
    std::this_thread::yield();
  }
  return ErrorCode::Timeout;
}

}  // namespace ringside
