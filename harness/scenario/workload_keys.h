#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "harness/scenario/workload.h"

namespace ringside::workload {

/// Reads and checks the values of a workload's keys.
class Keys {
 public:
  Keys(const WorkloadKeys& keys, BadKey bad) : keys_(keys), bad_(std::move(bad)) {}

  /// errors  InvalidArgument: a key is not among `known`; the message suggests the nearest one
  [[nodiscard]] Status check(std::span<const std::string_view> known) const;

  /// errors  InvalidArgument: one of the keys is given, but is redundant or has no effect
  [[nodiscard]] Status lacks(std::span<const std::string_view> keys, const std::string& help) const;

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// usual  default; none: the key is required
  /// errors  InvalidArgument: the key is missing or its value is not valid; this also holds for the next three
  ///         functions
  [[nodiscard]] Result<int> whole(std::string_view key, std::optional<int> usual, int least,
                                  int most) const;
  [[nodiscard]] Result<double> number(std::string_view key, std::optional<double> usual,
                                      double least, double most) const;
  [[nodiscard]] Result<bool> yes(std::string_view key, bool usual) const;
  [[nodiscard]] Result<DataType> type(std::string_view key, DataType usual) const;

  /// Returns an error about one key, or about the whole workload (empty key).
  [[nodiscard]] Error bad(std::string_view key, const std::string& what,
                          const std::string& help) const {
    return bad_(key, what, help);
  }
  /// Returns an error about the key's value, or about its absence.
  [[nodiscard]] Error bad_value(std::string_view key, const std::string& help) const;

 private:
  const WorkloadKeys& keys_;
  const BadKey bad_;
};

}  // namespace ringside::workload
