#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

/// Writes a file that appears under its name only when it is complete. Until keep(), an older file of that name stays.
/// Pipes, devices, followed links without a target, and files in folders without write permission are written in place
/// instead.
class NewFile {
 public:
  /// The treatment of a symbolic link of this user at the file's path: the file that it points to is written, or the
  /// link itself is replaced. A link of another user is always replaced.
  enum class Links { Follow, Replace };

  /// Chooses the path to write to; creates nothing.
  explicit NewFile(const std::string& path, Links links = Links::Follow);
  ~NewFile();  ///< removes a draft that was not kept
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Returns the path to write to until keep(). If it differs from the constructor's path, it is a new name: open it
  /// with O_CREAT | O_EXCL. If it is the same, the file is written in place: open it with O_TRUNC.
  [[nodiscard]] const std::string& draft() const { return draft_; }

  /// Opens draft() for writing, as its contract requires. Call it once.
  /// flags    in addition, such as O_APPEND
  /// returns  as open_for_writing()
  [[nodiscard]] UniqueFd open(int flags = 0) const;

  /// Renames the draft to the path, with the older file's permissions; a link that is replaced has none to pass on. Call
  /// it after the last write has succeeded and the file is closed.
  /// errors  System: the rename failed; the older file is still there
  Status keep();

 private:
  std::string path_;
  std::string draft_;
  bool is_in_place_ = true;    ///< draft() is the constructor's path
  bool is_disposable_ = true;  ///< the draft is a new file, which the destructor may remove
};

/// Writes the bytes to the file and replaces an older one, as NewFile does.
/// errors  System, with the path: no such folder, no permission, a full disk
Status write_file(const std::string& path, std::string_view bytes,
                  NewFile::Links links = NewFile::Links::Follow);

/// Runs `work`, which prints to stdout, then flushes stdout. Every process that prints an answer wraps its work in this
/// call: an answer that is not written completely is an error, whatever status `work` returns.
/// returns  the result of `work`
/// errors   as `work`; System: a part of the answer could not be written
Result<int> answer_on_stdout(const std::function<Result<int>()>& work);

}  // namespace ringside
