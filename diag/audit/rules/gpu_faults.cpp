#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "diag/audit/hang_view.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/summary.h"
#include "diag/job/xid_meaning.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

constexpr int kFallenOffBus = 79;  ///< the Xid of a GPU that does not answer on PCIe

/// A line of the kernel log about a GPU (Xid) or an NVSwitch (SXid), and what it means for the job.
struct Fault {
  const XidFact* line = nullptr;
  const job::XidMeaning* meaning =
      nullptr;  ///< nullptr: an NVSwitch, or a code that is not in the table
  Severity severity = Severity::Info;
};

Severity severity_of(job::XidWeight weight) {
  switch (weight) {
    case job::XidWeight::Event:
      return Severity::Info;
    case job::XidWeight::Warning:
      return Severity::Warning;
    case job::XidWeight::Fault:
      break;
  }
  return Severity::Error;
}

/// Returns whether the line of such a code states in a word whether the event is fatal.
/// source  docs/formats 8.1, from NVIDIA's Xid catalogue: the NVLink 5 codes
bool states_consequence(int code) {
  constexpr int kFirst = 144, kLast = 150;
  return code >= kFirst && code <= kLast;
}

/// A code that is not in the table is a warning: it may be a fault of a newer driver.
Severity severity_of(const XidFact& line, const job::XidMeaning* meaning) {
  if (line.is_switch) return line.is_fatal ? Severity::Error : Severity::Info;
  if (meaning == nullptr) return Severity::Warning;
  if (contains(line.text, "Nonfatal")) return Severity::Info;
  if (states_consequence(line.code) && contains(line.text, " Fatal")) return Severity::Error;
  return severity_of(meaning->weight);
}

/// Returns one fault for each line, in the order of the logs.
std::vector<Fault> faults_of(const JobFacts& facts) {
  std::vector<Fault> faults;
  for (const XidFact& line : facts.xids) {
    Fault& fault = faults.emplace_back();
    fault.line = &line;
    fault.meaning = line.is_switch ? nullptr : job::meaning_of_xid(line.code);
    fault.severity = severity_of(line, fault.meaning);
  }
  return faults;
}

/// Returns the faults that the finding is about: the first of the most severe ones, and those of the same code and
/// severity on other devices. The others are quoted only, because most of them follow from these.
std::vector<Fault> worst_of(const std::vector<Fault>& faults) {
  std::vector<Fault> worst;
  const auto first = std::ranges::max_element(faults, {}, &Fault::severity);
  if (first == faults.end()) return worst;
  std::ranges::copy_if(faults, std::back_inserter(worst), [&](const Fault& one) {
    return one.severity == first->severity && one.line->code == first->line->code &&
           one.line->is_switch == first->line->is_switch;
  });
  return worst;
}

std::string host_of(const JobFacts& facts, const XidFact& line) {
  return facts.host_of(line.quoted.process);
}

/// Returns the devices of the faults: ` (PCI 0000:5d:00.0)`, with their hosts if there are several; empty if no line
/// names a bus.
std::string places_text(const JobFacts& facts, const std::vector<Fault>& faults) {
  std::vector<std::string> hosts, buses, places;
  for (const Fault& fault : faults) {
    if (fault.line->bus_id <= 0) continue;
    hosts.push_back(host_of(facts, *fault.line));
    buses.push_back(bus_text(fault.line->bus_id));
  }
  const std::set<std::string> distinct(hosts.begin(), hosts.end());
  for (std::size_t i = 0; i < buses.size(); ++i) {
    std::string place = distinct.size() > 1 ? hosts[i] + " " + buses[i] : buses[i];
    if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
  }
  return places.empty() ? std::string() : fmt::format(" (PCI {})", list_of(places));
}

/// Returns the title of a finding about faults of one code: `Xid 79: the GPU has fallen off the bus (PCI ..)`.
std::string title_of(const JobFacts& facts, const std::vector<Fault>& faults) {
  const Fault& first = faults.front();
  std::string_view text;
  if (first.meaning != nullptr) text = first.meaning->text;
  if (first.line->is_switch)
    text = first.line->is_fatal ? "a fault of the NVSwitch" : "an event of the NVSwitch";
  return fmt::format("{} {}{}{}{}", first.line->is_switch ? "SXid" : "Xid", first.line->code,
                     text.empty() ? "" : ": ", text, places_text(facts, faults));
}

/// Returns the ranks that use the GPUs of the faults, by bus or else by process; sorted. An NVSwitch belongs to no rank.
std::vector<int> ranks_of(const JobFacts& facts, const std::vector<Fault>& faults) {
  std::vector<int> all;
  if (faults.empty()) return all;
  const job::ProcessRanks ranks = ranks_of_processes(facts);
  for (const Fault& fault : faults) {
    if (fault.line->is_switch) continue;
    const std::string host = host_of(facts, *fault.line);
    int rank = ranks.rank_of_gpu(host, fault.line->bus_id);
    if (rank < 0) rank = ranks.rank_of(host, fault.line->pid);
    if (rank >= 0) all.push_back(rank);
  }
  sort_once(all);
  return all;
}

/// Returns all lines as evidence: those of the finding first, so that a limit of quotes omits only others.
Evidence quotes_of(const std::vector<Fault>& faults, const std::vector<Fault>& worst) {
  Evidence own, others;
  for (const Fault& fault : worst) own.add(fault.line->quoted);
  for (const Fault& fault : faults) {
    const bool is_own = std::ranges::find(worst, fault.line, &Fault::line) != worst.end();
    if (!is_own) others.add(fault.line->quoted);
  }
  own.mix(others);
  return own;
}

/// source  NVIDIA Fabric Manager User Guide, "NVSwitch SXid errors": GPUs and NVSwitches are reset together
std::string fix_of(const Fault& fault) {
  if (fault.line->is_switch && fault.line->is_fatal) {
    return "end all jobs of the node; nvidia-smi -r without -i resets its GPUs and NVSwitches "
           "together; if the SXid returns, replace the board of the NVSwitch";
  }
  if (fault.line->is_switch) {
    return "nvidia-smi nvlink -e on the GPUs of the node: the job continues, unless errors of one "
           "link grow";
  }
  if (fault.meaning != nullptr) return std::string(fault.meaning->action);
  return "nvidia-smi -q; reset the GPU, then restart the node";
}

}  // namespace

/// Reports the worst faults in the kernel log. A line that a GPU has fallen off the bus counts like Xid 79.
void look_for_gpu_faults(const JobFacts& facts, Findings& findings) {
  const MessageLines& off_bus = facts.messages[MessageId::FallenOffBus];
  const std::vector<Fault> faults = faults_of(facts);
  const std::vector<Fault> worst = worst_of(faults);
  if (worst.empty() && off_bus.evidence.empty()) return;
  const bool is_off_bus_worse =
      !off_bus.evidence.empty() && (worst.empty() || worst.front().severity < Severity::Error);
  Finding draft;
  draft.evidence = quotes_of(faults, worst);
  draft.ranks = ranks_of(facts, worst);
  if (!off_bus.evidence.empty()) findings.quote(draft, off_bus);
  Finding& finding =
      is_off_bus_worse
          ? findings.add("xid_error", Severity::Error, "a GPU has fallen off the bus", draft)
          : findings.add("xid_error", worst.front().severity, title_of(facts, worst), draft);
  finding.cause = "the driver reports a fault in the kernel log";
  finding.fix = is_off_bus_worse ? std::string(job::meaning_of_xid(kFallenOffBus)->action)
                                 : fix_of(worst.front());
}

}  // namespace ringside::audit
