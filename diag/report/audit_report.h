#pragma once

#include <string>

#include "base/json.h"
#include "diag/audit/audit.h"

/// Formats an audit as text, JSON or HTML. The functions return the text and do not print.
namespace ringside::audit {

/// The layout of text reports.
struct TextStyle {
  int width = 100;  ///< columns; longer lines are cut or wrapped
  bool has_colour = false;
  bool is_verbose = false;  ///< prints notes in full and all kept lines of evidence
};

/// Returns the findings, the worst first and consequences below their causes, with quoted evidence and the fix.
std::string report_text(const Audit& audit, const TextStyle& style);

/// Returns the job's facts: hosts, communicators, transports, rings, versions, variables, timings.
std::string facts_text(const Audit& audit, const TextStyle& style);

/// Returns a matrix of the transports from each rank (row) to each rank (column) of the largest communicator. If it is
/// wider than the style's width, rows and columns are hosts.
std::string matrix_text(const Audit& audit, const TextStyle& style);

/// Returns the page of docs/findings on a finding; for the id `all` the list of findings.
/// errors  InvalidArgument: no finding has that id
Result<std::string> about_text(std::string_view id);

/// Returns the index of these pages, docs/findings/README.md.
std::string findings_index();

/// Returns the lines that the parser did not understand, grouped by shape.
std::string unparsed_text(const Audit& audit, const TextStyle& style);

/// Return the audit or only its facts as JSON.
/// schema  ringside.audit/1: findings, facts, files, problems
Json report_json(const Audit& audit);
Json facts_json(const Audit& audit);

/// Returns the report as one HTML page without external files.
std::string report_html(const Audit& audit);

/// Returns the changes between two runs: removed and new findings, versions, variables, transports, channels.
std::string diff_text(const Audit& before, const Audit& after, const TextStyle& style);
/// Returns the same changes as JSON.
/// schema  ringside.audit-diff/1
Json diff_json(const Audit& before, const Audit& after);

}  // namespace ringside::audit
