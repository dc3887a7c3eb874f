#include "base/local_time.h"

#include <ctime>
#include <iomanip>
#include <sstream>

namespace ringside {

std::string local_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  std::ostringstream text;
  text << std::put_time(&parts, format);
  return text.str();
}

}  // namespace ringside
