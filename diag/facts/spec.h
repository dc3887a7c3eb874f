#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/facts/schema.h"

namespace ringside::facts {

/// The facts that a row emits, read from its text: `died cause=signal code={signal} rank={rank}`.
class Spec {
 public:
  /// problem  gets why the text is no spec; empty: it is valid
  static Spec parse(std::string_view text, std::string& problem);

  struct Assignment {
    std::string_view field;
    std::string_view value;  ///< text with `{name}` in it
  };
  struct Part {
    std::string_view type;  ///< of a fact, or `keep`, or `forget`
    std::vector<Assignment> assignments;

    [[nodiscard]] bool has_field(std::string_view name) const;
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

/// The value of `{name}` in a line.  returns  empty: no value
using FieldValue = std::function<std::string_view(std::string_view)>;

/// `killed by {signal}` with its fields in place; empty where it has a field and none of them has a value.
std::string filled(std::string_view value, const FieldValue& value_of);

}  // namespace ringside::facts
