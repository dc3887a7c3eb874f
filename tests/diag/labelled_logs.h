#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diag/audit/audit.h"
#include "tests/diag/outcome.h"
#include "tests/support/paste_variants.h"

/// Logs and pastes of which it is known what an audit must find. Only tests read the labels.
namespace ringside::audit {

/// A finding that is expected.
struct Wanted {
  std::vector<std::string> ids = {};  ///< one of them or of their families; none: any id will do
  Severity at_least = Severity::Warning;
  /// Of each list, at least one entry must be in the title, cause, fix, ranks or hosts. Case does not count.
  std::vector<std::vector<std::string>> said = {};
  /// The same, as regular expressions, of which all match
  std::vector<std::string> said_patterns = {};
  std::vector<std::string> not_in_fix = {};  ///< advice that would be wrong
  /// One is in a quoted line (in the title, where no line is quoted); none: any lines will do.
  std::vector<std::string> quoted = {};
  /// One of these line numbers is quoted; none: any will do
  std::set<std::uint64_t> quoted_lines = {};
};

struct LabelledLog {
  std::string id = {};
  std::string answerable = "yes";  ///< yes, partly, no, healthy
  std::vector<Wanted> wanted = {};
  bool must_be_first = false;  ///< what is wanted is the first finding
  /// An id of these or of their families, at or above the severity, is a false alarm.
  std::map<std::string, Severity> forbidden = {};
  bool forbids_others = false;  ///< so is any other that is neither wanted nor allowed,
  Severity others_from = Severity::Warning;  ///< at or above this severity
  std::set<std::string> allowed = {};
  std::string path = {};  ///< of the log; empty: it is in `text`
  std::string text = {};
};

/// Logs with a NAME.label.json each, by name. Throws where a label is broken, as the functions below do.
std::vector<LabelledLog> load_corpus_logs(const std::string& folder);
/// Texts next to a labels.json, whose rows give the expectations (`keys`), or that are in a table of expectations.
std::vector<LabelledLog> load_labelled_pastes(const std::string& folder,
                                              const std::string& expectations);
/// tests/audit/threads: texts and a table of expectations. Throws where a text lacks its row, or a row its text.
std::vector<LabelledLog> load_threads(const std::string& folder, const std::string& expectations);
/// tests/audit/cases: logs and a table whose head is its grammar. Throws as load_threads().
std::vector<LabelledLog> load_audit_cases(const std::string& folder);

/// The text as the variant changes it, and what can still be wanted of it.
LabelledLog varied(LabelledLog log, const pastes::Variant& variant);

diag::Answer answer_of(const LabelledLog& log);
/// The same of an audit that is at hand.
diag::Answer compare(const LabelledLog& log, const Audit& audited);

}  // namespace ringside::audit
