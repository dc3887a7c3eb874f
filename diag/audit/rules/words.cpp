#include "diag/audit/rules/words.h"

#include <algorithm>

#include "base/text.h"
#include "diag/audit/findings.h"

namespace ringside::audit {
bool is_memory_refused(std::string_view text) {
  const bool is_refused = contains_any(text, {"Cannot allocate", "RC: -12", "ENOMEM"});
  return is_refused && contains_any(text, {"ibv_reg_", "ibv_create_", "ibv_alloc_",
                                           "register memory", "register MR", "fi_mr_reg"});
}

bool is_port_event(std::string_view text) {
  const std::string low = lower_case(text);
  return contains_any(low, {"port error", "port_err", "port active", "port_active"});
}

std::string_view value_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view value = text.substr(at + key.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value.substr(0, value.find_first_of(", "));
}

}  // namespace ringside::audit
