#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_parts.h"
#include "base/wording.h"  // every rule counts and lists
#include "diag/audit/facts.h"
#include "diag/audit/finding.h"

namespace ringside::audit {

class HangView;

/// Collects the findings of the rules. Rules run in the order of rules.def, causes first, and may read the findings of
/// earlier rules.
class Findings {
 public:
  explicit Findings(const JobFacts& facts);
  ~Findings();
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  /// Adds a finding and returns it, so that the rule fills in the other fields.
  /// Ownership  the reference is valid until the next add()
  Finding& add(std::string_view id, Severity severity, std::string title);
  /// Adds a finding with the evidence, ranks and hosts of `gathered`.
  Finding& add(std::string_view id, Severity severity, std::string title, const Finding& gathered);
  Finding& add(std::string_view id, Severity severity, std::string title, Evidence evidence);
  /// Adds a finding and quotes these lines, as quote() does.
  Finding& add(std::string_view id, Severity severity, std::string title,
               const MessageLines& lines);
  Finding& add(std::string_view id, Severity severity, std::string title, const SaidBy& said);

  /// Returns the most severe finding with this id, or nullptr.
  [[nodiscard]] const Finding* find(std::string_view id) const;
  /// Returns whether there is a finding with this id, of this severity or worse.
  [[nodiscard]] bool has(std::string_view id, Severity at_least = Severity::Info) const;
  /// Returns whether there is a finding of this severity or worse whose id is not in `besides`.
  [[nodiscard]] bool has_any(Severity at_least,
                             std::initializer_list<std::string_view> besides = {}) const;

  /// Adds the ranks and hosts of processes to a finding, as far as they are known; sorts them.
  void add_processes(Finding& finding, std::span<const std::uint32_t> processes) const;
  /// Adds the lines to the finding's evidence, and the ranks and hosts of the processes that wrote them.
  void quote(Finding& finding, const MessageLines& lines) const;
  void quote(Finding& finding, const SaidBy& said) const;
  /// Quotes only the kept lines for which `picks` returns true.
  template <typename Predicate>
  void quote(Finding& finding, const MessageLines& lines, Predicate picks) const;

  [[nodiscard]] std::vector<Finding>& all() { return all_; }
  [[nodiscard]] const JobFacts& facts() const { return facts_; }

  /// Returns hangdetect's conclusions about the job, computed on the first call.
  [[nodiscard]] const HangView& hang();

 private:
  const JobFacts& facts_;
  std::vector<Finding> all_ = {};
  std::unique_ptr<HangView> hang_;
};

/// Returns the kept lines for which `picks` returns true, as evidence.
template <typename Predicate>
Evidence evidence_of(const MessageLines& lines, Predicate picks) {
  Evidence evidence;
  for (const KeptMessage& message : lines.kept) {
    if (picks(message)) evidence.add(message.quoted());
  }
  return evidence;
}

template <typename Predicate>
void Findings::quote(Finding& finding, const MessageLines& lines, Predicate picks) const {
  finding.evidence.mix(evidence_of(lines, picks));
  std::vector<std::uint32_t> processes;
  for (const KeptMessage& message : lines.kept) {
    if (picks(message)) processes.push_back(message.process());
  }
  add_processes(finding, processes);
}

/// Returns an address with its host, `node-c (10.0.1.13)`, if a process reports the address as its own; otherwise only
/// the address.
/// address  with or without the port: `10.0.1.13<52332>`
std::string named_address(const JobFacts& facts, std::string_view address);

/// Returns ranks in short form: `rank 3`, `ranks 0-3,7`.
std::string named_ranks(std::span<const int> ranks);

}  // namespace ringside::audit
