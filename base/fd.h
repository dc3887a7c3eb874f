#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"

namespace ringside {

/// A file descriptor that closes itself. Ownership moves, never copies.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

/// Reads the whole file as text: read_file() of base/read_file.h with its default limit, kMostOfAFile (1 GiB).
/// errors  NotFound: no such file.  InvalidArgument: a folder, or more than 1 GiB.  System: it cannot be read.
Result<std::string> read_file(const std::string& path);

/// Returns whether the path is a symbolic link in a folder where every user may make files, such as /tmp, and belongs
/// neither to this user nor to the folder's owner. It may lead to a file that this user can write and the link's owner
/// cannot. Linux refuses to follow such links in folders with the sticky bit, unless fs.protected_symlinks is 0.
bool is_link_of_another_user(const std::string& path);

/// Opens a file for writing, and makes it if it does not exist. Does not follow a link of another user
/// (is_link_of_another_user()).
/// flags    in addition to O_WRONLY, O_CREAT and O_CLOEXEC, such as O_TRUNC
/// returns  empty on failure, with errno; EACCES: a link of another user
UniqueFd open_for_writing(const std::string& path, int flags);

/// Writes all of `data`, in as many calls as that takes.
/// errors  System: a full disk, a closed pipe. The message names no file: the caller adds it
Status write_all(int fd, std::span<const std::byte> data);

}  // namespace ringside
