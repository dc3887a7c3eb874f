#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// What is decided for where nobody names a release.
inline constexpr std::string_view kNewestRelease = "2.30";

/// The described minor releases, newest first: "2.30", "2.29", ... They are those that have a file.
std::span<const std::string> release_versions();

/// The patch releases that have a file of their own, newest first: "2.29.3", ...
std::span<const std::string> release_patches();

}  // namespace ringside
