#pragma once

#include <optional>
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

/// The newest patch of a minor release, as its file has it: "2.21.5" for "2.21".
/// version  one of release_versions()
std::string newest_patch(std::string_view version);

/// The described release that decides like NCCL 2.`minor`.`patch`: that one, or the nearest where it is older or newer
/// than all.
/// patch    none: the newest of its minor
/// returns  as load_release() takes it: "2.21.5", or "2.21" for the newest patch
std::string nearest_release(int minor, std::optional<int> patch = {});

}  // namespace ringside
