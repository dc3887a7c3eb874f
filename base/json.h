#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ringside {

/// JSON whose keys keep the order in which they were added. Only .cpp files include the full
/// header.
using Json = nlohmann::ordered_json;

/// One document on its own lines, indented by two; doubles keep every digit that matters.
std::string to_text(const Json& document);

/// `text` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
std::string quoted_json(const std::string& text);

}  // namespace ringside
