#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diag/audit/audit.h"
#include "tests/diag/outcome.h"
#include "tests/support/paste_variants.h"

/// Logs and pastes for which the correct findings of an audit are known. Only tests read the labels.
namespace ringside::audit {

/// A finding that is expected.
struct Wanted {
  std::vector<std::string> ids = {};  ///< ids or families, of which one must match; empty: any id
  Severity at_least = Severity::Warning;
  /// Of each list, at least one entry must be in the title, cause, fix, ranks or hosts. Case does not count.
  std::vector<std::vector<std::string>> said = {};
  /// Like `said`, but regular expressions, all of which must match.
  std::vector<std::string> said_patterns = {};
  std::vector<std::string> not_in_fix = {};  ///< advice that would be wrong
  /// One of these must be in a quoted line (in the title, if no line is quoted); empty: any line.
  std::vector<std::string> quoted = {};
  /// One of these line numbers must be quoted; empty: any line.
  std::set<std::uint64_t> quoted_lines = {};
};

struct LabelledLog {
  std::string id = {};
  std::string answerable = "yes";  ///< yes, partly, no, healthy
  std::vector<Wanted> wanted = {};
  bool must_be_first = false;  ///< whether a wanted finding must be the first one
  /// A finding with one of these ids or families, at or above the severity, is a false alarm.
  std::map<std::string, Severity> forbidden = {};
  bool forbids_others = false;  ///< so is any other finding that is neither wanted nor allowed,
  Severity others_from = Severity::Warning;  ///< at or above this severity
  std::set<std::string> allowed = {};
  std::string path = {};  ///< of the log; empty: the log is in `text`
  std::string text = {};
};

/// Loads logs that each have a NAME.label.json, by name. Throws if a label is invalid, as the functions below do.
std::vector<LabelledLog> load_corpus_logs(const std::string& folder);
/// Loads texts next to a labels.json whose rows hold the expectations (`keys`), or texts that are in a table of
/// expectations.
std::vector<LabelledLog> load_labelled_pastes(const std::string& folder,
                                              const std::string& expectations);
/// Loads tests/audit/threads: texts and a table of expectations. Throws if a text lacks its row, or a row its text.
std::vector<LabelledLog> load_threads(const std::string& folder, const std::string& expectations);
/// Loads tests/audit/cases: logs and a table whose head describes its grammar. Throws as load_threads() does.
std::vector<LabelledLog> load_audit_cases(const std::string& folder);

/// Returns the log as changed by the variant, with the expectations that it can still meet.
LabelledLog varied(LabelledLog log, const pastes::Variant& variant);

diag::Answer answer_of(const LabelledLog& log);
/// Compares an existing audit in the same way.
diag::Answer compare(const LabelledLog& log, const Audit& audited);

}  // namespace ringside::audit
