#include "base/python_string.h"

#include "base/one_line.h"

namespace ringside {

std::string python_string(std::string_view text) {
  std::string literal = "\"";
  for (const char letter : one_line(text)) {
    if (letter == '"' || letter == '\\') literal += '\\';
    literal += letter;
  }
  return literal + '"';
}

}  // namespace ringside
