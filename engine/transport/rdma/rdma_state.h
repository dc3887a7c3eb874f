#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/transport/rdma/rdma_queues.h"
#include "engine/transport/shm/shared_memory.h"
#include "engine/transport/socket/frame.h"
#include "engine/transport/socket/wakeup.h"
#include "engine/transport/transport.h"

namespace ringside {

/// A receiving end's queues while the sender has not said where its own are. The state's thread hears that, joins them
/// and answers, so that a sender waits for no thread of the receiver's program.
struct RdmaPending {
  enum class Stage : std::uint8_t { Waiting, Ready, Failed };

  int socket;  ///< the end's
  ConnectionShape shape;
  RdmaQueues queues;  ///< the thread's until Ready
  FrameReader reader{kRdmaMessageLimit};
  RdmaEndInfo theirs;  ///< when Ready
  Error error;         ///< when Failed
  std::atomic<Stage> stage{Stage::Waiting};
};

/// Slots that a caller has lent to an end, registered.
struct RdmaLent {
  std::shared_ptr<const RdmaMemory> memory = {};  ///< null: none
  LentSlots slots = {};

  [[nodiscard]] explicit operator bool() const { return memory != nullptr; }
  /// From slot 0 on.
  [[nodiscard]] std::span<std::byte> bytes() const { return memory->bytes().subspan(slots.offset); }
  [[nodiscard]] LentUse use() const {
    return memory ? LentUse{slots.region.get(), memory->how()} : LentUse{};
  }
};

/// What a rank has open of RDMA: cards, registered memory of users, and a thread that handles the cards' events
/// and new connections.
class RdmaState final : public TransportState {
 public:
  /// errors  as open_rdma()
  static Result<std::unique_ptr<TransportState>> open(const LocalSite& here);
  ~RdmaState() override;

  /// As rdma_address() has it.
  [[nodiscard]] std::string address() const override;

  /// The channels take turns on the cards.
  [[nodiscard]] const OpenRdmaCard& card_of(std::uint32_t channel) const {
    return *cards_[channel % cards_.size()];
  }

  /// That the rank's waits go by.
  [[nodiscard]] Clock& clock() const { return clock_; }

  /// errors  System: a card is gone or has failed
  [[nodiscard]] Status check() const;

  void add(std::shared_ptr<RdmaPending> pending);
  /// Afterwards the thread knows nothing of it.
  void forget(const RdmaPending& pending);

  /// The region's memory as the card takes it: registered the first time, forgotten some time after it is gone.
  /// returns  null: a GPU's, which the card does not reach; a remark has said why
  /// errors  System: as rdma_memory_error()
  Result<std::shared_ptr<const RdmaMemory>> registered(const OpenRdmaCard& card,
                                                       const SharedRegion& region);

  /// The first of the offers that the card reaches; none where it reaches none, as remarks have said.
  RdmaLent take(const OpenRdmaCard& card, const Joint& joint);

 private:
  RdmaState(const VerbsLibrary& verbs, Clock& clock) : verbs_(verbs), clock_(clock) {}
  Status open_ports(const LocalSite& here);
  Status open_port(OpenRdmaCard& card, const RdmaPort& port, const RdmaPort::Entry& gid);
  Result<ibv_context*> context_of(const RdmaPort& port);
  void serve(const std::stop_token& stop);
  void hear_card(ibv_context* context);
  void hear_peers();

  struct Device {
    std::string name;
    ibv_context* context;
    ibv_pd* domain;
  };
  struct Registered {
    const OpenRdmaCard* card;
    std::weak_ptr<const SharedRegion> region;
    std::uint64_t id;
    std::shared_ptr<const RdmaMemory> memory;
  };

  const VerbsLibrary& verbs_;
  Clock& clock_;
  std::vector<Device> devices_;
  std::vector<std::unique_ptr<OpenRdmaCard>> cards_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::vector<std::shared_ptr<RdmaPending>> pending_;
  std::vector<Registered> registered_;  ///< the latest used last
  std::string fatal_;                   ///< what has happened to a card; empty: nothing
  std::atomic<bool> is_fatal_{false};
  std::optional<Wakeup> wakeup_;
  std::jthread thread_;  ///< the last: it ends first
};

}  // namespace ringside
