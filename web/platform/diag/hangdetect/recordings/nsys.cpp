#include "diag/hangdetect/recordings/formats.h"
#include "web/platform/absent.h"

namespace ringside::recordings {

Result<std::vector<Recording>> parse_nsys(std::string_view /*bytes*/) {
  return not_in_browser("a database of nsys export", "only SQLite reads it");
}

Result<std::vector<Recording>> read_nsys(const std::string& path) {
  return not_in_browser(path, "only SQLite reads this database of nsys export");
}

}  // namespace ringside::recordings
