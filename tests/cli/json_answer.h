#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ringside {

/// Returns the document that a verb prints with these arguments and --json. The test fails if the program does not
/// succeed.
nlohmann::json json_answer(const std::string& verb, const std::vector<std::string>& words);

}  // namespace ringside
