#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {

namespace {

using facts::Domain;
using facts::Warning;

/// The finding for a warning that no rule handles, by the layer of the stack, the lowest first. A failure of a lower
/// layer causes failures above it.
struct DomainRow {
  Domain domain;
  std::string_view id, part, fix;
};

constexpr DomainRow kDomains[] = {
    {Domain::Driver, "cuda_error", "the GPU's driver",
     "nvidia-smi on that host; dmesg for NVRM and Xid lines"},
    {Domain::Launcher, "launcher_failure", "the launcher",
     "run a plain command by the same launcher on the same hosts first (hostname)"},
    {Domain::Scheduler, "launcher_failure", "the scheduler",
     "the scheduler's record of the job (sacct, kubectl describe pod)"},
    {Domain::Library, "nccl_library_mismatch", "a library",
     "ldd of the program that failed; the release of each library on every host"},
    {Domain::Configuration, "system_error", "the configuration",
     "the line quoted names what is missing or not allowed"},
    {Domain::Memory, "system_error", "the host's memory",
     "free -h; the limits of the container or the job"},
    {Domain::Filesystem, "system_error", "a file system",
     "df -h of the path in the line, on that host"},
    {Domain::SharedMemory, "shm_exhausted", "shared memory",
     "df -h /dev/shm on that host; docker run --shm-size=16g --ipc=host"},
    {Domain::Gpu, "cuda_error", "a GPU",
     "the first rank that reports it is the suspect; dmesg there for Xid lines"},
    {Domain::Rdma, "ib_error", "the RDMA network",
     "ibstat and show_gids on both hosts; ib_write_bw between them"},
    {Domain::Network, "net_unreachable", "the network",
     "nc -vz to the address in the line, from that host; firewalls; "
     "NCCL_SOCKET_IFNAME=<the hosts' network>"},
    {Domain::Bootstrap, "bootstrap_failure", "the start",
     "check that all ranks start, on addresses that all can reach"},
    {Domain::Store, "store_timeout", "the rendezvous store",
     "nc -vz $MASTER_ADDR $MASTER_PORT from that host; check that rank 0 runs"},
    {Domain::Program, "system_error", "the program", "read the traceback above the line"},
    {Domain::Unknown, "system_error", "the program", "the line quoted names what failed"},
};

std::size_t layer_of(const Warning& warning) {
  const auto row = std::find_if(std::begin(kDomains), std::end(kDomains),
                                [&](const DomainRow& one) { return one.domain == warning.domain; });
  return static_cast<std::size_t>(row - std::begin(kDomains));
}

/// Returns whether the warning is a result of the library, for which another line may give the reason.
bool is_result(const Warning& warning) {
  return warning.is_general && (warning.id.starts_with("nccl_") || warning.id.starts_with("grpc_"));
}

/// Decides which of several warnings is reported: first those with a row's own meaning, then the lowest layer of the
/// stack, then the first line.
bool is_more_severe(const Warning& a, const Warning& b) {
  const auto weight = [](const Warning& one) {
    return std::tuple(one.is_consequence, is_result(one), one.severity != facts::Severity::Error,
                      one.is_general, layer_of(one));
  };
  if (weight(a) != weight(b)) return weight(a) < weight(b);
  return a.source.place < b.source.place;
}

/// Returns whether ranks have connected and nothing failed: the job goes on, in spite of warnings.
bool is_running(const JobFacts& facts) {
  const bool has_met =
      std::any_of(facts.comms.begin(), facts.comms.end(), [](const CommFacts& comm) {
        return !comm.links.empty() || std::ranges::any_of(comm.members, &Member::is_complete);
      });
  const bool has_results =
      std::any_of(facts.tables.begin(), facts.tables.end(),
                  [](const BenchmarkTable& table) { return table.is_concluded; });
  return (has_met || has_results) && !facts.has_failure();
}

/// Returns whether the warning describes the machine: what a library finds at startup stays true while the job runs.
bool is_of_machine(const Warning& warning) {
  return !warning.is_general &&
         (warning.domain == Domain::Gpu || warning.domain == Domain::Driver ||
          warning.domain == Domain::Configuration);
}

/// Returns whether the program went on after the warning, or had finished before it.
bool is_overcome(const JobFacts& facts, const Warning& warning) {
  return std::any_of(facts.stated.progress.begin(), facts.stated.progress.end(),
                     [&](const facts::Progress& progress) {
                       if (progress.is_claimed_hang || progress.is_restarting) return false;
                       return progress.has_finished || warning.source.place < progress.source.place;
                     });
}

/// Returns whether a process that did not answer in the RAS network answers again.
bool has_recovered(const JobFacts& facts, const Warning& warning) {
  return warning.id == "nccl_ras_peer_silent" &&
         std::ranges::any_of(facts.stated.warnings, [&](const Warning& later) {
           return later.id == "nccl_ras_peer_recovered" &&
                  later.subject.host == warning.subject.host &&
                  later.subject.pid == warning.subject.pid &&
                  warning.source.place < later.source.place;
         });
}

/// Returns whether a connection that failed a few times may have succeeded in the end.
bool may_have_been_retried(const JobFacts& facts, const Warning& warning) {
  constexpr std::uint64_t kFewTries = 4;
  const bool is_connection = warning.domain == Domain::Network || warning.domain == Domain::Store;
  return is_connection && warning.is_general && warning.times <= kFewTries &&
         !facts.has_failure() && facts.stated.deaths.empty();
}

/// Returns the rows of which a finding quotes a line: a rule has handled them, even as a note.
std::set<std::string> quoted_rows(const JobFacts& facts, Findings& findings) {
  std::set<logs::Place> quoted;
  for (const Finding& finding : findings.all()) {
    if (finding.id == "unread_lines") continue;
    for (const QuotedLine& line : finding.evidence.lines()) quoted.insert(line.place);
  }
  std::set<std::string> rows;
  for (const Warning& warning : facts.stated.warnings) {
    if (quoted.contains(warning.source.place)) rows.insert(warning.id);
  }
  return rows;
}

/// Adds processes that ended with a chosen status for an unknown reason.
void add_unexplained_end(const JobFacts& facts, Findings& findings) {
  if (!facts.python_errors.empty()) return;  // the program itself reports why it ends
  const auto found = std::ranges::find_if(facts.stated.deaths, [](const facts::Died& one) {
    return one.cause == facts::DeathCause::ExitCode && !one.is_consequence &&
           one.basis != facts::Basis::Person;
  });
  if (found == facts.stated.deaths.end()) return;
  std::string who = "a process of the job";
  if (!found->ranks.empty()) {
    who = named_ranks(found->ranks);
  } else if (found->subject.rank >= 0) {
    who = fmt::format("rank {}", found->subject.rank);
  }
  Finding& finding = findings.add("hang_dead_rank", Severity::Warning,
                                  fmt::format("{} ended with exit status {}", who, found->code));
  finding.evidence.add(found->source.place, 0, found->source.text);
  finding.ranks.assign(found->ranks.begin(), found->ranks.end());
  if (!found->subject.host.empty()) finding.hosts.push_back(found->subject.host);
  finding.confidence = Confidence::Low;
  finding.cause = "the program itself chose that status; no line here shows why";
  finding.fix = "read the last lines of that process's own output, above the launcher's report";
}

/// Returns whether the line is data, such as source code in JSON; events of NCCL's RAS network are also JSON.
bool is_data(const Warning& warning) {
  const std::string_view line = warning.source.text;
  return (line.starts_with('{') || line.starts_with('"')) && !warning.id.starts_with("nccl_ras_");
}

/// Returns the program's own text for the failure: for an exception, the text after its type.
std::string words_of(std::string_view line) {
  constexpr std::size_t kLongestText = 160;
  constexpr std::string_view kError = "Error: ";
  const std::size_t error = line.find(kError);
  if (error != std::string_view::npos) line.remove_prefix(error + kError.size());
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(line.substr(begin, kLongestText));
}

/// Adds the meaning of an exception from the catalogue, in addition to its place: a full disk, a port in use.
void explain_deaths(const JobFacts& facts, Findings& findings) {
  for (Finding& finding : findings.all()) {
    if (finding.id != "hang_dead_rank") continue;
    for (const Warning& warning : facts.stated.warnings) {
      const bool is_of_rank =
          std::ranges::find(finding.ranks, warning.subject.rank) != finding.ranks.end();
      const bool may_explain = warning.severity == facts::Severity::Error &&
                               !warning.is_consequence && !is_result(warning) &&
                               warning.basis != facts::Basis::Person;
      const bool is_known = warning.meaning.empty() || contains(finding.cause, warning.meaning);
      if (!may_explain || is_known || !(is_of_rank || warning.domain == Domain::Filesystem))
        continue;
      finding.cause += "; " + warning.meaning;
      finding.evidence.add(warning.source.place, 0, warning.source.text);
    }
  }
}

}  // namespace

/// Adds findings for rows of the catalogue that state trouble and that no rule has handled: their meaning is the
/// finding.
void look_for_stated_warnings(const JobFacts& facts, Findings& findings) {
  const bool is_explained = findings.has_any(Severity::Warning, {"unread_lines"});
  explain_deaths(facts, findings);
  if (is_explained || findings.has("job_cancelled")) return;
  const bool runs = is_running(facts);
  const std::set<std::string> spoken = quoted_rows(facts, findings);
  const Warning* worst = nullptr;
  for (const Warning& warning : facts.stated.warnings) {
    // An exception is more precise than a logger's report of it.
    const bool is_reported = warning.id == "logged_error" && !facts.python_errors.empty();
    const bool counts = warning.severity != facts::Severity::Info && !is_reported &&
                        (!runs || is_of_machine(warning)) &&
                        warning.basis != facts::Basis::Person && !spoken.contains(warning.id) &&
                        !is_overcome(facts, warning) && !has_recovered(facts, warning) &&
                        !may_have_been_retried(facts, warning) && !is_data(warning);
    if (counts && (worst == nullptr || is_more_severe(warning, *worst))) worst = &warning;
  }
  if (worst == nullptr) {
    if (!runs) add_unexplained_end(facts, findings);
    return;
  }
  const DomainRow& row = kDomains[std::min(layer_of(*worst), std::size(kDomains) - 1)];
  const bool is_sure = worst->severity == facts::Severity::Error && !is_result(*worst);
  const std::string meaning = worst->meaning.empty() ? worst->source.text : worst->meaning;
  // A code gives the kind of failure; the other words of the line may name what failed.
  std::string title = worst->is_general ? words_of(worst->source.text) : "";
  if (title.empty()) title = meaning.substr(0, std::min<std::size_t>(meaning.find(": "), 160));
  if (!worst->peer.empty()) title += fmt::format(" ({})", worst->peer);
  for (Finding& finding : findings.all())
    finding.severity = Severity::Info;  // lines that were not understood
  Finding& finding = findings.add(row.id, is_sure ? Severity::Error : Severity::Warning, title);
  for (const Warning& warning : facts.stated.warnings) {
    if (warning.id != worst->id) continue;
    finding.evidence.add(warning.source.place, 0, warning.source.text);
    if (warning.subject.rank >= 0) finding.ranks.push_back(warning.subject.rank);
    if (!warning.subject.host.empty()) finding.hosts.push_back(warning.subject.host);
  }
  sort_once(finding.hosts);
  std::sort(finding.ranks.begin(), finding.ranks.end());
  finding.confidence = worst->is_general ? Confidence::Low : Confidence::Medium;
  finding.cause = fmt::format("{} reports it: {}", row.part, meaning);
  finding.fix = row.fix;
}

}  // namespace ringside::audit
