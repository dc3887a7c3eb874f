#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "diag/facts/facts.h"
#include "diag/facts/schema.h"
#include "diag/facts/spec.h"
#include "diag/job/process_ranks.h"
#include "diag/logparse/record.h"
#include "diag/logparse/row_matcher.h"
#include "diag/logparse/speakers.h"

namespace ringside::facts {

/// Selects the facts that a FactReader keeps.
enum class Scope : std::uint8_t {
  All,
  /// Deaths, warnings and progress only. Audit reads the other facts from the records into its own tables.
  Failures
};

/// Turns log lines into facts, by the rows of the catalogue.
///
/// A fact that a subject repeats is kept once: a warning counts its lines, progress keeps its first and last line.
///
/// Ordering   take() each log's lines in order; then call settle() once for all readers
/// Ownership  `facts` must outlive the reader
/// Threads    one thread uses a reader
class FactReader {
 public:
  explicit FactReader(Facts& facts, Scope scope = Scope::All) : facts_(facts), scope_(scope) {}

  /// Appends the facts of a line that `speaker` wrote.
  void take(const logs::Record& record, const logs::Speaker& speaker);
  /// Returns whether a row matched the line of the last take().
  [[nodiscard]] bool knows_line() const { return emitted_ > 0; }

 private:
  struct Known {
    std::size_t index = 0;  ///< index in the list of its type
    std::size_t last = 0;   ///< index of the last line's fact, for progress
  };
  bool is_repeated(const logs::Record& record);
  void find_rows(const logs::Record& record);
  void take_rows(const logs::Record& record, const logs::Speaker& speaker);
  void take_message(const logs::Record& record, const logs::Speaker& speaker);
  void take_identity(const logs::Record& record, const logs::Speaker& speaker);
  void take_step(const logs::Record& record, const logs::Speaker& speaker);
  void take_logged_error(const logs::Record& record, const logs::Speaker& speaker);
  /// The spec that emits a fact.
  struct Emitter {
    std::string_view id, program;
    bool is_general = false;
  };
  void emit(const Spec& spec, const Emitter& by, const logs::Record& record, const Subject& owner,
            const FieldValue& value_of);
  void add(AnyFact fact, const logs::Record& record);

  Facts& facts_;
  const Scope scope_;
  std::unordered_map<std::string, Known> known_;
  /// Hashes of lines without a failure, to skip repeats
  std::unordered_set<std::uint64_t> stated_;
  std::map<std::string, std::string, std::less<>> kept_;  ///< values stored by `keep`
  std::uint32_t kept_lines_ = 0;                          ///< lines since the last `keep`
  bool has_died_ = false;     ///< a row has emitted a death for this line
  bool has_warned_ = false;   ///< a row has emitted a communication warning for it
  bool is_harmless_ = false;  ///< a row marks the line as harmless
  std::size_t emitted_ = 0;
  std::vector<logs::RowMatch> matches_;  ///< rows that match this line
};

/// Returns the file name and the line number, from 1, of a place in the logs.
using WhereFunction = std::function<std::pair<std::string, std::int64_t>(logs::Place)>;

/// Fills in the source files and lines of all facts, and the ranks of their subjects as resolve_ranks() does. Call it
/// once, after the last line.
job::ProcessRanks settle(Facts& facts, const WhereFunction& where, job::ProcessRanks known = {});

/// Appends `more`, the facts of a later part of the input, to `facts`.
void append(Facts& facts, Facts&& more);

/// Returns the settled facts of one text in memory; their sources name it `name`.
Facts facts_of_text(std::string_view text, const std::string& name);

}  // namespace ringside::facts
