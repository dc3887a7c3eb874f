#include "base/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/deadline.h"
#include "base/text.h"

namespace ringside {
namespace {

constexpr Nanoseconds kPipeWait = std::chrono::seconds{5};
constexpr Nanoseconds kPipeLook = std::chrono::milliseconds{50};

/// Opens a pipe and waits for its writer. Only read() shows whether there is one: it returns 0 without a writer, and
/// EAGAIN with a writer that has written nothing yet.
Result<OpenedFile> open_pipe(const std::string& path, Clock& clock) {
  OpenedFile opened;
  opened.fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.fd) return system_error(path, errno, "check that it is readable");
  const Deadline deadline = deadline_in(kPipeWait, clock);
  char block[4096];
  while (!has_passed(deadline)) {
    const ssize_t got = ::read(opened.fd.get(), block, sizeof block);
    if (got > 0) opened.head.assign(block, static_cast<std::size_t>(got));
    if (got > 0 || (got < 0 && errno == EAGAIN)) {
      ::fcntl(opened.fd.get(), F_SETFL, ::fcntl(opened.fd.get(), F_GETFL) & ~O_NONBLOCK);
      return opened;
    }
    if (got < 0 && errno != EINTR) return system_error(path, errno, "check that it is readable");
    clock.sleep(kPipeLook);
  }
  return Error{ErrorCode::NotFound, path + ": a pipe that no program writes to",
               "start the program that writes first, or name its file"};
}

}  // namespace

Result<OpenedFile> open_to_read(const std::string& path, Clock& clock) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode)) return open_pipe(path, clock);
  OpenedFile opened;
  opened.fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (opened.fd) return opened;
  const int why = errno;
  Error error = system_error(path, why);
  if (why == ENOENT) error.code = ErrorCode::NotFound;
  return error;
}

Result<std::string> read_file(const std::string& path, Bytes most) {
  RINGSIDE_TRY(OpenedFile file, open_to_read(path));
  std::string text = std::move(file.head);
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file.fd.get(), buffer, sizeof buffer);
    if (got == 0) return text;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > most.value) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{}: more than {}iB", path, format_bytes(most)),
                   "check that the path is right: no such large file is expected here"};
    }
    if (got >= 0 || errno == EINTR) continue;
    if (errno == EISDIR) {
      return Error{ErrorCode::InvalidArgument, path + " is a folder", "give a file in it"};
    }
    return system_error(path, errno);
  }
}

Result<std::string> read_file(const std::string& path) { return read_file(path, kMostOfAFile); }

}  // namespace ringside
