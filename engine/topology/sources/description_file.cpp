#include "engine/topology/sources/description_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/text.h"

namespace ringside {

Result<std::string> read_description(const std::string& path, Bytes most) {
  const auto failed = [&path](int why) {
    if (why == EISDIR) {
      return Error{ErrorCode::InvalidArgument, path + " is a folder", "give a file in it"};
    }
    Error error = system_error(path, why);
    if (why == ENOENT) error.code = ErrorCode::NotFound;
    return error;
  };
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (file == nullptr) return failed(errno);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get());
    text.append(buffer, got);
    if (text.size() > most.value) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{}: more than {}iB", path, format_bytes(most)),
                   "no description is that long: is it the file that was meant?"};
    }
    if (got == sizeof buffer) continue;
    if (std::ferror(file.get()) != 0) return failed(errno);
    break;
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace ringside
