#pragma once

#include <string>

#include "base/json.h"
#include "study/explain/exchange.h"

namespace ringside::cli {

/// For people, in at most 100 columns.
/// on  the hosts, as the user wrote them
std::string exchange_text(const study::ExchangeExplanation& exchange, const std::string& on);

/// "ringside.explain/1" with `exchange` in place of a table and choices.
Json exchange_document(const study::ExchangeExplanation& exchange);

}  // namespace ringside::cli
