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

/// A buffer that the ranks of this host read and write in place, instead of having its bytes copied
/// through slots: what ncclMemAlloc is to NCCL. A collective finds out by itself that its buffers lie in
/// one.
///
/// Ownership  the pages go back once the object is gone and the peers that have mapped them have
///            forgotten them, which takes until they have met some newer ones or the connection ends
/// Threads    several objects, several threads
class SharedMemory {
 public:
  /// Zeroed. errors  System: this host, or the control group, has less memory; InvalidArgument: no bytes
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

/// What one SharedMemory is to the transports. A GPU's memory can be one, too, for what is sent over RDMA.
class SharedRegion : public std::enable_shared_from_this<SharedRegion> {
 public:
  virtual ~SharedRegion() = default;
  [[nodiscard]] virtual std::uint64_t id()
      const = 0;  ///< no other of this process ever has it; not 0
  /// The memory as a file; of a GPU's, the dma-buf that its driver exports, or -1: none.
  [[nodiscard]] virtual int fd() const = 0;
  [[nodiscard]] virtual std::byte* data() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;

  /// Whether data() is an address of a GPU, which processors do not read.
  [[nodiscard]] virtual bool is_device() const { return false; }
  /// Of a GPU's: whether the adapter at that place on PCI ("0000:3b:00") is to reach it.
  /// errors  Unsupported: it is too far, or the user does not want it
  [[nodiscard]] virtual Status suits([[maybe_unused]] std::string_view card) const { return {}; }
  /// The bytes from `offset` on, for callers that cannot read them in place.  shape  within the region
  virtual void copy_out(std::size_t offset, std::span<std::byte> to) const {
    std::memcpy(to.data(), data() + offset, to.size());
  }
};

/// A number for SharedRegion::id().
/// Threads  any
std::uint64_t fresh_region_id();

/// The SharedMemory that this byte lies in; null: in none.
/// Threads  any
std::shared_ptr<const SharedRegion> find_shared(const void* data);

}  // namespace ringside
