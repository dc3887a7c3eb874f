#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "diag/audit/finding.h"

/// What numbers and short texts of drivers and libraries mean for a job.
/// source  docs/formats 4.2, 4.3, 8.1
namespace ringside::audit {

/// An adapter's event of a port that went down or came up.
bool is_port_event(std::string_view text);

/// A registration of memory that the kernel refuses for want of it: the limit of locked memory, whoever asks.
bool is_memory_refused(std::string_view text);

/// The value behind a key of a message, up to a comma, a blank or the end: `key` is `local GID ` or `hca `.
/// returns  empty: the key is not there
std::string_view value_behind(std::string_view text, std::string_view key);

}  // namespace ringside::audit
