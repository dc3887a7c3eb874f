#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace ringside {

/// Replaces an NVSwitch: ranges of addresses at which several copies of some memory are one. Only
/// a FibreMachine that asks for the copies can load or store there.
///
/// Threads  any
class FibreSwitch {
 public:
  /// copies   each of so many bytes; they outlive the process's fibres
  /// bound    how many members are ready: no member asks for places before all are. Null: they are
  /// returns  where all of them are one
  /// errors   System: no addresses
  static Result<std::byte*> join(const std::vector<std::byte*>& copies, std::size_t bytes,
                                 std::uint32_t* bound = nullptr);

  /// The place of `at` in each copy.
  /// shape  join() has given it
  static std::vector<std::byte*> places(const std::byte* at);
};

}  // namespace ringside
