#include "harness/scenario/workload_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/suggest.h"
#include "base/text.h"

namespace ringside::workload {

Status Keys::check(std::span<const std::string_view> known) const {
  for (const auto& [key, value] : keys_) {
    if (std::ranges::find(known, key) == known.end()) {
      return bad(key, fmt::format("unknown key '{}'", key), suggestion(key, known));
    }
  }
  return {};
}

Status Keys::lacks(std::span<const std::string_view> keys, const std::string& help) const {
  for (const std::string_view key : keys) {
    if (has(key)) return bad_value(key, help);
  }
  return {};
}

const std::string* Keys::find(std::string_view key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : &found->second;
}

Result<int> Keys::whole(std::string_view key, std::optional<int> usual, int least, int most) const {
  const std::string* const text = find(key);
  if (text == nullptr && usual) return *usual;
  const auto value = parse_int(text == nullptr ? std::string_view{} : *text);
  if (value && *value >= least && *value <= most) return static_cast<int>(*value);
  return bad_value(key, fmt::format("give {} to {}", least, most));
}

Result<double> Keys::number(std::string_view key, std::optional<double> usual, double least,
                            double most) const {
  const std::string* const text = find(key);
  if (text == nullptr && usual) return *usual;
  double value = 0;
  if (text != nullptr) {
    const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (failed == std::errc{} && end == text->data() + text->size() && value >= least &&
        value <= most) {
      return value;
    }
  }
  return bad_value(key, fmt::format("give {:g} to {:g}", least, most));
}

Result<bool> Keys::yes(std::string_view key, bool usual) const {
  const std::string* const text = find(key);
  if (text == nullptr) return usual;
  if (*text == "yes" || *text == "no") return *text == "yes";
  return bad_value(key, "yes or no");
}

Result<DataType> Keys::type(std::string_view key, DataType usual) const {
  const std::string* const text = find(key);
  if (text == nullptr) return usual;
  const auto type = parse_data_type(*text);
  if (!type) return bad(key, type.error().message, type.error().help);
  return *type;
}

Error Keys::bad_value(std::string_view key, const std::string& help) const {
  const std::string* const text = find(key);
  return bad(key,
             text == nullptr ? fmt::format("key '{}' is missing", key)
                             : fmt::format("{}: '{}' cannot be meant", key, *text),
             help);
}

}  // namespace ringside::workload
