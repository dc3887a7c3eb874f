#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/audit.h"
#include "tests/support/paste_variants.h"

/// Audits labelled pastes as they are and in the forms that people give them, and compares with pastes.txt.
namespace ringside::pastes {

enum class Answerable { Yes, Partly, No, Healthy };

/// What a paste's audit must say: a row of pastes.txt.
struct Expectation {
  std::vector<std::string> ids = {};  ///< one of them; of Answerable::No: what may be said
  std::vector<std::vector<std::string>> words = {};  ///< of each, one is said
};

struct Paste {
  std::string id;
  Answerable answerable = Answerable::No;
  Expectation expected = {};
  std::string text = {};
};

/// The labelled pastes with their rows. Throws as shared_folder(), and where a label lacks its row.
std::vector<Paste> labelled_pastes();

/// Rows of a file like pastes.txt, by number.
std::map<std::string, Expectation> load_expectations(const std::string& path);

/// Whether an audit says what it must; `why` tells what is wrong where it does not.
bool is_as_expected(const Paste& paste, const audit::Audit& audited, std::string& why);

struct Score {
  int right = 0, all = 0;
  [[nodiscard]] double share() const { return all == 0 ? 1 : static_cast<double>(right) / all; }
};

/// Of one variant, by how far the pastes are answerable.
struct Scores {
  std::map<Answerable, Score> by = {};
  std::vector<std::string> wrong = {};  ///< "48: no finding is gid_index"
};
Scores score(const std::vector<Paste>& pastes, const Variant& variant);

/// A row a variant, as docs/audit-accuracy.md has it; `shows_wrong`: what is not as it must be, below each.
std::string forms_table(const std::vector<Paste>& pastes, bool shows_wrong);

}  // namespace ringside::pastes
