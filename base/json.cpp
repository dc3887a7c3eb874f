#include "base/json.h"

#include <nlohmann/json.hpp>

namespace ringside {

std::string to_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string quoted_json(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ringside
