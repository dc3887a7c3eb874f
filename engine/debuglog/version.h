#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside {

/// A release of NCCL 2, by which the text of its debug log differs.
struct NcclVersion {
  int minor = 31;
  int patch = 2;

  [[nodiscard]] bool is_before(int other) const { return minor < other; }
  [[nodiscard]] bool is_from(int other) const { return minor >= other; }
  friend bool operator==(NcclVersion, NcclVersion) = default;
};

/// Releases whose lines are known: 2.7 .. 2.31. One that is described since (engine/releases) writes as the newest of them.
inline constexpr int kOldestLogMinor = 7, kNewestLogMinor = 31;

/// "2.21.5", or "2.21" for the newest patch of that minor; "+cuda12.4" behind it counts for nothing.
/// errors  InvalidArgument: not such a text, or a release whose lines are not known; NotFound: a patch newer than all that
///         are described of its minor, as load_release() has it
Result<NcclVersion> parse_nccl_version(std::string_view text);

std::string to_string(NcclVersion version);  ///< "2.21.5"

/// What NCCL sends of itself to other ranks.
/// returns  22105 for 2.21.5; before 2.9: 2708 for 2.7.8
int version_code(NcclVersion version);

/// CUDA that a release was first packaged with.
struct CudaVersion {
  int major = 12, minor = 4;
};
CudaVersion cuda_of(NcclVersion version);

}  // namespace ringside
