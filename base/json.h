#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ringside {

/// JSON whose keys keep the order in which they were added. Only .cpp files include the full
/// header.
using Json = nlohmann::ordered_json;

/// Writes one document on its own lines, indented by two; doubles keep all significant digits.
std::string to_text(const Json& document);

/// Returns `text` as a JSON string with quotes; invalid UTF-8 becomes U+FFFD.
std::string quoted_json(const std::string& text);

}  // namespace ringside
