#include "engine/flight/dump_file.h"

#include <fmt/format.h>

#include "base/write_file.h"

namespace ringside {

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
  // Other users know the names of dumps and can write to their folders, so links are not followed.
  const Status written = write_file(path, text, NewFile::Links::Replace);
  if (written) return path;
  const std::string other = spare + "/" + path.substr(path.rfind('/') + 1);
  if (write_file(other, text, NewFile::Links::Replace)) return other;
  return written.error();
}

}  // namespace ringside
