#pragma once

#include <yaml-cpp/yaml.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ringside {

/// Reads the keys of one mapping of a release's file into fields whose default values are those of another release.
/// The readers return nothing: finish() returns the first error. It also finds keys that no reader asked for, so that
/// a misspelt key in a file is never ignored.
class YamlKeys {
 public:
  /// The meaning of an absent key.
  enum class Absent : std::uint8_t {
    Error,  ///< finish() returns an error
    Kept,   ///< the field keeps its value; the whole mapping may be absent, too
  };
  YamlKeys(YAML::Node node, std::string where, Absent absent = Absent::Error)
      : node_(std::move(node)), where_(std::move(where)), absent_(absent) {}

  /// Returns the value of `key` for another reader; an undefined node if it is absent.
  YAML::Node take(const std::string& key);

  /// Declares that other code reads `key`, if it is present.
  void skip(const std::string& key) { known_.push_back(key); }

  /// T  a number, a bool, or a std::vector of numbers
  template <typename T>
  void read(const std::string& key, T& value) {
    read_as(key, value, "has a value of another type");
  }
  template <typename Number, std::size_t N>
  void read(const std::string& key, std::array<Number, N>& values) {
    read_as(key, values, "must be a list of " + std::to_string(N) + " numbers");
  }
  /// Reads one of `words` and assigns its index.
  template <typename Word, std::size_t N>
  void read(const std::string& key, const char* const (&words)[N], Word& value) {
    if (const auto index = read_word(key, words)) value = static_cast<Word>(*index);
  }

  /// The place of this mapping, for messages: "nccl-2.27: search".
  [[nodiscard]] const std::string& where() const { return where_; }

  /// errors  Corrupt: not a mapping; a key that was not read, or appears twice; an absent key, unless Absent::Kept; a
  ///         value that does not fit
  [[nodiscard]] Status finish() const;

 private:
  template <typename T>
  void read_as(const std::string& key, T& value, const std::string& mistake) {
    const YAML::Node found = take(key);
    if (!found) return;
    try {
      value = found.as<T>();
    } catch (const YAML::BadConversion&) {
      fail("key '" + key + "' " + mistake);
    }
  }
  std::optional<std::size_t> read_word(const std::string& key, std::span<const char* const> words);
  /// Keeps the first error for finish().
  void fail(const std::string& what);

  YAML::Node node_;
  std::string where_;
  Absent absent_;
  std::vector<std::string> known_;
  std::optional<Error> first_error_;
};

}  // namespace ringside
