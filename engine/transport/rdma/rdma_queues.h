#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/transport/rdma/rdma_failure.h"
#include "engine/transport/rdma/rdma_message.h"
#include "engine/transport/rdma/rdma_ports.h"
#include "engine/transport/rdma/rdma_settings.h"
#include "engine/transport/rdma/verbs_library.h"
#include "engine/transport/shm/shared_memory.h"

namespace ringside {

/// A port that is open in this process.
struct OpenRdmaPort {
  RdmaPort port;
  RdmaPort::Entry gid;
  ibv_context* context = nullptr;
  ibv_pd* domain = nullptr;
  std::uint16_t lid = 0;
  std::uint8_t mtu = 1;  ///< ibv_mtu: 1 is 256 bytes, 5 is 4096

  /// "mlx5_0:1"
  [[nodiscard]] std::string name() const;
};

/// An open adapter, which all connections of a rank share. It outlives them.
struct OpenRdmaCard {
  const VerbsLibrary* verbs = nullptr;
  RdmaSettings settings;
  std::vector<OpenRdmaPort> ports;
};

/// Memory registered with all ports of an adapter, for local reads and remote writes.
class RdmaMemory {
 public:
  /// Registers the caller's memory, which outlives the object.
  /// errors  System: as rdma_memory_error()
  static Result<RdmaMemory> of(const OpenRdmaCard& card, std::span<std::byte> bytes);
  /// Registers GPU memory by its dma-buf, or else by its address if has_peer_memory().
  /// errors  Unsupported: the adapter cannot access it, with the reason; the data then has to go through host memory
  static Result<RdmaMemory> of_device(const OpenRdmaCard& card, const SharedRegion& region);
  /// Allocates and registers zeroed memory, aligned to 4 KiB.
  /// errors  System: as of()
  static Result<RdmaMemory> allocate(const OpenRdmaCard& card, std::size_t size);

  RdmaMemory(RdmaMemory&&) noexcept = default;
  RdmaMemory& operator=(RdmaMemory&&) noexcept = default;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// Returns how the adapters access it, as text: "registered host memory", "GPUDirect by dma-buf".
  [[nodiscard]] std::string_view how() const { return how_; }
  /// Returns whether it is GPU memory, which the CPU cannot access.
  [[nodiscard]] bool is_device() const { return is_device_; }
  [[nodiscard]] std::uint32_t local_key(std::size_t port) const { return keys_[port]->lkey; }
  [[nodiscard]] std::uint32_t remote_key(std::size_t port) const { return keys_[port]->rkey; }

 private:
  RdmaMemory() = default;
  struct Deregister {
    decltype(VerbsLibrary::dereg_mr) call = nullptr;
    void operator()(ibv_mr* region) const { call(region); }
  };
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte[], Free> own_;  // outlives the keys below
  std::span<std::byte> bytes_;
  std::string_view how_ = "registered host memory";
  bool is_device_ = false;
  std::vector<std::unique_ptr<ibv_mr, Deregister>> keys_;  ///< by port
};

/// One end's queue pairs and their completion queues.
///
/// Threads  one at a time
class RdmaQueues {
 public:
  struct Depth {
    std::uint32_t sends = 8;     ///< most incomplete requests of a queue
    std::uint32_t receives = 8;  ///< most writes of the peer that poll() has not returned
  };
  /// Makes the queue pairs.
  /// count   number of queue pairs, distributed round-robin over the adapter's ports
  /// errors  System: the adapter has no queue pairs left
  static Result<RdmaQueues> make(const OpenRdmaCard& card, std::size_t count, Depth depth);
  RdmaQueues(RdmaQueues&&) noexcept;
  RdmaQueues& operator=(RdmaQueues&&) = delete;
  ~RdmaQueues();

  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t port_of(std::size_t queue) const;

  /// Returns the message for the other end.  place: the part of `memory` to which the other end writes
  [[nodiscard]] RdmaEndInfo info(const RdmaMemory& memory, std::span<const std::byte> place) const;

  /// Connects each queue to the other end's, and posts Depth::receives receives on each.
  /// peer    for error texts
  /// errors  System: as rdma_connect_error()
  Status connect(const RdmaEndInfo& theirs, std::string peer);

  struct Write {
    const std::byte* from = nullptr;
    std::uint32_t key = 0;  ///< local key of `from` for the queue's port
    std::size_t bytes = 0;
    std::uint64_t to = 0;            ///< address in the peer's memory
    const RdmaMark* mark = nullptr;  ///< immediate data; null: the peer gets no completion
    std::uint64_t id = 0;            ///< returned with the completion
    bool is_reported = true;         ///< whether poll() returns its completion
    bool is_device = false;          ///< GPU memory: it cannot be inlined in the request
  };
  /// Posts a write on a queue.
  /// errors  System: the adapter rejects it
  Status write(std::size_t queue, const Write& write);

  struct Done {
    bool is_receive = false;
    std::uint64_t id = 0;  ///< id of the completed write
    std::size_t queue = 0;
    std::uint32_t bytes = 0;  ///< received
    RdmaMark mark;
  };
  /// Takes the completions since the last call, at most room.size(). Receives are posted again.
  /// returns  number of completions
  /// errors   as rdma_completion_error(): of the first that failed
  Result<std::size_t> poll(std::span<Done> room);

  /// Returns the description of both ends of a queue, as far as it is known.
  [[nodiscard]] RdmaPath path_of(std::size_t queue) const;

 private:
  class Impl;
  explicit RdmaQueues(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
