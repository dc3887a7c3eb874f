#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside {

/// One mapping of a YAML document, read key by key. Each reader checks that the key exists and that its value is
/// valid. For sources of readers only: no installed header includes it.
///
/// errors  Corrupt, as `where:line: what`, with the fix; YAML::Exception may be thrown, and the caller of the parser
///         converts it
class YamlMapping {
 public:
  YamlMapping(YAML::Node node, std::string where)
      : node_(std::move(node)), where_(std::move(where)) {}

  /// errors  Corrupt: not a mapping, a repeated key, or a key that is not in `known`
  [[nodiscard]] Status check(std::span<const std::string_view> known) const;

  [[nodiscard]] bool has(const char* key) const { return static_cast<bool>(node_[key]); }
  [[nodiscard]] Result<YAML::Node> find(const char* key, const char* example) const;
  [[nodiscard]] Result<std::string> word(const char* key, const char* example) const;
  [[nodiscard]] Result<int> whole(const char* key, int least, int most, const char* example) const;

  /// Returns a value with its unit, by parse_bandwidth() or parse_time().
  /// errors  as the class; those of `parse`
  template <typename T>
  [[nodiscard]] Result<T> quantity(const char* key, const char* example,
                                   Result<T> (*parse)(std::string_view)) const {
    RINGSIDE_TRY(const std::string text, word(key, example));
    auto value = parse(text);
    if (!value) {
      return bad(node_[key], fmt::format("{}: {}", key, value.error().message), value.error().help);
    }
    return *value;
  }

  [[nodiscard]] Result<YamlMapping> child(const char* key, const char* example,
                                          std::span<const std::string_view> known) const;

  [[nodiscard]] const YAML::Node& node() const { return node_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  /// Returns an Error that points at the line of `at`.
  [[nodiscard]] Error bad(const YAML::Node& at, const std::string& what,
                          const std::string& help) const;

 private:
  YAML::Node node_;
  std::string where_;
};

/// Checks the keys of a document, and the first of them: `ringside: <version>`. For a file of another kind, the error
/// names the kind instead of unknown keys.
/// errors  Corrupt: as YamlMapping::check(); `ringside` is missing, or has another version
Status check_yaml_document(const YamlMapping& root, const std::string& version,
                           const std::string& what, std::span<const std::string_view> known);

/// Returns the document of a text.
/// errors  Corrupt: a second document, which would be ignored. As YamlMapping
Result<YAML::Node> load_yaml_document(const std::string& text, const std::string& where);

/// Returns the Error for an exception of yaml-cpp.
Error yaml_error(const YAML::Exception& exception, const std::string& where);

}  // namespace ringside
