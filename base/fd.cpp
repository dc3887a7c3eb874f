#include "base/fd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace ringside {

void UniqueFd::reset(int fd) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

bool is_link_of_another_user(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat above {};
  struct stat link {};
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
  if (::stat(folder.c_str(), &above) != 0) return false;
  const bool is_own = link.st_uid == ::geteuid() || link.st_uid == above.st_uid;
  return (above.st_mode & S_IWOTH) != 0 && !is_own;
}

UniqueFd open_for_writing(const std::string& path, int flags) {
  const int all = flags | O_WRONLY | O_CREAT | O_CLOEXEC;
  UniqueFd file(::open(path.c_str(), all | O_NOFOLLOW, 0666));
  if (file || errno != ELOOP) return file;
  if (is_link_of_another_user(path)) {
    errno = EACCES;
    return {};
  }
  return UniqueFd(::open(path.c_str(), all, 0666));
}

Status write_all(int fd, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t put = ::write(fd, data.data(), data.size());
    if (put >= 0) {
      data = data.subspan(static_cast<std::size_t>(put));
    } else if (errno != EINTR) {
      return system_error("write", errno);
    }
  }
  return {};
}

}  // namespace ringside
