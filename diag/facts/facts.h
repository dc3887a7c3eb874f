#pragma once

#include <cstdint>
#include <vector>

#include "diag/facts/job_facts.h"
#include "diag/facts/system_facts.h"

/// The statements of logs, dumps, stacks, traces and reports about a job, in one vocabulary. Readers emit facts; the
/// hang inference and the audit rules read them.
///
/// A fact repeats its source and draws no conclusion. An unknown value is -1, 0 or empty, as each field documents.
namespace ringside::facts {

/// All facts of a job, each list in the order of its sources.
struct Facts {
  std::vector<Member> members;
  std::vector<Call> calls;
  std::vector<Blocked> blocked;
  std::vector<Busy> busy;
  std::vector<Mismatch> mismatches;
  std::vector<Died> deaths;
  std::vector<Progress> progress;
  std::vector<LinkFault> link_faults;
  std::vector<Transport> transports;
  std::vector<Setting> settings;
  std::vector<Capability> capabilities;
  std::vector<Measurement> measurements;
  std::vector<Warning> warnings;
  std::uint64_t lines = 0;   ///< lines read
  std::uint64_t unread = 0;  ///< lines that no row recognises
};

/// Calls `take` with each list of facts.
template <typename Facts_, typename Take>
void each_list(Facts_& facts, Take take) {
  take(facts.members);
  take(facts.calls);
  take(facts.blocked);
  take(facts.busy);
  take(facts.mismatches);
  take(facts.deaths);
  take(facts.progress);
  take(facts.link_faults);
  take(facts.transports);
  take(facts.settings);
  take(facts.capabilities);
  take(facts.measurements);
  take(facts.warnings);
}

}  // namespace ringside::facts
