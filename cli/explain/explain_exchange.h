#pragma once

#include <string>

#include "base/json.h"
#include "study/explain/exchange.h"

namespace ringside::cli {

/// Returns text for people, at most 100 columns wide.
/// on  the hosts, as the user wrote them
std::string exchange_text(const study::ExchangeExplanation& exchange, const std::string& on);

/// Returns a "ringside.explain/1" document with `exchange` instead of a table and choices.
Json exchange_document(const study::ExchangeExplanation& exchange);

}  // namespace ringside::cli
