#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/wording.h"  // every rule counts and lists
#include "diag/audit/facts.h"
#include "diag/audit/finding.h"

namespace ringside::audit {

class HangView;

/// What the rules have found so far. A rule may look at what others found: rules.cpp runs causes first.
class Findings {
 public:
  explicit Findings(const JobFacts& facts);
  ~Findings();
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  /// A new finding; the rule fills the rest before the next call.
  Finding& add(std::string_view id, Severity severity, std::string title);

  /// The worst of that id; nullptr: there is none.
  [[nodiscard]] const Finding* find(std::string_view id) const;
  [[nodiscard]] bool has(std::string_view id, Severity at_least = Severity::Info) const;

  /// Names the ranks and hosts of processes in a finding.
  void say_who(Finding& finding, std::span<const std::uint32_t> processes) const;
  /// The same, of the processes that a message's lines come from; and its lines.
  void quote(Finding& finding, const MessageLines& lines) const;
  void quote(Finding& finding, const SaidBy& said) const;

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
    if (picks(message)) evidence.add(message.place(), message.process(), message.line());
  }
  return evidence;
}

/// `node-c (10.0.1.13)` where a process has said that the address is its own; else the address.
/// shape  with or without the port: `10.0.1.13<52332>`
std::string named_address(const JobFacts& facts, std::string_view address);

/// `rank 3`, `ranks 0-3,7`
std::string named_ranks(std::span<const int> ranks);

bool contains(std::string_view text, std::string_view part);
bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts);

}  // namespace ringside::audit
