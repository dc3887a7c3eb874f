#include "diag/logparse/piece_tags.h"

#include <cstdint>

#include "diag/logparse/cursor.h"
#include "diag/logparse/nccl_prefix.h"
#include "diag/logparse/wrappers.h"

namespace ringside::logs {

std::size_t prefix_without_level(std::string_view text) {
  Cursor cursor(text);
  while (is_host(cursor.peek())) cursor.skip(1);
  std::int32_t number = 0;
  const bool is_prefix = cursor.left() < text.size() && cursor.eat(':') && cursor.number(number) &&
                         cursor.eat(':') && cursor.number(number) && cursor.eat(" [") &&
                         cursor.number(number) && cursor.eat("] ");
  if (!is_prefix) return 0;
  for (const std::string_view level : {"CCL INFO", "CCL WARN", "CCL TRACE"}) {
    if (cursor.rest().find(level) != std::string_view::npos) return 0;
  }
  return text.size() - cursor.left();
}

std::size_t common_tag(std::string_view line, std::string_view next) {
  std::size_t size = strip_wrappers(next, false).size;
  if (size == 0) size = prefix_without_level(next);
  return size > 0 && line.starts_with(next.substr(0, size)) ? size : 0;
}

}  // namespace ringside::logs
