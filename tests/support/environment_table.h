#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/env.h"

namespace ringside {

/// Returns an Environment with exactly the variables of the table.
inline Environment environment_of(std::map<std::string, std::string> table) {
  return [table = std::move(table)](const char* name) -> std::optional<std::string> {
    const auto found = table.find(name);
    return found == table.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace ringside
