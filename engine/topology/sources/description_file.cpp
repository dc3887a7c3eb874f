#include "engine/topology/sources/description_file.h"

#include <string_view>

#include "base/read_file.h"

namespace ringside {

Result<std::string> read_description(const std::string& path, Bytes most) {
  RINGSIDE_TRY(std::string text, read_file(path, most));
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace ringside
