#include "base/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "base/temporary.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileHelp = "check the folder and its free space";
constexpr const char* kStdoutHelp = "free space where stdout leads to, or send it elsewhere";

Status write_into(UniqueFd file, std::string_view bytes) {
  RINGSIDE_TRY(write_all(file.get(), std::as_bytes(std::span(bytes))));
  // Network file systems report a full disk on close.
  if (::close(file.release()) != 0) return system_error("close", errno);
  return {};
}

Error stdout_error(int error_number) {
  return system_error("stdout: the answer is lost", error_number, kStdoutHelp);
}

}  // namespace

NewFile::NewFile(const std::string& path, Links links) : path_(path), draft_(path) {
  std::error_code ignored;
  const bool is_link = fs::is_symlink(path, ignored);
  const bool is_replaced = is_link && (links == Links::Replace || is_link_of_another_user(path));
  const fs::file_status before = fs::status(path, ignored);
  const bool is_there = fs::exists(before) && !is_replaced;
  const bool leads_nowhere = !is_there && !is_replaced && is_link;
  is_disposable_ = !is_there && !leads_nowhere;
  if (leads_nowhere || (is_there && !fs::is_regular_file(before))) return;
  // A link is kept: the file that it points to is replaced.
  if (is_there) path_ = fs::canonical(path, ignored).string();
  if (ignored) path_ = path;
  const std::string parent = fs::path(path_).parent_path().string();
  if (::access(parent.empty() ? "." : parent.c_str(), W_OK) != 0) return;
  draft_ = draft_path(path_);
  is_in_place_ = false;
  is_disposable_ = true;
}

NewFile::~NewFile() {
  std::error_code ignored;
  if (is_disposable_ && fs::is_regular_file(draft_, ignored)) fs::remove(draft_, ignored);
}

UniqueFd NewFile::open(int flags) const {
  // O_EXCL: if another process has put a file or link at the draft's path, it is not opened.
  return open_for_writing(draft_, flags | (is_in_place_ ? O_TRUNC : O_EXCL));
}

Status NewFile::keep() {
  is_disposable_ = false;
  if (draft_ == path_) return {};
  struct stat before {};
  // lstat: the target of a link that is replaced does not decide the permissions.
  if (::lstat(path_.c_str(), &before) == 0 && S_ISREG(before.st_mode)) {
    ::chmod(draft_.c_str(), before.st_mode & 07777);
  }
  if (::rename(draft_.c_str(), path_.c_str()) == 0) return {};
  const int why = errno;
  is_disposable_ = true;
  return system_error(path_ + ": cannot be replaced", why, kFileHelp);
}

Status write_file(const std::string& path, std::string_view bytes, NewFile::Links links) {
  NewFile fresh(path, links);
  UniqueFd file = fresh.open();
  if (!file) return system_error(path + ": cannot be written", errno, kFileHelp);
  if (const Status written = write_into(std::move(file), bytes); !written) {
    return Error{ErrorCode::System, path + ": cannot be written: " + written.error().message,
                 kFileHelp};
  }
  return fresh.keep();
}

Result<int> answer_on_stdout(const std::function<Result<int>()>& work) {
  Result<int> status = 0;
  try {
    status = work();
  } catch (const std::system_error& failed) {
    // fmt throws if stdio accepts less than all data.
    if (std::ferror(stdout) == 0) throw;
    return stdout_error(failed.code().value());
  }
  if (!status) return status;
  if (std::fflush(stdout) != 0) return stdout_error(errno);
  if (std::ferror(stdout) == 0) return status;
  return Error{ErrorCode::System, "stdout: a part of the answer is lost", kStdoutHelp};
}

}  // namespace ringside
