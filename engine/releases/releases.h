#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// The release that TopologyRules{}, ChannelRules{} and the one file without a base describe. Library functions that
/// take a release assume this one, as a default-constructed struct of rules does.
inline constexpr std::string_view kBaseRelease = "2.30";

/// What ringside decides as where the user names no release: the newest that is held against NCCL's own answers.
inline constexpr std::string_view kDefaultRelease = "2.31";

/// The described minor releases, newest first: "2.30", "2.29", ... They are those that have a file.
std::span<const std::string> release_versions();

/// The patch releases that have a file of their own, newest first: "2.29.3", ...
std::span<const std::string> release_patches();

/// The newest patch of a minor release, as its file has it: "2.21.5" for "2.21".
/// version  one of release_versions()
std::string newest_patch(std::string_view version);

/// Why the decisions of a release may be wrong; empty for one that is held against NCCL's own answers or source.
/// version  as load_release(); one that is not described has no caveat
std::string release_caveat(std::string_view version);

/// The described release that decides like NCCL 2.`minor`.`patch`: that one, or the nearest where it is older or newer
/// than all.
/// patch    none: the newest of its minor
/// returns  as load_release() takes it: "2.21.5", or "2.21" for the newest patch
std::string nearest_release(int minor, std::optional<int> patch = {});

}  // namespace ringside
