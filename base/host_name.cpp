#include "base/host_name.h"

#include <unistd.h>

#include <array>

namespace ringside {

std::string host_name(const char* otherwise) {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : otherwise;
}

}  // namespace ringside
