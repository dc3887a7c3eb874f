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

/// What a reader keeps.
enum class Scope : std::uint8_t {
  All,
  /// Deaths, warnings and progress. Audit takes the rest from the records, with a table for each.
  Failures
};

/// Makes facts of the lines of logs, by the rows of the catalogue.
///
/// If a subject repeats a fact, it is kept once: warnings count their lines, progress keeps its first and its last
/// line.
///
/// Ordering   lines come in the order of their log; then settle(), once for all readers
/// Ownership  the facts must outlive it
/// Threads    one for each reader
class FactReader {
 public:
  explicit FactReader(Facts& facts, Scope scope = Scope::All) : facts_(facts), scope_(scope) {}

  void take(const logs::Record& record, const logs::Speaker& speaker);
  /// Whether a row matches the last line.
  [[nodiscard]] bool knows_line() const { return emitted_ > 0; }

 private:
  struct Known {
    std::size_t index = 0;  ///< in the list of its type
    std::size_t last = 0;   ///< of progress: the fact of the last line
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
  std::unordered_set<std::uint64_t> stated_;              ///< hashes of lines that state no failure
  std::map<std::string, std::string, std::less<>> kept_;  ///< values for the specs of later lines
  std::uint32_t kept_lines_ = 0;                          ///< lines since the newest of them
  bool has_died_ = false;     ///< a row has emitted a death of this line
  bool has_warned_ = false;   ///< or a warning of communication
  bool is_harmless_ = false;  ///< or that the line is harmless
  std::size_t emitted_ = 0;
  std::vector<logs::RowMatch> matches_;  ///< of this line
};

/// File and line of a place in the logs.
using WhereFunction = std::function<std::pair<std::string, std::int64_t>(logs::Place)>;

/// Names the files and lines of all facts, and the ranks of their subjects, as resolve_ranks() does. Call once, at the end.
job::ProcessRanks settle(Facts& facts, const WhereFunction& where, job::ProcessRanks known = {});

/// Appends the facts of a later part of the input.
void append(Facts& facts, Facts&& more);

/// The facts of one text in memory, called `name`.
Facts facts_of_text(std::string_view text, const std::string& name);

}  // namespace ringside::facts
