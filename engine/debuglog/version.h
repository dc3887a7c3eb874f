#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside {

/// A release of NCCL 2, which determines the wording of the debug log.
struct NcclVersion {
  int minor = 31;
  int patch = 2;

  [[nodiscard]] bool is_before(int other) const { return minor < other; }
  [[nodiscard]] bool is_from(int other) const { return minor >= other; }
  friend bool operator==(NcclVersion, NcclVersion) = default;
};

/// Releases whose lines are known: 2.7 .. 2.31. A newer release that is described (engine/releases) logs like the
/// newest of them.
inline constexpr int kOldestLogMinor = 7, kNewestLogMinor = 31;

/// "2.21.5", or "2.21" for the newest patch of that minor; a suffix "+cuda12.4" is ignored.
/// errors  InvalidArgument: not a version, or a release whose lines are not known; NotFound: a patch newer than all
///         described ones of its minor, as in load_release()
Result<NcclVersion> parse_nccl_version(std::string_view text);

std::string to_string(NcclVersion version);  ///< "2.21.5"

/// Returns the version number that NCCL sends to other ranks.
/// returns  22105 for 2.21.5; before 2.9: 2708 for 2.7.8
int version_code(NcclVersion version);

/// A CUDA version.
struct CudaVersion {
  int major = 12, minor = 4;
};

/// Returns a CUDA version that NVIDIA built the release with. Generated logs name it as `+cuda12.4` and as the driver's
/// version.
CudaVersion cuda_of(NcclVersion version);

}  // namespace ringside
