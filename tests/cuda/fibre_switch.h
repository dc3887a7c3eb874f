#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace ringside {

/// Replaces an NVSwitch: ranges of addresses that represent several copies of some memory. Only a FibreMachine that
/// asks for the copies can load or store there.
///
/// Threads  any
class FibreSwitch {
 public:
  /// Reserves a range of addresses for the copies.
  ///
  /// copies   of equal size; they must live as long as the process's fibres
  /// bound    counts the members that are ready: no member asks for places before all are. Null: all are ready
  /// returns  the begin of the range
  /// errors   System: no addresses
  static Result<std::byte*> join(const std::vector<std::byte*>& copies, std::size_t bytes,
                                 std::uint32_t* bound = nullptr);

  /// Returns the place of `at` in each copy.
  ///
  /// shape  `at` is in a range that join() returned
  static std::vector<std::byte*> places(const std::byte* at);
};

}  // namespace ringside
