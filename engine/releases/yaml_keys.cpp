#include "engine/releases/yaml_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/suggest.h"

namespace ringside {

YAML::Node YamlKeys::take(const std::string& key) {
  known_.push_back(key);
  if (!node_.IsDefined() || !node_.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  YAML::Node found = node_[key];
  if (!found && absent_ == Absent::Error) fail(fmt::format("key '{}' is missing", key));
  return found;
}

Status YamlKeys::finish() const {
  if (!node_.IsDefined() && absent_ == Absent::Kept) return {};
  if (!node_.IsDefined() || !node_.IsMap()) {
    return Error{ErrorCode::Corrupt, where_ + ": missing, or not a mapping of keys to values"};
  }
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const auto key = entry.first.as<std::string>();
    if (!seen.insert(key).second) {
      return Error{ErrorCode::Corrupt, fmt::format("{}: key '{}' appears twice", where_, key)};
    }
    if (std::ranges::find(known_, key) == known_.end()) {
      const std::vector<std::string_view> known(known_.begin(), known_.end());
      return Error{ErrorCode::Corrupt, fmt::format("{}: unknown key '{}'", where_, key),
                   suggestion(key, known)};
    }
  }
  if (first_error_) return *first_error_;
  return {};
}

std::optional<std::size_t> YamlKeys::read_word(const std::string& key,
                                               std::span<const char* const> words) {
  const YAML::Node found = take(key);
  if (!found) return std::nullopt;
  const std::string text = found.IsScalar() ? found.Scalar() : std::string();
  const auto word = std::ranges::find(words, text);
  if (word == words.end()) {
    fail(fmt::format("key '{}' is '{}', not one of {}", key, text, fmt::join(words, ", ")));
    return std::nullopt;
  }
  return word - words.begin();
}

void YamlKeys::fail(const std::string& what) {
  if (!first_error_) first_error_ = Error{ErrorCode::Corrupt, where_ + ": " + what};
}

}  // namespace ringside
