#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "harness/scenario/workload.h"

namespace ringside::workload {

/// Values of a workload's keys, each checked.
class Keys {
 public:
  Keys(const WorkloadKeys& keys, BadKey bad) : keys_(keys), bad_(std::move(bad)) {}

  /// errors  InvalidArgument: a key that is not among `known`; the nearest is named
  [[nodiscard]] Status check(std::span<const std::string_view> known) const;

  /// errors  InvalidArgument: one of the keys is given, though it is redundant or has no effect
  [[nodiscard]] Status lacks(std::span<const std::string_view> keys, const std::string& help) const;

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// usual  none: the key is needed
  [[nodiscard]] Result<int> whole(std::string_view key, std::optional<int> usual, int least,
                                  int most) const;
  [[nodiscard]] Result<double> number(std::string_view key, std::optional<double> usual,
                                      double least, double most) const;
  [[nodiscard]] Result<bool> yes(std::string_view key, bool usual) const;
  [[nodiscard]] Result<DataType> type(std::string_view key, DataType usual) const;

  /// Of one key, or of the whole (an empty one).
  [[nodiscard]] Error bad(std::string_view key, const std::string& what,
                          const std::string& help) const {
    return bad_(key, what, help);
  }
  /// The key's value, or that there is none.
  [[nodiscard]] Error bad_value(std::string_view key, const std::string& help) const;

 private:
  const WorkloadKeys& keys_;
  const BadKey bad_;
};

}  // namespace ringside::workload
