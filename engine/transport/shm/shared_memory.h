#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

class SharedRegion;

/// A buffer that the ranks of this host access in place, so that its bytes need not be copied through slots; the
/// counterpart of ncclMemAlloc. Collectives detect buffers in such memory by themselves.
///
/// Ownership  the pages are freed once the object is destroyed and all peers have unmapped them. A peer unmaps them
///            after it has mapped several newer memories, or when the connection ends
/// Threads    different threads may use different objects
class SharedMemory {
 public:
  /// Allocates zeroed memory.
  /// errors  System: this host or control group has too little memory.  InvalidArgument: size is 0
  static Result<SharedMemory> allocate(Bytes size);

  SharedMemory(SharedMemory&&) noexcept = default;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  [[nodiscard]] std::byte* data() const;
  [[nodiscard]] Bytes size() const;

 private:
  explicit SharedMemory(std::shared_ptr<const SharedRegion> region);
  std::shared_ptr<const SharedRegion> region_;
};

/// Memory that transports can access in place or register: a SharedMemory, or GPU memory for RDMA.
class SharedRegion : public std::enable_shared_from_this<SharedRegion> {
 public:
  virtual ~SharedRegion() = default;
  /// Never 0; no other region of this process ever has the same id
  [[nodiscard]] virtual std::uint64_t id() const = 0;
  /// Returns the file descriptor of the memory. For GPU memory, returns the dma-buf that its driver exports, or -1.
  [[nodiscard]] virtual int fd() const = 0;
  [[nodiscard]] virtual std::byte* data() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;

  /// Returns whether data() is a GPU address, which the CPU cannot access.
  [[nodiscard]] virtual bool is_device() const { return false; }
  /// For GPU memory: checks whether the adapter at this PCI address ("0000:3b:00") may access it directly.
  /// errors  Unsupported: the adapter is too far from the GPU, or the user's settings forbid it
  [[nodiscard]] virtual Status suits([[maybe_unused]] std::string_view card) const { return {}; }
  /// Copies the bytes from `offset` on to `to`, for callers that cannot read them in place.  shape  within the region
  virtual void copy_out(std::size_t offset, std::span<std::byte> to) const {
    std::memcpy(to.data(), data() + offset, to.size());
  }
};

/// Returns a new number for SharedRegion::id().
/// Threads  any
std::uint64_t fresh_region_id();

/// Returns the SharedMemory that contains this address, or null.
/// Threads  any
std::shared_ptr<const SharedRegion> find_shared(const void* data);

}  // namespace ringside
