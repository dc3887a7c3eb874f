#include "diag/facts/spec.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "diag/logparse/cursor.h"

namespace ringside::facts {
namespace {

/// Returns the place of the next `end` outside quotation marks.
std::size_t end_of(std::string_view text, char end) {
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\'') is_quoted = !is_quoted;
    if (!is_quoted && text[at] == end) return at;
  }
  return text.size();
}

std::string_view next_word(std::string_view& text, char end) {
  text = logs::trimmed(text);
  const std::size_t at = end_of(text, end);
  const std::string_view word = logs::trimmed(text.substr(0, at));
  text.remove_prefix(std::min(at + 1, text.size()));
  return word;
}

Error bad_spec(std::string message) {
  return {ErrorCode::InvalidArgument, std::move(message),
          "types and fields of facts: diag/facts/schema.h"};
}

/// Checks that the field exists, and that it accepts its value unless the value contains `{}`.
Status check_part(const Spec::Part& part) {
  if (part.type == "keep" || part.type == "forget") return {};
  std::optional<AnyFact> fact = make_fact(part.type);
  if (!fact) return bad_spec("no fact is named '" + std::string(part.type) + "'");
  for (const Spec::Assignment& one : part.assignments) {
    if (one.field == "needs") continue;
    const bool has_field = one.value.find('{') != std::string_view::npos;
    const SetResult result = set_field(*fact, one.field, has_field ? "1" : one.value);
    if (result == SetResult::UnknownField)
      return bad_spec("a " + std::string(part.type) + " has no field '" + std::string(one.field) +
                      "'");
    if (result == SetResult::BadValue && !has_field)
      return bad_spec("'" + std::string(one.value) + "' is no value of '" + std::string(one.field) +
                      "'");
  }
  return {};
}

}  // namespace

bool Spec::Part::has_field(std::string_view name) const {
  return std::any_of(assignments.begin(), assignments.end(),
                     [&](const Assignment& one) { return one.field == name; });
}

Result<Spec> Spec::parse(std::string_view text) {
  Spec spec;
  while (!logs::trimmed(text).empty()) {
    std::string_view rest = next_word(text, ';');
    Part part;
    part.type = next_word(rest, ' ');
    while (!rest.empty()) {
      const std::string_view word = next_word(rest, ' ');
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos)
        return bad_spec("'" + std::string(word) + "' is no field=value");
      std::string_view value = word.substr(equals + 1);
      if (value.size() > 1 && value.front() == '\'' && value.back() == '\'')
        value = value.substr(1, value.size() - 2);
      part.assignments.push_back({word.substr(0, equals), value});
    }
    RINGSIDE_TRY(check_part(part));
    spec.parts_.push_back(std::move(part));
  }
  return spec;
}

std::string filled(std::string_view value, const FieldValue& value_of) {
  std::string text;
  bool has_field = false;
  bool has_value = false;
  while (!value.empty()) {
    const std::size_t open = value.find('{');
    text += value.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = value.find('}', open);
    if (close == std::string_view::npos) return {};
    const std::string_view taken = value_of(value.substr(open + 1, close - open - 1));
    has_field = true;
    has_value = has_value || !taken.empty();
    text += taken;
    value.remove_prefix(close + 1);
  }
  return has_field && !has_value ? std::string() : text;
}

}  // namespace ringside::facts
