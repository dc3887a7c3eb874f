#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/suggest.h"

namespace ringside {

/// Reads a mapping and checks that every key is known and appears exactly once.
class YamlKeys {
 public:
  /// The meaning of an absent key.
  enum class Absent : std::uint8_t {
    Error,  ///< finish() says so
    Kept,   ///< the value stays; the whole mapping may be absent, too
  };
  YamlKeys(YAML::Node node, std::string where, Absent absent = Absent::Error)
      : node_(std::move(node)), where_(std::move(where)), absent_(absent) {}

  YAML::Node take(const std::string& key) {
    taken_.push_back(key);
    if (!node_.IsDefined() || !node_.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
    YAML::Node found = node_[key];
    if (!found && missing_.empty() && absent_ == Absent::Error) missing_ = key;
    return found;
  }
  /// A key that other code reads.
  void skip(const std::string& key) { taken_.push_back(key); }
  void read(const std::string& key, double& value) {
    if (const YAML::Node found = take(key)) value = found.as<double>();
  }
  void read(const std::string& key, float& value) {
    if (const YAML::Node found = take(key)) value = found.as<float>();
  }
  void read(const std::string& key, int& value) {
    if (const YAML::Node found = take(key)) value = found.as<int>();
  }
  template <typename Number>
  void read(const std::string& key, std::vector<Number>& values) {
    if (const YAML::Node found = take(key)) values = found.as<std::vector<Number>>();
  }
  /// Reads one of `words` and returns its index.
  template <typename Word, std::size_t N>
  void read(const std::string& key, const char* const (&words)[N], Word& value) {
    const YAML::Node found = take(key);
    if (!found) return;
    const auto text = found.as<std::string>();
    const auto* const word = std::find(std::begin(words), std::end(words), text);
    if (word == std::end(words)) {
      missing_ = fmt::format("{} (one of {}; it says '{}')", key, fmt::join(words, ", "), text);
      return;
    }
    value = static_cast<Word>(word - std::begin(words));
  }
  void read(const std::string& key, bool& value) {
    if (const YAML::Node found = take(key)) value = found.as<bool>();
  }
  template <typename Number, std::size_t N>
  void read(const std::string& key, std::array<Number, N>& values) {
    const YAML::Node found = take(key);
    if (!found) return;
    if (!found.IsSequence() || found.size() != N) {
      missing_ = fmt::format("{} (of {} numbers)", key, N);
      return;
    }
    for (std::size_t i = 0; i < N; ++i) values[i] = found[i].as<Number>();
  }
  [[nodiscard]] const std::string& where() const { return where_; }

  /// errors  Corrupt: a key that read() required is missing, or has a value that does not fit; a key was never read, or
  ///         is there twice
  [[nodiscard]] Status finish() const {
    if (!node_.IsDefined() && absent_ == Absent::Kept) return {};
    if (!node_.IsDefined() || !node_.IsMap()) {
      return Error{ErrorCode::Corrupt, where_ + ": is not there, or no mapping of keys"};
    }
    std::vector<std::string> seen;
    for (const auto& entry : node_) {
      const auto key = entry.first.as<std::string>();
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        return Error{ErrorCode::Corrupt, fmt::format("{}: key '{}' is there twice", where_, key)};
      }
      seen.push_back(key);
      if (std::find(taken_.begin(), taken_.end(), key) != taken_.end()) continue;
      const std::vector<std::string_view> known(taken_.begin(), taken_.end());
      return Error{ErrorCode::Corrupt, fmt::format("{}: unknown key '{}'", where_, key),
                   suggestion(key, known)};
    }
    if (!missing_.empty()) return Error{ErrorCode::Corrupt, where_ + ": no " + missing_};
    return {};
  }

 private:
  YAML::Node node_;
  std::string where_;
  Absent absent_;
  std::vector<std::string> taken_;
  std::string missing_;
};

}  // namespace ringside
