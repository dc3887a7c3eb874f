#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/diag/outcome.h"

/// Records how good the answer to every labelled case is, in a file with one row per case against which a change is
/// compared.
namespace ringside::diag {

/// A row of the baseline.
struct Row {
  std::string set = {};         ///< e.g. "corpus/pastes"
  std::string name = {};        ///< of the case
  std::string verb = {};        ///< audit or hang
  std::string answerable = {};  ///< the label's value: yes, partly, no, healthy, not_a_hang
  Outcome outcome = Outcome::Silent;
  std::string verdict = {};
  /// The outcome in each form in which people paste such a text; empty if the case is no paste.
  std::map<std::string, Outcome> forms = {};

  friend bool operator==(const Row&, const Row&) = default;
};

/// A labelled case, and the functions that answer it.
struct BaselineCase {
  Row row = {};  ///< without the answer
  std::function<Answer()> ask = {};
  std::map<std::string, std::function<Answer()>> ask_in_form = {};  ///< by name of the form
};

struct Cases {
  std::vector<BaselineCase> cases;
  std::vector<std::string> absent_sets;  ///< of the shared data, where that is absent
};

/// Loads all labelled sets.
///
/// tests  the folder of the tests
///
/// Throws if a label is invalid.
Cases load_cases(const std::string& tests);

/// Reads a baseline. A row lists only the forms whose outcome differs from that of the original text. Throws if the
/// file cannot be read or a row is invalid.
std::vector<Row> read_baseline(const std::string& path);
std::string write_baseline(const std::vector<Row>& rows);

/// The differences, one line each.
struct Differences {
  std::vector<std::string> worse;   ///< outcomes worse than the file's
  std::vector<std::string> better;  ///< outcomes better than the file's
  std::vector<std::string> other;   ///< outcomes as good, in other words: no failure
  std::vector<std::string> rows;    ///< cases without a row, and rows without a case

  [[nodiscard]] bool is_failure() const {
    return !worse.empty() || !better.empty() || !rows.empty();
  }
};

/// rows of absent sets are not compared
Differences compare(const std::vector<Row>& before, const std::vector<Row>& now,
                    const std::vector<std::string>& absent_sets);

/// Returns a Markdown table: how many cases of each set, by how far they can be answered, are right, fair, silent and
/// wrong.
std::string summary(const std::vector<Row>& rows);

}  // namespace ringside::diag
