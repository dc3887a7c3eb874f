#include "base/append.h"

#include <fmt/format.h>

#include <iterator>

namespace ringside {

void append_values(std::string& text, fmt::string_view format, fmt::format_args values) {
  fmt::vformat_to(std::back_inserter(text), format, values);
}

}  // namespace ringside
