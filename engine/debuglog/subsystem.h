#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "engine/debuglog/version.h"

namespace ringside {

/// The subsystem of a log line; NCCL_DEBUG_SUBSYS selects which are shown.
enum class Subsystem : std::uint32_t {
  Init = 1U << 0,
  Coll = 1U << 1,
  P2p = 1U << 2,
  Shm = 1U << 3,
  Net = 1U << 4,
  Graph = 1U << 5,
  Tuning = 1U << 6,
  Env = 1U << 7,
  Alloc = 1U << 8,
  Call = 1U << 9,
  Proxy = 1U << 10,
  Nvls = 1U << 11,
  Bootstrap = 1U << 12,
  Reg = 1U << 13,
  Profile = 1U << 14,
  Ras = 1U << 15,
  Destroy = 1U << 16,
};

/// A set of subsystems.
class Subsystems {
 public:
  constexpr Subsystems() = default;
  constexpr Subsystems(Subsystem one)  // NOLINT(google-explicit-constructor): one is a set, too
      : bits_(static_cast<std::uint32_t>(one)) {}

  /// Returns whether the two sets have a common member.
  [[nodiscard]] constexpr bool meets(Subsystems others) const {
    return (bits_ & others.bits_) != 0;
  }
  friend constexpr Subsystems operator|(Subsystems a, Subsystems b) {
    a.bits_ |= b.bits_;
    return a;
  }
  friend constexpr Subsystems operator-(Subsystems a, Subsystems b) {
    a.bits_ &= ~b.bits_;
    return a;
  }
  friend constexpr bool operator==(Subsystems, Subsystems) = default;

 private:
  std::uint32_t bits_ = 0;
};

constexpr Subsystems operator|(Subsystem a, Subsystem b) { return Subsystems{a} | Subsystems{b}; }

/// Returns the subsystems that are shown if NCCL_DEBUG_SUBSYS is not set.
Subsystems default_subsystems(NcclVersion version);

/// Parses NCCL_DEBUG_SUBSYS: "INIT,GRAPH", "ALL", or "^COLL" for all except COLL; any letter case.
/// errors  InvalidArgument: an unknown word (NCCL would ignore it); the error names the closest one
Result<Subsystems> parse_subsystems(std::string_view text);

/// Parses it as NCCL does: unknown words are ignored.
Subsystems known_subsystems(std::string_view text);

}  // namespace ringside
