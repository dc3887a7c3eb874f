#include "engine/flight/dump_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <span>

#include "base/fd.h"

namespace ringside {
namespace {

/// A reader that comes meanwhile finds the older file or none, never a part.
Status write_whole(const std::string& path, const std::string& text) {
  const std::string draft = fmt::format("{}.{}.part", path, ::getpid());
  UniqueFd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return system_error(draft, errno);
  Status written = write_all(file.get(), std::as_bytes(std::span(text)));
  if (written && ::close(file.release()) != 0) written = system_error(draft, errno);
  if (written && std::rename(draft.c_str(), path.c_str()) != 0) written = system_error(path, errno);
  if (!written) ::unlink(draft.c_str());
  return written;
}

}  // namespace

std::string dump_path(const FlightSettings& settings, int rank) {
  return fmt::format("{}{}{}", settings.prefix, rank, settings.is_json ? ".json" : "");
}

Result<std::string> write_dump(const FlightDump& dump, const FlightSettings& settings, int rank,
                               const std::string& spare) {
  std::string text;
  if (settings.is_json) {
    append_json(dump, text);
  } else {
    append_pickle(dump, text);
  }
  const std::string path = dump_path(settings, rank);
  const Status written = write_whole(path, text);
  if (written) return path;
  const std::string other = spare + "/" + path.substr(path.rfind('/') + 1);
  if (write_whole(other, text)) return other;
  return written.error();
}

}  // namespace ringside
