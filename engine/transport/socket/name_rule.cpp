#include "engine/transport/socket/name_rule.h"

#include <algorithm>
#include <charconv>

namespace ringside {
namespace {

NameRule::Name read_name(std::string_view text) {
  NameRule::Name name{std::string(text)};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return name;
  // An interface alias also contains a colon: eth0:backup.
  const char* const end = text.data() + text.size();
  int port = -1;
  const auto read = std::from_chars(text.data() + colon + 1, end, port);
  if (read.ec == std::errc() && read.ptr == end && port >= 0) {
    name.text.resize(colon);
    name.port = port;
  }
  return name;
}

}  // namespace

bool NameRule::fits(std::string_view name, int port) const {
  const bool is_listed = std::ranges::any_of(names, [&](const Name& listed) {
    const bool is_port = listed.port < 0 || port < 0 || listed.port == port;
    return is_port && (is_exact ? name == listed.text : name.starts_with(listed.text));
  });
  return is_listed != is_exclusion;
}

NameRule read_name_rule(std::string_view text) {
  NameRule rule;
  if (text.starts_with('^')) {
    rule.is_exclusion = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('=')) {
    rule.is_exact = true;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) rule.names.push_back(read_name(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return rule;
}

}  // namespace ringside
