#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns the port of `[::]:29500`, `0.0.0.0:29500` or `port: 29500`; empty: unknown.
std::string port_in_use(const MessageLines& lines) {
  for (const KeptMessage& message : lines.kept) {
    for (const std::string_view key : {"]:", "0.0.0.0:", "port: "}) {
      const std::size_t at = message.text().find(key);
      if (at == std::string_view::npos) continue;
      const std::string_view rest = message.text().substr(at + key.size());
      const std::string_view port = rest.substr(0, rest.find_first_not_of("0123456789"));
      if (!port.empty()) return std::string(port);
    }
  }
  return {};
}

/// Explains several tasks of a launcher that find the port of their own store in use: each started the store, and only
/// one can have the port. A single task conflicts with another job.
bool report_many_launchers(const JobFacts& facts, const std::string& port, Findings& findings) {
  const MessageLines& taken = facts.messages[MessageId::StorePortInUse];
  std::set<std::int32_t> tasks;
  for (const std::uint32_t process : taken.processes) {
    if (process < facts.processes.size()) tasks.insert(facts.processes[process].launcher_rank);
  }
  tasks.erase(-1);
  if (tasks.size() < 2) return false;
  Finding& finding =
      findings.add("launcher_failure", Severity::Error,
                   fmt::format("{} tasks each start a store on port {}, which one alone can have",
                               tasks.size(), port.empty() ? "MASTER_PORT" : port),
                   taken);
  finding.cause =
      "the scheduler starts the launcher (torchrun) once for each GPU instead of once for each "
      "host, or every rank believes to be rank 0";
  finding.fix =
      "srun --ntasks-per-node=1 ... torchrun --nproc_per_node=<GPUs of a host>; or one task for "
      "each GPU without torchrun, RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID";
  return true;
}

/// Returns whether attempts to reach the store failed for good: repeated attempts may succeed, so they count only if
/// the job then failed.
bool is_store_unreached(const JobFacts& facts) {
  const MessageLines& unreachable = facts.messages[MessageId::StoreUnreachable];
  if (unreachable.evidence.empty()) return false;
  return !facts.python_errors.empty() ||
         std::any_of(unreachable.kept.begin(), unreachable.kept.end(),
                     [](const KeptMessage& message) { return !contains(message.text(), "try="); });
}

/// Lines that show that the store failed. The first ones that are added state the cause.
class StoreLines {
 public:
  StoreLines(const JobFacts& facts, const Findings& findings)
      : facts_(facts), findings_(findings) {}

  void add(MessageId id, std::string_view why) {
    if (!facts_.messages.has(id)) return;
    state(why);
    findings_.quote(draft_, facts_.messages[id]);
  }

  /// Adds lines of agents that did not reach the store.
  void add_agents() {
    const Evidence agents =
        evidence_of(facts_.messages[MessageId::StoreBroken], [](const KeptMessage& message) {
          return contains(message.text(), "RendezvousConnectionError");
        });
    if (!agents.empty()) state("an agent has lost the store, or never reached it");
    draft_.evidence.mix(agents);
  }

  /// Adds lines of ranks that did not get the id of their communicator.
  void add_missing_ids() {
    const auto& missing = facts_.plain_of(PlainLine::UniqueIdTimeout).kept;
    for (const KeptLine& line : missing) {
      if (!contains_any(line.quoted.text, {"Timeout", "timeout"})) continue;
      state("rank 0 of that group did not enter its first collective in time");
      add(line);
    }
    // Without a time-out, the other causes or the library's own errors explain a missing id.
    if (!draft_.evidence.empty() || !facts_.results.empty()) return;
    for (const KeptLine& line : missing) {
      state("rank 0, whose process holds the store, ended before it had sent its id");
      add(line);
    }
  }

  /// Adds the first Python error about the store, if there is no other line.
  void add_python_error() {
    if (!draft_.evidence.empty()) return;
    for (const PythonErrorFact& error : facts_.python_errors) {
      const bool is_store = contains(error.type, "DistStoreError") ||
                            contains_any(error.text, {"Socket Timeout", "wait timeout after"});
      const bool is_build = contains(error.text, "without libuv");  // rules/reasons.cpp
      if (!is_store || is_build) continue;
      state(kLateKey);
      draft_.evidence.add(error.quoted);
      return;
    }
  }

  /// Returns the evidence, the ranks and the cause; no evidence: no line shows that the store failed.
  [[nodiscard]] const Finding& draft() const { return draft_; }

  static constexpr std::string_view kLateKey =
      "a process waited for a key that another one did not write in time";

 private:
  void state(std::string_view why) {
    if (draft_.cause.empty()) draft_.cause = why;
  }
  void add(const KeptLine& line) {
    draft_.evidence.add(line.quoted);
    if (line.launcher_rank >= 0) draft_.ranks.push_back(line.launcher_rank);
  }

  const JobFacts& facts_;
  const Findings& findings_;
  Finding draft_ = {};
};

/// Explains a store that is not reached by its address: a loopback address, or a name without an address.
void explain_store_address(const JobFacts& facts, Finding& finding) {
  const MessageLines& unreachable = facts.messages[MessageId::StoreUnreachable];
  const bool is_own_address =
      std::any_of(unreachable.kept.begin(), unreachable.kept.end(), [](const KeptMessage& message) {
        return contains_any(message.text(), {"[localhost]", "(localhost,", "[127.0.0.1]",
                                             "(127.0.0.1,", "[::1]", "(::1,"});
      });
  if (is_own_address) {
    finding.cause =
        "MASTER_ADDR is this host's own loopback address: on every node but rank 0's no process "
        "listens there; on rank 0's node, rank 0 is not up";
    finding.fix =
        "MASTER_ADDR=<rank 0's address or name, as all nodes reach it>, the same on every node; "
        "torchrun --rdzv_endpoint=<that>:29500";
  }
  const PlainLines& nameless = facts.plain_of(PlainLine::NameWithoutAddress);
  if (!nameless.evidence.empty()) {
    finding.evidence.mix(nameless.evidence);
    finding.cause =
        "the store's host name has no address there: its pod or host does not exist "
        "yet, or the resolver does not know it";
    finding.fix = "getent hosts $MASTER_ADDR on that host";
  }
}

}  // namespace

void look_for_store_timeouts(const JobFacts& facts, Findings& findings) {
  const bool is_port_taken = facts.messages.has(MessageId::StorePortInUse);
  const std::string port = port_in_use(facts.messages[MessageId::StorePortInUse]);
  if (report_many_launchers(facts, port, findings)) return;
  const bool is_unreached = is_store_unreached(facts);

  StoreLines lines(facts, findings);
  lines.add(MessageId::InitBarrierTimeout, "some processes of the job never came");
  if (is_unreached)
    lines.add(MessageId::StoreUnreachable,
              "the process that holds the store (rank 0) is not up, or cannot be reached");
  lines.add(MessageId::StorePortInUse,
            fmt::format("{} is already in use by another job or one that has not ended",
                        port.empty() ? "MASTER_PORT" : fmt::format("port {} (MASTER_PORT)", port)));
  lines.add(MessageId::RendezvousFailed, "the agents of the nodes did not connect");
  lines.add_agents();
  lines.add(MessageId::StoreTimeout, StoreLines::kLateKey);
  lines.add_missing_ids();
  lines.add_python_error();
  const Finding& draft = lines.draft();
  if (draft.evidence.empty()) return;

  const std::string_view what = is_port_taken  ? "does not start"
                                : is_unreached ? "is not reached"
                                               : "gave up waiting";
  Finding& finding =
      findings.add("store_timeout", Severity::Error,
                   fmt::format("the rendezvous store {}: {}", what, draft.cause), draft);
  finding.cause = draft.cause;
  finding.fix = is_port_taken ? fmt::format(
                                    "ss -ltnp | grep {}   # end what holds it; or another "
                                    "MASTER_PORT, torchrun --rdzv_endpoint=localhost:0 on one host",
                                    port.empty() ? "<port>" : port)
                : is_unreached
                    ? "nc -vz $MASTER_ADDR $MASTER_PORT from that host; check that rank 0 runs"
                    : "look at what the missing process does before its first collective; "
                      "init_process_group(timeout=...) if it is legitimately slow";
  if (is_unreached) explain_store_address(facts, finding);
}

}  // namespace ringside::audit
