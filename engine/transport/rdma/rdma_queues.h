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
  std::uint8_t mtu = 1;  ///< as verbs count it

  /// "mlx5_0:1"
  [[nodiscard]] std::string name() const;
};

/// What all connections of a rank share. Outlives them.
struct OpenRdmaCard {
  const VerbsLibrary* verbs = nullptr;
  RdmaSettings settings;
  std::vector<OpenRdmaPort> ports;
};

/// Memory that all ports of a card may read, and that their peers may write.
class RdmaMemory {
 public:
  /// Of the caller's, which outlives it.
  /// errors  System: as rdma_memory_error()
  static Result<RdmaMemory> of(const OpenRdmaCard& card, std::span<std::byte> bytes);
  /// Of a GPU: by its dma-buf, else by its address where has_peer_memory().
  /// errors  Unsupported: the adapter does not reach it, with the reason; it has to go through the host's memory
  static Result<RdmaMemory> of_device(const OpenRdmaCard& card, const SharedRegion& region);
  /// Its own, zeroed, aligned to 4 KiB.
  static Result<RdmaMemory> allocate(const OpenRdmaCard& card, std::size_t size);

  RdmaMemory(RdmaMemory&&) noexcept = default;
  RdmaMemory& operator=(RdmaMemory&&) noexcept = default;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// By what the adapters reach it, for people: "registered host memory", "GPUDirect by dma-buf".
  [[nodiscard]] std::string_view how() const { return how_; }
  /// Whether processors cannot read it.
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

/// One end's queue pairs, and where their completions come in.
///
/// Threads  one at a time
class RdmaQueues {
 public:
  struct Depth {
    std::uint32_t sends = 8;     ///< requests of a queue that are not complete
    std::uint32_t receives = 8;  ///< writes of the peer that have not been looked at
  };
  /// count   distributed round-robin over the card's ports
  /// errors  System: the adapter has no more of them
  static Result<RdmaQueues> make(const OpenRdmaCard& card, std::size_t count, Depth depth);
  RdmaQueues(RdmaQueues&&) noexcept;
  RdmaQueues& operator=(RdmaQueues&&) = delete;
  ~RdmaQueues();

  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t port_of(std::size_t queue) const;

  /// What the other end has to know. memory  where it writes
  [[nodiscard]] RdmaEndInfo info(const RdmaMemory& memory, std::span<const std::byte> place) const;

  /// Joins each queue with the other end's, and posts `receives` of each.
  /// peer    for error texts
  /// errors  System: as rdma_connect_error()
  Status connect(const RdmaEndInfo& theirs, std::string peer);

  struct Write {
    const std::byte* from = nullptr;
    std::uint32_t key = 0;  ///< of that memory, by the queue's port
    std::size_t bytes = 0;
    std::uint64_t to = 0;            ///< in the peer's memory
    const RdmaMark* mark = nullptr;  ///< null: the peer gets no notice
    std::uint64_t id = 0;            ///< comes back with the completion
    bool is_reported = true;         ///< whether its end is a completion
    bool is_device = false;          ///< a GPU's memory: no processor copies it into the request
  };
  /// errors  System: the adapter refuses
  Status write(std::size_t queue, const Write& write);

  struct Done {
    bool is_receive = false;
    std::uint64_t id = 0;  ///< of a write
    std::size_t queue = 0;
    std::uint32_t bytes = 0;  ///< received
    RdmaMark mark;
  };
  /// What has come to its end since, at most `room` of it. A receive is posted anew.
  /// returns  how many
  /// errors   as rdma_completion_error(): of the first that failed
  Result<std::size_t> poll(std::span<Done> room);

  /// Both ends of a queue, as far as they are known.
  [[nodiscard]] RdmaPath path_of(std::size_t queue) const;

 private:
  class Impl;
  explicit RdmaQueues(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
