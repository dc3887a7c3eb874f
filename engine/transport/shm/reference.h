#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/transport/shm/mapping.h"
#include "engine/transport/shm/shared_memory.h"
#include "engine/transport/shm/shared_span.h"

/// References: a sender passes the address of bytes in shared memory instead of the bytes, like NCCL's direct reads and
/// writes of registered buffers.
namespace ringside {

/// The message that goes through a slot in place of the bytes.
struct Reference {
  struct Place {
    std::uint64_t memory = 0;  ///< SharedRegion::id(); 0: nowhere
    std::uint64_t offset = 0;
  };
  Place data;
  Place result;  ///< where the sender wants the result
  std::uint64_t bytes = 0;
  /// Ids of memories that the sender will not refer to again; 0: none
  std::array<std::uint64_t, 2> forgotten{};
};

/// The sender's list of the memories that the receiver has mapped.
class SentMemory {
 public:
  /// Makes a reference. It first sends the files of memories that are new to the receiver over `socket`.
  /// shape   data.region is not null
  /// errors  PeerGone, System, Timeout
  Result<Reference> refer(SharedSpan data, SharedSpan result, std::size_t bytes, int socket);

 private:
  /// Sends the region's file, unless the receiver has it.
  /// in_use   id of a region that must stay known; 0: none
  /// returns  id of the region that the receiver must unmap instead; 0: none
  Result<std::uint64_t> introduce(const SharedRegion& region, std::uint64_t in_use, int socket);
  std::vector<std::uint64_t> introduced_;  ///< oldest first
};

/// The receiver's mappings of the memories that the sender has sent.
class ReceivedMemory {
 public:
  struct Spans {
    std::span<const std::byte> data;
    std::span<std::byte> result;  ///< empty: nowhere
  };
  /// Resolves a reference to local addresses. It receives the files of new memories from `socket`.
  /// returns  spans that stay valid until the next call
  /// errors   Corrupt: not a reference, or out of its memory's bounds.  PeerGone, System, Timeout
  Result<Spans> find(std::span<const std::byte> slot, int socket);

 private:
  struct Known {
    std::uint64_t memory;
    Mapping mapping;
  };
  Result<std::span<std::byte>> find(const Reference::Place& place, std::size_t bytes, int socket);
  std::vector<Known> known_;
};

}  // namespace ringside
