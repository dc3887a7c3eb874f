#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside {

/// A file that takes its name only when it is complete: an older one of that name stays until then, and after a failure.
/// Pipes, devices and files in folders that allow no new file are written in place.
class NewFile {
 public:
  /// The treatment of a symbolic link of this user at the file's path: the file that it points to is written, or the
  /// link itself is replaced. A link of another user is always replaced.
  enum class Links { Follow, Replace };

  explicit NewFile(const std::string& path, Links links = Links::Follow);
  ~NewFile();  ///< removes a draft that was not kept
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Returns the descriptor to write to until keep().
  [[nodiscard]] const std::string& draft() const { return draft_; }

  /// errors  System: the draft cannot take its name
  Status keep();

 private:
  std::string path_;
  std::string draft_;
  bool is_disposable_ = true;  ///< the draft is a new file, which the destructor may remove
};

/// Makes or replaces the file, as NewFile does.
/// errors  System, with the path: no such folder, no permission, a full disk
Status write_file(const std::string& path, std::string_view bytes,
                  NewFile::Links links = NewFile::Links::Follow);

/// Runs what prints an answer, then writes what stdout still buffers. Every process that prints does its work in here:
/// an answer that could not be written completely is a failure, whatever the result of the work.
/// returns  the result of `work`
/// errors   of `work`; System: some of the answer could not be written
Result<int> answer_on_stdout(const std::function<Result<int>()>& work);

}  // namespace ringside
