#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

bool is_unreachable(std::string_view text) {
  return contains_any(lower_case(text), {"no route to host", "unreachable", "timed out", "timeout",
                                         "software caused connection abort", "connection abort"});
}

/// Returns the address to which connections failed; empty: unknown.
std::string address_of(const MessageLines& lines) {
  for (const KeptMessage& message : lines.kept) {
    const std::string_view address = message.argument("address");
    if (!address.empty()) return std::string(address.substr(0, address.find('<')));
  }
  return {};
}

std::vector<std::uint32_t> processes_if_warned(const MessageLines& lines) {
  std::vector<std::uint32_t> processes;
  for (const KeptMessage& message : lines.kept) {
    if (is_warning(message)) processes.push_back(message.process());
  }
  return processes;
}

/// Reports connection attempts that were repeated until few or none were left. The library logs each one; only the
/// last is an error.
void find_spent_retries(const JobFacts& facts, Findings& findings) {
  const MessageLines& retries = facts.messages[MessageId::SocketConnectRetry];
  const KeptMessage* last = nullptr;
  for (const KeptMessage& message : retries.kept) {
    if (last == nullptr || message.number("attempt") >= last->number("attempt")) last = &message;
  }
  const std::int64_t most = last == nullptr ? -1 : last->number("attempts");
  constexpr std::int64_t kHalf = 2;  // earlier attempts may fail while a peer starts
  if (most <= 0 || last->number("attempt") * kHalf < most) return;
  const std::string_view error = last->argument("error");
  const std::string address(
      last->argument("address").substr(0, last->argument("address").find('<')));
  const bool is_refused = contains(error, "refused");
  Finding& finding =
      findings.add(is_refused ? "bootstrap_failure" : "net_unreachable",
                   last->number("attempt") == most ? Severity::Error : Severity::Warning,
                   fmt::format("connections{} do not get through: {}, attempt {} of {}",
                               address.empty() ? "" : " to " + named_address(facts, address), error,
                               last->number("attempt"), most),
                   retries);
  finding.cause =
      is_refused ? "no process listens at the address: the rank there has ended or never started"
                 : "the address cannot be reached from there: a firewall that rejects, an "
                   "interface that other hosts do not see, or a host that is down";
  finding.fix = fmt::format(
      "ip route get {}; firewall rules (iptables -S, network policies) of both hosts; "
      "NCCL_SOCKET_IFNAME=<the hosts' network>",
      address.empty() ? "<address>" : address);
}

/// Connections between ranks, or to the root, that failed.
struct FailedConnections {
  Evidence all = {}, far = {};  ///< `far`: those without a route or an answer
  std::string address = {};     ///< one of the addresses; empty: in no line
  std::string to = {};          ///< ` to node-c (10.0.1.13)`; empty: no address
};

FailedConnections failed_connections(const JobFacts& facts) {
  const MessageLines& connect = facts.messages[MessageId::SocketConnectFailed];
  FailedConnections failed;
  failed.all = evidence_of(connect, is_warning);
  failed.far = evidence_of(connect, [](const KeptMessage& message) {
    return is_warning(message) && is_unreachable(message.text());
  });
  failed.address = address_of(connect);
  if (!failed.address.empty()) failed.to = " to " + named_address(facts, failed.address);
  return failed;
}

void report_unreachable(const JobFacts& facts, const FailedConnections& failed,
                        Findings& findings) {
  Finding& finding =
      findings.add("net_unreachable", Severity::Error,
                   fmt::format("connections{} do not get through", failed.to), failed.far);
  findings.add_processes(finding,
                         processes_if_warned(facts.messages[MessageId::SocketConnectFailed]));
  finding.cause =
      "the address cannot be reached from there: a firewall, a network policy, or an interface "
      "that other hosts do not see";
  finding.fix =
      fmt::format("nc -vz {} <port> from the hosts named; NCCL_SOCKET_IFNAME=<the hosts' network>",
                  failed.address.empty() ? "<address>" : failed.address);
}

void report_refused_later(const JobFacts& facts, const FailedConnections& failed,
                          Findings& findings) {
  Finding& finding = findings.add(
      "net_unreachable", Severity::Error,
      fmt::format("the ranks have connected at the start, but a later connection{} is refused",
                  failed.to),
      failed.all);
  findings.add_processes(finding,
                         processes_if_warned(facts.messages[MessageId::SocketConnectFailed]));
  finding.cause =
      "data go over another interface than the bootstrap, whose address no process has there, "
      "or the peer has ended";
  finding.fix = "NCCL_SOCKET_IFNAME=<the hosts' network>; look at the other rank's log";
}

/// A warning that shows why ranks do not connect.
struct StartReason {
  MessageId id;
  std::string_view cause;
};
/// The most certain reason comes first.
constexpr auto kStartReasons = std::to_array<StartReason>({
    {MessageId::RootRankMismatch,
     "processes of another world size or another job connected to this root: a stale id or port"},
    {MessageId::RootDuplicateRank, "two processes have the same rank"},
    {MessageId::InvalidCommId, "NCCL_COMM_ID is not host:port"},
    {MessageId::BootstrapNoInterface, "no interface passes the filters"},
    {MessageId::OobDeviceNotFound, "NCCL_OOB_NET_IFNAME names no device"},
    {MessageId::NameResolutionFailed, "a host name has no address"},
    {MessageId::BootstrapTruncated,
     "the two ends run different versions, or are in different steps"},
});

/// Adds the warnings of a message to a draft. The first ones that are added state its cause.
void add_warnings(const JobFacts& facts, const StartReason& reason, Finding& draft,
                  const Findings& findings) {
  const bool is_first = draft.evidence.empty();
  findings.quote(draft, facts.messages[reason.id], is_warning);
  if (is_first && !draft.evidence.empty()) draft.cause = reason.cause;
}

/// Returns whether a connection from outside of the job did harm: a port scanner can connect at any time, and if it
/// does harm, an error of the same process follows.
bool has_stranger_hurt(const JobFacts& facts, bool is_started) {
  const MessageLines& foreign = facts.messages[MessageId::ForeignConnection];
  return !is_started ||
         std::any_of(foreign.kept.begin(), foreign.kept.end(), [&](const KeptMessage& line) {
           return is_warning(line) && facts.has_failed(line.process());
         });
}

/// Adds what ringside's own engine and Gloo log of ranks that do not connect.
void add_other_libraries(const JobFacts& facts, Finding& draft) {
  const MessageLines& absent = facts.messages[MessageId::EngineAbsent];
  if (!absent.evidence.empty() && draft.evidence.empty()) {
    const KeptMessage& first = absent.kept.front();
    draft.cause =
        fmt::format("{} of {} did not connect", first.argument("ranks"), first.number("nranks"));
    draft.evidence = absent.evidence;
    draft.ranks = parse_rank_list(first.argument("ranks"));
  }
  const MessageLines& mesh = facts.messages[MessageId::GlooConnectFailed];
  if (!mesh.evidence.empty() && facts.plain_of(PlainLine::LoopbackMesh).evidence.empty()) {
    if (draft.evidence.empty()) {
      draft.cause =
          "Gloo's processes cannot connect to each other: a host name that resolves to an "
          "address of its own host, an interface that others do not reach, or a firewall";
    }
    draft.evidence.mix(mesh.evidence);
  }
}

/// is_shared_port  a process of another job connected, so that another port helps
std::string_view start_fix(const JobFacts& facts, bool has_no_route, bool is_shared_port) {
  if (has_no_route) return "fix the route to that address (net_unreachable)";
  if (facts.messages.has(MessageId::InvalidCommId))
    return "NCCL_COMM_ID=<address of rank 0>:<port>, or unset it";
  if (facts.messages.has(MessageId::BootstrapTruncated))
    return "one NCCL on all ranks: python -c 'import torch; print(torch.cuda.nccl.version())' in "
           "each container; the same image everywhere";
  if (is_shared_port) return "use a new MASTER_PORT for each job; the same release on all ranks";
  return "check that all ranks start, on addresses that all can reach: ip -br addr; nc -vz "
         "<address> <port> from the other hosts";
}

}  // namespace

void look_for_bootstrap_failures(const JobFacts& facts, Findings& findings) {
  const FailedConnections failed = failed_connections(facts);
  const bool is_started = facts.has_started();
  const bool has_no_route = !failed.far.empty();
  if (has_no_route) report_unreachable(facts, failed, findings);

  Finding draft;
  for (const StartReason& reason : kStartReasons) add_warnings(facts, reason, draft, findings);
  if (failed.all.empty() && !is_started) find_spent_retries(facts, findings);
  const bool has_hurt = has_stranger_hurt(facts, is_started);
  if (has_hurt)
    add_warnings(facts,
                 {MessageId::ForeignConnection,
                  "the other end is in another step or version, or is no rank of this job"},
                 draft, findings);
  const bool have_ranks_met =
      std::any_of(facts.comms.begin(), facts.comms.end(),
                  [](const CommFacts& comm) { return !comm.links.empty(); });
  if (!failed.all.empty() && !is_started) {
    if (have_ranks_met && !has_no_route) {
      report_refused_later(facts, failed, findings);
    } else {
      const std::string no_listener = fmt::format(
          "no process listens at {}: the root died, or never started",
          failed.address.empty() ? "its address" : named_address(facts, failed.address));
      add_warnings(facts,
                   {MessageId::SocketConnectFailed,
                    has_no_route ? "the root's address cannot be reached" : no_listener},
                   draft, findings);
    }
  }
  add_other_libraries(facts, draft);
  if (draft.evidence.empty()) return;
  Finding& finding =
      findings.add("bootstrap_failure", Severity::Error,
                   fmt::format("the ranks do not connect at the start: {}", draft.cause), draft);
  finding.cause = draft.cause;
  const bool is_shared_port = has_hurt && facts.messages.has(MessageId::ForeignConnection);
  finding.fix = start_fix(facts, has_no_route, is_shared_port);
}

void look_for_slow_starts(const JobFacts& facts, Findings& findings) {
  if (facts.slow_inits.evidence.empty()) return;
  float longest = 0, bootstrap = 0;
  for (const CommFacts& comm : facts.comms) {
    for (const Member& member : comm.members) {
      if (member.init_s <= longest) continue;
      longest = member.init_s;
      bootstrap = member.bootstrap_s;
    }
  }
  constexpr float kTooSlow_s = 120;  // slow_inits begins at 30 s
  Finding& finding =
      findings.add("slow_init", longest >= kTooSlow_s ? Severity::Warning : Severity::Info,
                   fmt::format("a communicator took {:.0f} s to start{}", longest,
                               bootstrap < 0  // the line was cut before it
                                   ? std::string()
                                   : fmt::format(", {:.0f} s of them in the bootstrap", bootstrap)),
                   facts.slow_inits);
  finding.cause =
      bootstrap > longest / 2
          ? "ranks waited for each other: the one with the smallest bootstrap time came last"
          : "the topology, the connections or the kernels took their time on this host";
  finding.fix = "compare the parts of Init timings between ranks";
}

}  // namespace ringside::audit
