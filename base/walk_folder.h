#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace ringside {

/// A folder that could not be read completely, and why.
struct UnreadFolder {
  std::string path;
  std::error_code error;
};

/// Visits every entry of the folder and of the folders below it, in no order. Links to folders are not followed.
///
/// visit    returns whether to go into the entry, if it is a folder
/// returns  folders that could not be read completely
std::vector<UnreadFolder> walk_folder(
    const std::string& path,
    const std::function<bool(const std::filesystem::directory_entry&)>& visit);

}  // namespace ringside
