#pragma once

#include <string>

#include "base/json.h"
#include "diag/audit/audit.h"

/// An audit for people and for programs. Nothing here prints.
namespace ringside::audit {

struct TextStyle {
  int width = 100;  ///< columns; lines are cut or wrapped to it
  bool has_colour = false;
  bool is_verbose = false;  ///< notes (info) in full, all kept lines of evidence
};

/// Worst first, consequences under their causes, evidence quoted, the fix as a command.
std::string report_text(const Audit& audit, const TextStyle& style);

/// The job model as text: hosts, communicators, transports, rings, versions, variables, timings.
std::string facts_text(const Audit& audit, const TextStyle& style);

/// Rank by rank, the transport from the row's rank to the column's; of the largest communicator. Ranks beyond
/// the width are folded to hosts.
std::string matrix_text(const Audit& audit, const TextStyle& style);

/// The page of docs/findings on a finding; of `all`, the list of them.
/// errors  InvalidArgument: no finding has that id
Result<std::string> about_text(std::string_view id);

/// The index of these pages, docs/findings/README.md.
std::string findings_index();

/// Lines that the parser did not understand, by shape.
std::string unparsed_text(const Audit& audit, const TextStyle& style);

/// schema  ringside.audit/1: findings, facts, files, problems
Json report_json(const Audit& audit);
Json facts_json(const Audit& audit);

/// The report as one page of HTML without other files.
std::string report_html(const Audit& audit);

/// The changes from one run to the other: findings gone and new, versions, variables, transports, channels.
std::string diff_text(const Audit& before, const Audit& after, const TextStyle& style);
/// schema  ringside.audit-diff/1
Json diff_json(const Audit& before, const Audit& after);

}  // namespace ringside::audit
