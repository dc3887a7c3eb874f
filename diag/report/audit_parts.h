#pragma once

#include <string>
#include <vector>

#include "diag/audit/audit.h"

/// The parts that the text report and the HTML page of an audit share.
namespace ringside::audit {

/// A line of the report's head.
struct HeadField {
  std::string name;  ///< "job"
  std::string text;
};

/// Returns the head of a report: logs, damaged lines, ranks and hosts, checks of NCCL's diagnostics that passed, transports,
/// networks, channels, measurements. Fields without a text are omitted.
std::vector<HeadField> head_of(const Audit& audit);

/// Returns the number of findings by severity: "2 errors, 1 warning, 0 notes".
std::string counts_text(const std::vector<Finding>& findings);

/// Returns the number of findings in the chain of causes of this finding; 0 for a first cause.
int depth_of(const std::vector<Finding>& findings, std::size_t index);

/// Returns the file name without folders, and the line; only the line if the audit has a single file.
std::string short_place(const Audit& audit, logs::Place place);

/// Returns the inputs that could not be read, one text for each reason, because a folder may have thousands of broken
/// files: "a.log, b.log: gzip data ends early".
std::vector<std::string> unread_inputs(const Audit& audit);

}  // namespace ringside::audit
