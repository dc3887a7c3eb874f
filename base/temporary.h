#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

/// Temporary files and folders. All names are made here: if another user could guess a name, they could create a link
/// there first, to a file that only this user may overwrite.
namespace ringside {

/// A new folder that only this user may enter (mode 0700), in TMPDIR, or in /tmp if TMPDIR is not set. The folder and
/// its files are removed with the object.
class TemporaryFolder {
 public:
  /// purpose  a word that becomes part of the folder's name, for users who see it
  /// errors   System: names the folder, and TMPDIR
  static Result<TemporaryFolder> make(std::string_view purpose);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  ///< empty: moved from
};

/// Returns a random name in the folder of `path`, for a file that is renamed to `path` when complete; it ends in
/// ".part". Open it with O_EXCL.
std::string draft_path(const std::string& path);

}  // namespace ringside
