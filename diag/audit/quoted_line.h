#pragma once

#include "diag/audit/evidence.h"

namespace ringside::audit {

/// Returns the record's line as a quote; its `process` is the record's speaker.
inline QuotedLine quoted_line(const logs::Record& record) {
  return {record.place, record.speaker, quotable(record.line)};
}

}  // namespace ringside::audit
