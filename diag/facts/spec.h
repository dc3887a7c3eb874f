#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diag/facts/schema.h"

namespace ringside::facts {

/// A fact template: the facts that a catalogue row emits when its pattern matches a line. Grammar:
///
///     template = part { ";" part }            part = type { field "=" value }
///
/// `type` is a type of fact (`died`), or `keep` or `forget`: `keep` stores values for the templates of later lines,
/// `forget` drops the stored ones. A value is text in which `{name}` is a field of the matched line; with blanks or `;`
/// it is in single quotation marks: `how='by signal {signal}'`. The pseudo-field `needs={name}` drops the fact when the
/// line has no such field.
///
/// Ownership  the template holds views: the text must outlive it
class Spec {
 public:
  /// Parses a template.
  /// errors  InvalidArgument: a part that is no `field=value`, an unknown type or field, or a value that its field refuses
  static Result<Spec> parse(std::string_view text);

  struct Assignment {
    std::string_view field;
    std::string_view value;  ///< text with `{name}` in it
  };
  struct Part {
    std::string_view type;  ///< a type of fact, `keep` or `forget`
    std::vector<Assignment> assignments;

    [[nodiscard]] bool has_field(std::string_view name) const;
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

/// Returns the value of `{name}` in the matched line; empty if the line has none.
using FieldValue = std::function<std::string_view(std::string_view)>;

/// Returns the text with each `{name}` replaced by its value: `killed by {signal}` becomes `killed by 9`. Returns an
/// empty text if it has placeholders and all of them lack a value.
std::string filled(std::string_view value, const FieldValue& value_of);

}  // namespace ringside::facts
