#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace ringside {

void assertion_failed(const char* condition, const char* file, int line, fmt::string_view format,
                      fmt::format_args values) {
  fmt::print(stderr, "ringside: broken invariant at {}:{}: {}: {}\n", file, line, condition,
             fmt::vformat(format, values));
  std::abort();
}

}  // namespace ringside
