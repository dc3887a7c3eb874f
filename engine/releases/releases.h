#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// The release that TopologyRules{}, ChannelRules{} and the only file without a base describe. The files of the
/// other releases give differences from a base.
inline constexpr std::string_view kBaseRelease = "2.30";

/// The release that applies if the user names none: the newest whose decisions were compared with NCCL's own.
inline constexpr std::string_view kDefaultRelease = "2.31";

/// Returns the described minor releases, newest first: "2.32", "2.31", ... Each has a file.
std::span<const std::string> release_versions();

/// Returns the patch releases that have their own file, newest first: "2.29.3", ...
std::span<const std::string> release_patches();

/// Returns the newest patch of a minor release, from its file: "2.21.5" for "2.21".
/// version  one of release_versions()
std::string newest_patch(std::string_view version);

/// Returns why the decisions of a release may be wrong; empty if they were compared with NCCL's own answers or source.
/// version  as load_release(); a version that is not described has no caveat
std::string release_caveat(std::string_view version);

/// Returns the described release that decides like NCCL 2.`minor`.`patch`: that one, or the closest if it is older or
/// newer than all.
/// patch    nullopt: the newest of its minor
/// returns  a text for load_release(): "2.21.5", or "2.21" for the newest patch
std::string nearest_release(int minor, std::optional<int> patch = {});

}  // namespace ringside
