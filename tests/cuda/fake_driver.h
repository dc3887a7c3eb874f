#pragma once

#include <string>

#include "engine/cuda/gpu/gpu_multicast.h"

namespace ringside {

/// Replaces a driver's cuMem functions: pages are files in memory, and addresses are host addresses, so that their
/// contents can be read and written; what is stored through a multicast object does not reach the members. Only one at
/// a time. Needs no GPU.
class FakeDriver {
 public:
  /// fails  the name of the function that fails from now on; empty: none
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
  /// Returns how many shares are bound to multicast objects.
  [[nodiscard]] int bound() const;
};

}  // namespace ringside
