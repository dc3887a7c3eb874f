#include "base/env.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

#include "base/text.h"

namespace ringside {
namespace {

Error bad_number(const char* name, const std::string& text, bool is_number, std::int64_t least,
                 std::int64_t most) {
  return {ErrorCode::InvalidArgument,
          fmt::format("environment variable {}='{}' {}", name, text,
                      is_number ? "is out of range" : "is not a whole number"),
          fmt::format("give a number from {} to {}, or unset it", least, most)};
}

}  // namespace

std::optional<std::string> env_text(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no setenv here
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

Result<std::optional<std::int64_t>> env_int(const char* name, std::int64_t least,
                                            std::int64_t most) {
  const std::optional<std::string> text = env_text(name);
  if (!text) return std::optional<std::int64_t>{};
  const Result<std::int64_t> value = parse_int(*text);
  if (!value || *value < least || *value > most)
    return bad_number(name, *text, value.has_value(), least, most);
  return std::optional<std::int64_t>(*value);
}

Result<std::optional<std::int64_t>> env_int(const Environment& environment, const char* name,
                                            std::int64_t least, std::int64_t most) {
  const std::optional<std::string> text = environment(name);
  if (!text || text->empty()) return std::optional<std::int64_t>{};
  char* end = nullptr;
  errno = 0;
  const std::int64_t value = std::strtoll(text->c_str(), &end, 0);
  const bool is_number = end != text->c_str() && *end == '\0' && errno == 0;
  if (!is_number || value < least || value > most)
    return bad_number(name, *text, is_number, least, most);
  return std::optional<std::int64_t>(value);
}

}  // namespace ringside
