#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace ringside {

void assertion_failed(const char* condition, const char* file, int line, const std::string& text) {
  fmt::print(stderr, "ringside: broken invariant at {}:{}: {}: {}\n", file, line, condition, text);
  std::abort();
}

}  // namespace ringside
