#include "diag/hangdetect/readers/paste_text.h"

#include <algorithm>
#include <utility>

#include "diag/logparse/paste.h"

namespace ringside::hang {

std::vector<PasteLine> read_paste(std::string_view text) {
  std::vector<PasteLine> lines;
  bool follows_blank = false;
  for (logs::MendedLine& mended : logs::mend_paste(text)) {
    if (mended.is_gap) {
      follows_blank |= !mended.text.starts_with('.');
      continue;
    }
    std::string& own = mended.text;
    std::replace(own.begin(), own.end(), '\t', ' ');
    own.erase(own.find_last_not_of(' ') + 1);
    own.erase(0, std::min(own.find_first_not_of(' '), own.size()));
    lines.push_back({std::int64_t{mended.number} + 1, follows_blank, std::move(mended.stamp),
                     std::move(own), std::move(mended.host), mended.rank});
    follows_blank = false;
  }
  return lines;
}

bool is_paste(std::string_view text) {
  return !logs::is_as_written(text) && !text.starts_with("\x1f\x8b") &&
         !text.starts_with("\x28\xb5\x2f\xfd") && text.find('\0') == std::string_view::npos;
}

}  // namespace ringside::hang
