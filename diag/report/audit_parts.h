#pragma once

#include <string>
#include <vector>

#include "diag/audit/audit.h"

/// The parts that the text and the page have in common.
namespace ringside::audit {

struct HeadField {
  std::string name;  ///< "job"
  std::string text;
};

/// The job in a few lines: logs, damage, ranks and hosts, transports, networks, channels, what was measured.
std::vector<HeadField> head_of(const Audit& audit);

/// "2 errors, 1 warning, 0 notes"
std::string counts_text(const std::vector<Finding>& findings);

/// How many findings are above this one, each the cause of the next.
int depth_of(const std::vector<Finding>& findings, std::size_t index);

/// The file without its folders, and the line; for a single file only the line, to save room.
std::string short_place(const Audit& audit, logs::Place place);

/// The inputs that could not be read, by reason: a folder may hold thousands of broken files.
/// returns  "a.log, b.log: gzip data ends early"
std::vector<std::string> unread_inputs(const Audit& audit);

}  // namespace ringside::audit
