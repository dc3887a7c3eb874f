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

/// A receiving end whose sender has not sent its queue addresses yet. The state's thread receives them, connects the
/// queues and answers, so that a sender does not wait for the receiver's program.
struct RdmaPending {
  enum class Stage : std::uint8_t { Waiting, Ready, Failed };

  int socket;  ///< socket of the end
  ConnectionShape shape;
  RdmaQueues queues;  ///< only the state's thread uses them until Ready
  FrameReader reader{kRdmaMessageLimit};
  RdmaEndInfo theirs;  ///< when Ready
  Error error;         ///< when Failed
  std::atomic<Stage> stage{Stage::Waiting};
};

/// A caller's buffer for the slots of an end (LentSlots), registered with the adapter.
struct RdmaLent {
  std::shared_ptr<const RdmaMemory> memory = {};  ///< null: the end has no such buffer
  LentSlots slots = {};

  [[nodiscard]] explicit operator bool() const { return memory != nullptr; }
  /// Returns the memory from slot 0 on.
  [[nodiscard]] std::span<std::byte> bytes() const { return memory->bytes().subspan(slots.offset); }
  [[nodiscard]] LentUse use() const {
    return memory ? LentUse{slots.region.get(), memory->how()} : LentUse{};
  }
};

/// The RDMA resources of a rank: open adapters, registered memory of users, and a thread that handles the adapters'
/// events and new connections.
class RdmaState final : public TransportState {
 public:
  /// errors  as open_rdma()
  static Result<std::unique_ptr<TransportState>> open(const LocalSite& here);
  ~RdmaState() override;

  /// Returns the text of rdma_address().
  [[nodiscard]] std::string address() const override;

  /// Returns the adapter of a channel: channels are distributed over the adapters in rotation.
  [[nodiscard]] const OpenRdmaCard& card_of(std::uint32_t channel) const {
    return *cards_[channel % cards_.size()];
  }

  /// Returns the clock of the rank's waits.
  [[nodiscard]] Clock& clock() const { return clock_; }

  /// errors  System: an adapter was removed or has failed
  [[nodiscard]] Status check() const;

  void add(std::shared_ptr<RdmaPending> pending);
  /// Removes a pending end; afterwards the thread no longer uses it.
  void forget(const RdmaPending& pending);

  /// Returns the region's registration with the adapter. It is registered at the first call, and deregistered some time
  /// after the region is destroyed.
  /// returns  null: GPU memory that the adapter cannot access; a logged warning gives the reason
  /// errors  System: as rdma_memory_error()
  Result<std::shared_ptr<const RdmaMemory>> registered(const OpenRdmaCard& card,
                                                       const SharedRegion& region);

  /// Registers the first offered buffer of `joint` that the adapter can access. Returns an empty RdmaLent if there is
  /// none; logged warnings give the reasons.
  RdmaLent take(const OpenRdmaCard& card, const Joint& joint);

 private:
  RdmaState(const VerbsLibrary& verbs, Clock& clock) : verbs_(verbs), clock_(clock) {}
  Status open_port(OpenRdmaCard& card, const RdmaPort& port, const RdmaPort::Entry& gid);
  Result<ibv_context*> context_of(const RdmaPort& port);
  void serve(const std::stop_token& stop);
  void read_card_events(ibv_context* context);
  void read_peer_messages();

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
  mutable std::mutex mutex_;  ///< guards the members below
  std::vector<std::shared_ptr<RdmaPending>> pending_;
  std::vector<Registered> registered_;  ///< least recently used first
  std::string fatal_;                   ///< error event of an adapter; empty: no error
  std::atomic<bool> is_fatal_{false};
  std::optional<Wakeup> wakeup_;
  std::jthread thread_;  ///< last member, so that the thread ends first
};

}  // namespace ringside
