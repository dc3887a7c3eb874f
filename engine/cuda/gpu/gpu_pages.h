#pragma once

#include <cstddef>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "engine/cuda/gpu/gpu_driver.h"
#include "ringside/units.h"

/// cuMem: physical pages of a GPU, or a multicast object over several GPUs, and the addresses at which processes map
/// them.
namespace ringside {

/// Returns whether the device has cuMem, and gives its memory to other processes as open files.
/// source  NCCL's ncclIsCuMemSupported(): a driver of CUDA 12.0 or newer, and the attributes
bool has_gpu_pages(const GpuDriver& driver, int device);

/// One reference to physical pages: the driver frees them when no process has a reference to them or a mapping of
/// them.
///
/// Threads    any, as for the driver
/// Ownership  the driver's functions outlive it
class GpuPages {
 public:
  /// Takes over what the driver made (cuMemCreate, cuMulticastCreate).
  GpuPages(const GpuDriver& driver, CUmemGenericAllocationHandle handle, Bytes size)
      : driver_(&driver), handle_(handle), size_(size) {}
  GpuPages(GpuPages&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)),
        handle_(other.handle_),
        size_(other.size_) {}
  GpuPages& operator=(GpuPages&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(handle_, other.handle_);
    std::swap(size_, other.size_);
    return *this;
  }
  GpuPages(const GpuPages&) = delete;
  GpuPages& operator=(const GpuPages&) = delete;
  ~GpuPages();

  /// Allocates at least that many bytes of the device's memory, for which file() works.
  /// multiple_of  size() is a multiple of this, in addition to the device's own granularity
  /// errors       System: no memory
  static Result<GpuPages> make(const GpuDriver& driver, int device, Bytes size,
                               Bytes multiple_of = Bytes{1});
  /// Opens a file from file() of another process, or of this one.
  /// size    size() of the pages
  /// errors  System
  static Result<GpuPages> open(const GpuDriver& driver, const UniqueFd& file, Bytes size);
  /// Returns the pages that are mapped at an address of this process.
  /// address  any address within the mapping
  /// size     size() of the pages
  /// errors   System: no pages are mapped there
  static Result<GpuPages> at(const GpuDriver& driver, std::byte* address, Bytes size);

  /// Returns a file, close-on-exec, that other processes open() by.
  /// errors  System
  [[nodiscard]] Result<UniqueFd> file() const;

  [[nodiscard]] CUmemGenericAllocationHandle handle() const { return handle_; }
  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] const GpuDriver& driver() const { return *driver_; }

 private:
  const GpuDriver* driver_;  ///< null: moved from
  CUmemGenericAllocationHandle handle_;
  Bytes size_;
};

/// Addresses of this process at which pages are mapped, for one device.
///
/// Ownership  keeps the pages
class MappedGpuPages {
 public:
  /// errors  System
  static Result<MappedGpuPages> map(GpuPages pages, int device);
  MappedGpuPages(MappedGpuPages&& other) noexcept
      : pages_(std::move(other.pages_)), data_(std::exchange(other.data_, nullptr)) {}
  MappedGpuPages& operator=(MappedGpuPages&& other) noexcept {
    std::swap(pages_, other.pages_);
    std::swap(data_, other.data_);
    return *this;
  }
  MappedGpuPages(const MappedGpuPages&) = delete;
  MappedGpuPages& operator=(const MappedGpuPages&) = delete;
  ~MappedGpuPages();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] const GpuPages& pages() const { return pages_; }

 private:
  MappedGpuPages(GpuPages pages, std::byte* data) : pages_(std::move(pages)), data_(data) {}
  GpuPages pages_;
  std::byte* data_;
};

}  // namespace ringside
