#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ringside {

/// The document that a verb prints with these words and --json. A test fails where it ends otherwise than well.
nlohmann::json json_answer(const std::string& verb, const std::vector<std::string>& words);

}  // namespace ringside
