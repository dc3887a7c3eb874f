#include "engine/topology/sources/yaml_mapping.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"

namespace ringside {
namespace {

std::string list(std::span<const std::string_view> known) {
  return fmt::format("known keys: {}", fmt::join(known, ", "));
}

std::string place_of(const YAML::Mark& mark, const std::string& where) {
  return mark.is_null() ? where : fmt::format("{}:{}", where, mark.line + 1);
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f;
  });
}

Status check_version(const YamlMapping& root, const std::string& version, const std::string& what) {
  RINGSIDE_TRY(const std::string found, root.word("ringside", version.c_str()));
  if (found == version) return {};
  RINGSIDE_TRY(const YAML::Node at, root.find("ringside", version.c_str()));
  return root.bad(at, fmt::format("'{}' is not a version this build reads", found),
                  fmt::format("{} opens with ringside: {}", what, version));
}

}  // namespace

Status YamlMapping::check(std::span<const std::string_view> known) const {
  if (!node_.IsMap()) return bad(node_, "expected a mapping of keys to values", list(known));
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    if (!entry.first.IsScalar()) return bad(entry.first, "a key must be a word", list(known));
    const std::string& key = entry.first.Scalar();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return bad(entry.first, fmt::format("unknown key '{}'", key), suggestion(key, known));
    }
    if (!seen.insert(key).second) {
      return bad(entry.first, fmt::format("key '{}' appears twice", key), "keep one of them");
    }
  }
  return {};
}

Result<YAML::Node> YamlMapping::find(const char* key, const char* example) const {
  YAML::Node value = node_[key];
  if (!value) {
    return bad(node_, fmt::format("key '{}' is missing", key),
               fmt::format("add {}: {}", key, example));
  }
  return value;
}

Result<std::string> YamlMapping::word(const char* key, const char* example) const {
  RINGSIDE_TRY(const YAML::Node value, find(key, example));
  if (!value.IsScalar() || value.Scalar().empty()) {
    return bad(value, fmt::format("{} must be one word", key), fmt::format("such as {}", example));
  }
  // Control characters would be executed by any terminal that the word is printed to.
  if (has_control_character(value.Scalar())) {
    return bad(value, fmt::format("{} has a control character", key),
               fmt::format("such as {}", example));
  }
  return value.Scalar();
}

Result<int> YamlMapping::whole(const char* key, int least, int most, const char* example) const {
  RINGSIDE_TRY(const YAML::Node value, find(key, example));
  const auto number = parse_int(value.IsScalar() ? value.Scalar() : std::string{});
  if (!number || *number < least || *number > most) {
    return bad(value, fmt::format("{} must be a whole number", key),
               fmt::format("give {} to {}", least, most));
  }
  return static_cast<int>(*number);
}

Result<YamlMapping> YamlMapping::child(const char* key, const char* example,
                                       std::span<const std::string_view> known) const {
  RINGSIDE_TRY(YAML::Node value, find(key, example));
  YamlMapping mapping{std::move(value), where_};
  RINGSIDE_TRY(mapping.check(known));
  return mapping;
}

Error YamlMapping::bad(const YAML::Node& at, const std::string& what,
                       const std::string& help) const {
  return Error{ErrorCode::Corrupt, fmt::format("{}: {}", place_of(at.Mark(), where_), what), help};
}

Status check_yaml_document(const YamlMapping& root, const std::string& version,
                           const std::string& what, std::span<const std::string_view> known) {
  if (root.node().IsMap()) {
    // If the file does not declare its type, report that rather than unknown keys.
    if (!root.has("ringside")) {
      return root.bad(root.node(), fmt::format("the line 'ringside: {}' is missing", version),
                      fmt::format("it is the first line of {}", what));
    }
    RINGSIDE_TRY(check_version(root, version, what));
  }
  RINGSIDE_TRY(root.check(known));
  return check_version(root, version, what);
}

Result<YAML::Node> load_yaml_document(const std::string& text, const std::string& where) {
  const std::vector<YAML::Node> documents = YAML::LoadAll(text);
  if (documents.size() < 2) return documents.empty() ? YAML::Node() : documents.front();
  return Error{ErrorCode::Corrupt,
               fmt::format("{}: a second document", place_of(documents[1].Mark(), where)),
               "one file holds one document: take out what follows the line ---"};
}

Error yaml_error(const YAML::Exception& exception, const std::string& where) {
  // The most frequent mistake is a text with a second colon, such as "about: slow: 4 NICs".
  const bool is_colon = exception.msg == YAML::ErrorMsg::MAP_VALUE;
  return Error{ErrorCode::Corrupt,
               fmt::format("{}: {}", place_of(exception.mark, where), exception.msg),
               is_colon ? "a text with \": \" needs quotes, such as about: \"slow: 4 NICs\""
                        : "the file must be one YAML mapping"};
}

}  // namespace ringside
