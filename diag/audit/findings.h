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

/// What the rules have found so far. A rule may look at what others found: rules.def has causes first.
class Findings {
 public:
  explicit Findings(const JobFacts& facts);
  ~Findings();
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  /// A new finding; the rule fills the rest before the next call.
  Finding& add(std::string_view id, Severity severity, std::string title);
  /// The same with its lines, ranks and hosts, as far as the rule has gathered them before.
  Finding& add(std::string_view id, Severity severity, std::string title, const Finding& gathered);
  Finding& add(std::string_view id, Severity severity, std::string title, Evidence evidence);
  /// The same of the lines of a message, or of a thing that processes say, which quote() names.
  Finding& add(std::string_view id, Severity severity, std::string title,
               const MessageLines& lines);
  Finding& add(std::string_view id, Severity severity, std::string title, const SaidBy& said);

  /// The worst of that id; nullptr: there is none.
  [[nodiscard]] const Finding* find(std::string_view id) const;
  [[nodiscard]] bool has(std::string_view id, Severity at_least = Severity::Info) const;
  /// Whether there is a finding so severe, besides those of these ids.
  [[nodiscard]] bool has_any(Severity at_least,
                             std::initializer_list<std::string_view> besides = {}) const;

  /// Names the ranks and hosts of processes in a finding.
  void say_who(Finding& finding, std::span<const std::uint32_t> processes) const;
  /// The same, of the processes that a message's lines come from; and its lines.
  void quote(Finding& finding, const MessageLines& lines) const;
  void quote(Finding& finding, const SaidBy& said) const;
  /// The same of the kept lines that a predicate picks.
  template <typename Predicate>
  void quote(Finding& finding, const MessageLines& lines, Predicate picks) const;

  [[nodiscard]] std::vector<Finding>& all() { return all_; }
  [[nodiscard]] const JobFacts& facts() const { return facts_; }

  /// What hangdetect says of the job: asked once, by the first rule that wants to know.
  [[nodiscard]] const HangView& hang();

 private:
  const JobFacts& facts_;
  std::vector<Finding> all_ = {};
  std::unique_ptr<HangView> hang_;
};

/// Kept lines that a predicate picks, as evidence.
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

/// `node-c (10.0.1.13)` where a process has said that the address is its own; else the address.
/// shape  with or without the port: `10.0.1.13<52332>`
std::string named_address(const JobFacts& facts, std::string_view address);

/// `rank 3`, `ranks 0-3,7`
std::string named_ranks(std::span<const int> ranks);

}  // namespace ringside::audit
