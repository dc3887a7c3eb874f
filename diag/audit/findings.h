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

/// The findings so far. A rule may read findings of earlier rules: rules.def has causes first.
class Findings {
 public:
  explicit Findings(const JobFacts& facts);
  ~Findings();
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  /// Adds a finding; the rule fills the rest before the next call.
  Finding& add(std::string_view id, Severity severity, std::string title);
  /// Like add(), with the lines, ranks and hosts that the rule has gathered before.
  Finding& add(std::string_view id, Severity severity, std::string title, const Finding& gathered);
  Finding& add(std::string_view id, Severity severity, std::string title, Evidence evidence);
  /// Like add(), with the lines and processes that quote() names, of a message or of a thing that processes print.
  Finding& add(std::string_view id, Severity severity, std::string title,
               const MessageLines& lines);
  Finding& add(std::string_view id, Severity severity, std::string title, const SaidBy& said);

  /// The gravest finding of that id; nullptr: there is none.
  [[nodiscard]] const Finding* find(std::string_view id) const;
  [[nodiscard]] bool has(std::string_view id, Severity at_least = Severity::Info) const;
  /// Whether there is a finding at least so grave, other than of these ids.
  [[nodiscard]] bool has_any(Severity at_least,
                             std::initializer_list<std::string_view> besides = {}) const;

  /// Names the ranks and hosts of processes in a finding.
  void say_who(Finding& finding, std::span<const std::uint32_t> processes) const;
  /// Like say_who(), for the processes that wrote a message's lines; quotes the lines too.
  void quote(Finding& finding, const MessageLines& lines) const;
  void quote(Finding& finding, const SaidBy& said) const;
  /// Like quote(), for the kept lines that match a predicate.
  template <typename Predicate>
  void quote(Finding& finding, const MessageLines& lines, Predicate picks) const;

  [[nodiscard]] std::vector<Finding>& all() { return all_; }
  [[nodiscard]] const JobFacts& facts() const { return facts_; }

  /// hangdetect's view of the job: computed once, for the first rule that needs it.
  [[nodiscard]] const HangView& hang();

 private:
  const JobFacts& facts_;
  std::vector<Finding> all_ = {};
  std::unique_ptr<HangView> hang_;
};

/// The kept lines that match a predicate, as evidence.
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
  say_who(finding, processes);
}

/// `node-c (10.0.1.13)` where a process has reported the address as its own; otherwise the address.
/// shape  with or without the port: `10.0.1.13<52332>`
std::string named_address(const JobFacts& facts, std::string_view address);

/// `rank 3`, `ranks 0-3,7`
std::string named_ranks(std::span<const int> ranks);

}  // namespace ringside::audit
