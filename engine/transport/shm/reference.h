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

/// How a sender in shared memory says where bytes lie instead of sending them: NCCL's direct reads and
/// writes of registered buffers.
namespace ringside {

/// What goes through a slot in place of the bytes.
struct Reference {
  struct Place {
    std::uint64_t memory = 0;  ///< SharedRegion::id(); 0: nowhere
    std::uint64_t offset = 0;
  };
  Place data;
  Place result;  ///< where the sender wants what becomes of them
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 2>
      forgotten{};  ///< memories that the sender will not name again; 0: none
};

/// The sender's side: which memories the receiver knows.
class SentMemory {
 public:
  /// Makes the reference; the files of memories that are new to the receiver go to `socket` before it.
  /// shape   data: somewhere
  /// errors  PeerGone, System, Timeout
  Result<Reference> refer(SharedSpan data, SharedSpan result, std::size_t bytes, int socket);

 private:
  Result<std::uint64_t> introduce(const SharedRegion& region, int socket);
  std::vector<std::uint64_t> introduced_;  ///< oldest first
};

/// The receiver's side: the memories that the sender has introduced.
class ReceivedMemory {
 public:
  struct Spans {
    std::span<const std::byte> data;
    std::span<std::byte> result;  ///< empty: nowhere
  };
  /// Finds what the slot's bytes refer to; files that came with it are taken from `socket`.
  /// returns  places that stay valid until the next call
  /// errors   Corrupt: no reference, or beyond its memory.  PeerGone, System, Timeout
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
