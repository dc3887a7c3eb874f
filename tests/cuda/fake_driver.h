#pragma once

#include <string>

#include "engine/cuda/gpu/gpu_multicast.h"

namespace ringside {

/// Replaces a driver's cuMem: pages are files in memory, and addresses are of hosts, so that what lies there can be
/// read and written; what is stored through a multicast object goes nowhere else. One at a time. Without a GPU.
class FakeDriver {
 public:
  /// fails  the function that says so from now on; empty: none
  explicit FakeDriver(std::string fails = {});
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;
  ~FakeDriver();

  [[nodiscard]] const GpuDriver& functions() const;
  [[nodiscard]] const GpuMulticastDriver& multicast_functions() const;

  static constexpr std::size_t kGranularity = 1 << 16;
  static constexpr std::size_t kMulticastGranularity = 1 << 17;

  /// The current numbers of references to pages, of reserved addresses, and of those addresses that have pages mapped.
  [[nodiscard]] int handles() const;
  [[nodiscard]] int reserved() const;
  [[nodiscard]] int mapped() const;
  /// Shares that are bound to multicast objects.
  [[nodiscard]] int bound() const;
};

}  // namespace ringside
