#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

/// Audits the labelled logs of the corpus and compares with their labels.
namespace ringside::corpus {

/// A labelled finding.
struct Label {
  std::string id;
  std::string severity;
  std::set<std::uint64_t> lines;
};

/// One log of the corpus: what its label says and what the audit found.
struct Sample {
  std::string id, category;
  bool is_real = false, is_healthy = false;
  std::vector<Label> labels = {};
  std::vector<std::string> missed = {};  ///< labelled warn or error, not found at warn or above
  std::vector<std::string> false_alarms = {};  ///< in must_not_report, found at warn or above
  std::vector<std::string> unlabelled = {};    ///< at warn or above, with no label of any severity
  int matched = 0, overlapping = 0;            ///< labels found; and with a line in common
  std::vector<std::string> no_overlap = {};
};

/// Every log of the corpus with a label, in alphabetical order. Throws as shared_folder().
std::vector<Sample> audit_corpus();

/// Found and wanted, of one id or of all.
struct Share {
  int wanted = 0, found = 0;
  [[nodiscard]] double recall() const {
    return wanted == 0 ? 1 : static_cast<double>(found) / wanted;
  }
};

struct Totals {
  Share real, recreated;
  std::map<std::string, Share> by_id = {};
  int false_alarms = 0;  ///< of must_not_report
  int unlabelled_on_healthy = 0;
  int matched = 0, overlapping = 0;
};

Totals totals_of(const std::vector<Sample>& samples);

/// Lines of the stack in logs and pastes that nothing has read.
struct Unread {
  std::uint64_t stack_lines = 0;  ///< all that are the stack's own
  std::uint64_t unread = 0;
  std::map<std::string, std::uint64_t> shapes = {};  ///< numbers replaced by `#`, and how many
  [[nodiscard]] double share() const {
    return stack_lines == 0 ? 0 : static_cast<double>(unread) / static_cast<double>(stack_lines);
  }
};

/// Of the corpus' logs (`logs`) or pastes (`pastes`). Throws as shared_folder().
Unread unread_lines(const std::string& folder);

/// As docs/audit-accuracy.md lists them.
std::string unread_page(const Unread& logs, const Unread& pastes);

/// The page that docs/audit-accuracy.md holds.
std::string accuracy_page(const std::vector<Sample>& samples);

}  // namespace ringside::corpus
