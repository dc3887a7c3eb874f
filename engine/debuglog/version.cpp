#include "engine/debuglog/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "engine/releases/releases.h"

namespace ringside {
namespace {

/// Facts of a minor release that its data in engine/releases does not hold.
struct Release {
  int newest_patch;  ///< used only for minors without such data: 2.7 .. 2.17
  CudaVersion cuda;  ///< a CUDA version that NVIDIA built the newest patch with
};

/// By minor version, from kOldestLogMinor on: 2.7.8+cuda10.2, 2.8.4+cuda11.2, 2.9.9+cuda11.3, ...
/// source  release tags of github.com/NVIDIA/nccl; the suffixes of NVIDIA's packages of these releases
constexpr std::array<Release, kNewestLogMinor - kOldestLogMinor + 1> kReleases{{
    {8, {10, 2}},  {4, {11, 2}}, {9, {11, 3}}, {3, {11, 4}}, {4, {11, 5}},
    {12, {11, 6}}, {4, {11, 7}}, {3, {11, 7}}, {5, {11, 8}}, {5, {11, 8}},
    {1, {12, 1}},  {5, {12, 2}}, {4, {12, 3}}, {5, {12, 4}}, {5, {12, 4}},
    {3, {12, 5}},  {4, {12, 6}}, {3, {12, 6}}, {1, {12, 8}}, {6, {12, 8}},
    {7, {12, 9}},  {9, {13, 0}}, {7, {13, 1}}, {7, {13, 1}}, {2, {13, 1}},
}};

const Release& release_of(int minor) {
  return kReleases[static_cast<std::size_t>(std::min(minor, kNewestLogMinor) - kOldestLogMinor)];
}

/// Returns the last number of "2.30" or of "2.30.7".
int last_number(std::string_view version) {
  return static_cast<int>(*parse_int(version.substr(version.rfind('.') + 1)));
}

/// Returns the newest minor that can be logged: a described release beyond kNewestLogMinor logs like that one.
int newest_minor() { return std::max(kNewestLogMinor, last_number(release_versions().front())); }

int newest_patch_of(int minor) {
  const std::string release = fmt::format("2.{}", minor);
  const bool is_described =
      std::ranges::find(release_versions(), release) != release_versions().end();
  return is_described ? last_number(newest_patch(release)) : release_of(minor).newest_patch;
}

Error not_a_version(std::string_view text) {
  return {ErrorCode::InvalidArgument, fmt::format("'{}' is not a version of NCCL", text),
          "such as 2.21.5 or 2.21"};
}

}  // namespace

Result<NcclVersion> parse_nccl_version(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find('+'));
  std::array<int, 3> parts{-1, -1, -1};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < parts.size() && begin <= digits.size(); ++i) {
    const std::size_t end = std::min(digits.find('.', begin), digits.size());
    const Result<std::int64_t> part = parse_int(digits.substr(begin, end - begin));
    if (!part || *part < 0 || *part > 999) return not_a_version(text);
    parts[i] = static_cast<int>(*part);
    begin = end + 1;
  }
  if (begin <= digits.size() || parts[1] < 0) return not_a_version(text);
  if (parts[0] != 2 || parts[1] < kOldestLogMinor || parts[1] > newest_minor()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("the log of NCCL {} is not known", digits),
                 fmt::format("give 2.{} .. 2.{}", kOldestLogMinor, newest_minor())};
  }
  const int newest = newest_patch_of(parts[1]);
  if (parts[2] > newest) {
    return Error{ErrorCode::NotFound, fmt::format("NCCL '{}' is not described", digits),
                 fmt::format("the nearest is 2.{}.{}", parts[1], newest)};
  }
  return NcclVersion{parts[1], parts[2] >= 0 ? parts[2] : newest};
}

std::string to_string(NcclVersion version) {
  return fmt::format("2.{}.{}", version.minor, version.patch);
}

// source  nccl.h, NCCL_VERSION: 10000 x major + 100 x minor + patch from 2.9 on, 1000 x major + ... before
int version_code(NcclVersion version) {
  return version.is_from(9) ? 20000 + version.minor * 100 + version.patch
                            : 2000 + version.minor * 100 + version.patch;
}

CudaVersion cuda_of(NcclVersion version) { return release_of(version.minor).cuda; }

}  // namespace ringside
