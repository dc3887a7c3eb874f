#include <fmt/format.h>

#include <algorithm>
#include <set>

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

bool is_any_started(const JobFacts& facts) { return facts.has_started(); }

}  // namespace

void look_for_bootstrap_failures(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  const MessageLines& connect = messages[MessageId::SocketConnectFailed];
  const Evidence failed = evidence_of(connect, is_warning);
  const auto is_far = [](const KeptMessage& message) {
    return is_warning(message) && is_unreachable(message.text());
  };
  const Evidence far = evidence_of(connect, is_far);
  const std::string address = address_of(connect);
  const std::string where =
      address.empty() ? std::string() : " to " + named_address(facts, address);

  if (!far.empty()) {
    Finding& finding = findings.add("net_unreachable", Severity::Error,
                                    fmt::format("connections{} do not get through", where), far);
    findings.say_who(finding, processes_if_warned(connect));
    finding.cause =
        "the address cannot be reached from there: a firewall, a network policy, or an interface "
        "that other "
        "hosts do not see";
    finding.fix = fmt::format(
        "nc -vz {} <port> from the hosts named; NCCL_SOCKET_IFNAME=<the hosts' network>",
        address.empty() ? "<address>" : address);
  }

  Finding draft;
  std::string cause = "the peer's address does not answer";
  const auto take = [&](MessageId id, std::string_view why) {
    const MessageLines& lines = messages[id];
    const Evidence evidence = evidence_of(lines, is_warning);
    if (evidence.empty()) return;
    if (draft.evidence.empty()) cause = why;
    draft.evidence.mix(evidence);
    findings.say_who(draft, processes_if_warned(lines));
  };
  take(MessageId::RootRankMismatch,
       "processes of another world size or another job connected to this root: a stale id or port");
  take(MessageId::RootDuplicateRank, "two processes have the same rank");
  take(MessageId::InvalidCommId, "NCCL_COMM_ID is not host:port");
  take(MessageId::BootstrapNoInterface, "no interface passes the filters");
  take(MessageId::OobDeviceNotFound, "NCCL_OOB_NET_IFNAME names no device");
  take(MessageId::NameResolutionFailed, "a host name has no address");
  take(MessageId::BootstrapTruncated,
       "the two ends run different versions, or are in different steps");
  const bool is_started = is_any_started(facts);
  if (failed.empty() && !is_started) find_spent_retries(facts, findings);
  // A port scanner can connect at any time; if it does harm, an error of the same process follows.
  const MessageLines& foreign = messages[MessageId::ForeignConnection];
  const bool has_hurt =
      !is_started || std::any_of(foreign.kept.begin(), foreign.kept.end(), [&](const auto& line) {
        return is_warning(line) && facts.has_failed(line.process());
      });
  if (has_hurt)
    take(MessageId::ForeignConnection,
         "the other end is in another step or version, or is no rank of this job");
  const std::string no_listener =
      fmt::format("no process listens at {}: the root died, or never started",
                  address.empty() ? std::string("its address") : named_address(facts, address));
  const bool has_met = std::any_of(facts.comms.begin(), facts.comms.end(),
                                   [](const CommFacts& comm) { return !comm.links.empty(); });
  if (!failed.empty() && far.empty() && has_met && !is_started) {
    Finding& finding = findings.add(
        "net_unreachable", Severity::Error,
        fmt::format("the ranks have connected at the start, but a later connection{} is refused",
                    where),
        failed);
    findings.say_who(finding, processes_if_warned(connect));
    finding.cause =
        "data go over another interface than the bootstrap, whose address no process has there, "
        "or the peer has ended";
    finding.fix = "NCCL_SOCKET_IFNAME=<the hosts' network>; look at the other rank's log";
  } else if (!failed.empty() && !is_started) {
    take(MessageId::SocketConnectFailed,
         far.empty() ? no_listener : std::string_view("the root's address cannot be reached"));
  }
  const MessageLines& absent = messages[MessageId::EngineAbsent];
  if (!absent.evidence.empty() && draft.evidence.empty()) {
    const KeptMessage& first = absent.kept.front();
    cause =
        fmt::format("{} of {} did not connect", first.argument("ranks"), first.number("nranks"));
    draft.evidence = absent.evidence;
    draft.ranks = parse_rank_list(first.argument("ranks"));
  }
  const MessageLines& mesh = messages[MessageId::GlooConnectFailed];
  if (!mesh.evidence.empty() && facts.plain_of(PlainLine::LoopbackMesh).evidence.empty()) {
    if (draft.evidence.empty()) {
      cause =
          "Gloo's processes cannot connect to each other: a host name that resolves to an "
          "address of its own host, an interface that others do not reach, or a firewall";
    }
    draft.evidence.mix(mesh.evidence);
  }
  if (draft.evidence.empty()) return;
  Finding& finding =
      findings.add("bootstrap_failure", Severity::Error,
                   fmt::format("the ranks do not connect at the start: {}", cause), draft);
  finding.cause = cause;
  // Another port helps only if another job connects to it.
  const bool is_shared_port = has_hurt && !foreign.evidence.empty();
  finding.fix = !far.empty() ? "fix the route to that address (net_unreachable)"
                : messages.has(MessageId::InvalidCommId)
                    ? "NCCL_COMM_ID=<address of rank 0>:<port>, or unset it"
                : messages.has(MessageId::BootstrapTruncated)
                    ? "one NCCL on all ranks: python -c 'import torch; "
                      "print(torch.cuda.nccl.version())' in each container; the same image "
                      "everywhere"
                : is_shared_port
                    ? "use a new MASTER_PORT for each job; the same release on all ranks"
                    : "check that all ranks start, on addresses that all can reach: ip "
                      "-br addr; nc -vz <address> <port> from the other hosts";
}

void look_for_limits(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  const auto is_locked = [](const KeptMessage& message) {
    return is_memory_refused(message.text());
  };
  const MessageLines& verbs = messages[MessageId::IbCallFailed];
  const MessageLines& requests = messages[MessageId::OfiRequestFailed];
  Evidence locked = evidence_of(verbs, is_locked);
  locked.mix(evidence_of(requests, is_locked));
  if (!locked.empty()) {
    Finding& finding = findings.add("memlock_limit", Severity::Error,
                                    "the limit of locked memory is too low for RDMA", locked);
    findings.say_who(finding, verbs.evidence.empty() ? requests.processes : verbs.processes);
    finding.cause =
        "\"Cannot allocate memory\" of a verbs call, or of libfabric's over it, is the memlock "
        "limit, "
        "not the machine's memory";
    finding.fix =
        "ulimit -l unlimited; docker run --ulimit memlock=-1; systemd: LimitMEMLOCK=infinity";
  }

  const MessageLines& shm = messages[MessageId::ShmFailed];
  const PlainLines& loader = facts.plain_of(PlainLine::ShmOfLoader);
  const PlainLines& bus = facts.plain_of(PlainLine::BusError);
  const auto is_attach = [](const KeptMessage& message) {
    return contains(message.text(), "attaching");
  };
  const bool is_space =
      std::any_of(shm.kept.begin(), shm.kept.end(), [&](const KeptMessage& message) {
        return !is_attach(message) || contains(message.text(), "No space left");
      });
  if (is_space || !loader.evidence.empty()) {
    Finding& finding = findings.add("shm_exhausted", Severity::Error, "/dev/shm is full");
    if (is_space) findings.quote(finding, shm);
    finding.evidence.mix(loader.evidence);
    finding.cause =
        "shared memory between the processes of a host has no room; containers get 64 MB by "
        "default";
    finding.fix =
        "docker run --shm-size=16g (Kubernetes: an emptyDir of medium Memory at /dev/shm); rm "
        "/dev/shm/nccl-*";
  } else if (!bus.evidence.empty()) {
    Finding& finding =
        findings.add("shm_exhausted", Severity::Warning,
                     "a process died of SIGBUS: /dev/shm is most likely full", bus.evidence);
    finding.confidence = Confidence::Medium;
    finding.cause =
        "memory that was promised did not exist when it was first touched: this happens to a "
        "process that writes to a "
        "file in a full /dev/shm, or to a mapped file that another process shortened";
    finding.fix = "df -h /dev/shm on that host; docker run --shm-size=16g; rm /dev/shm/nccl-*";
  } else if (!shm.evidence.empty()) {
    Finding& finding = findings.add("ipc_failed", Severity::Error,
                                    "a shared memory segment of a peer is not there", shm);
    finding.cause = "the ranks run in containers that do not share /dev/shm but have one host name";
    finding.fix = "docker run --ipc=host ..., or NCCL_SHM_DISABLE=1";
  }

  Evidence files;
  for (const MessageId id : {MessageId::TooManyOpenFiles, MessageId::SocketAcceptFailed,
                             MessageId::ProxyAcceptFailed, MessageId::SocketCallFailed}) {
    files.mix(evidence_of(messages[id], [](const KeptMessage& message) {
      return contains(message.text(), "Too many open files");
    }));
  }
  if (!files.empty()) {
    Finding& finding =
        findings.add("fd_limit", Severity::Error, "the limit of open files is reached", files);
    finding.cause =
        "every connection takes a descriptor; large jobs need more than the default of 1,024";
    finding.fix = "ulimit -n 1048576";
  }
}

namespace {

/// Explains several tasks of a launcher that find the port of their own store in use: each started the store, and only
/// one can have the port. A single task conflicts with another job.
bool say_many_launchers(const JobFacts& facts, const std::string& port, Findings& findings) {
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

}  // namespace

void look_for_store_timeouts(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  const std::string port = port_in_use(messages[MessageId::StorePortInUse]);
  if (say_many_launchers(facts, port, findings)) return;
  Finding draft;
  std::string cause;
  const auto take = [&](MessageId id, std::string_view why) {
    if (!messages.has(id)) return;
    if (cause.empty()) cause = why;
    findings.quote(draft, messages[id]);
  };
  take(MessageId::InitBarrierTimeout, "some processes of the job never came");
  // Repeated attempts may succeed: they count only if the job then failed.
  const MessageLines& unreachable = messages[MessageId::StoreUnreachable];
  const bool is_final =
      !facts.python_errors.empty() ||
      std::any_of(unreachable.kept.begin(), unreachable.kept.end(),
                  [](const KeptMessage& message) { return !contains(message.text(), "try="); });
  const bool has_unreachable = is_final && !unreachable.evidence.empty();
  if (is_final)
    take(MessageId::StoreUnreachable,
         "the process that holds the store (rank 0) is not up, or cannot be reached");
  take(MessageId::StorePortInUse,
       port.empty()
           ? std::string("MASTER_PORT is already in use by another job or one that has not ended")
           : fmt::format("port {} (MASTER_PORT) is already in use by another job or one that has "
                         "not ended",
                         port));
  take(MessageId::RendezvousFailed, "the agents of the nodes did not connect");
  const Evidence agents =
      evidence_of(messages[MessageId::StoreBroken], [](const KeptMessage& message) {
        return contains(message.text(), "RendezvousConnectionError");
      });
  if (!agents.empty() && cause.empty()) cause = "an agent has lost the store, or never reached it";
  draft.evidence.mix(agents);
  take(MessageId::StoreTimeout,
       "a process waited for a key that another one did not write in time");
  for (const KeptLine& line : facts.plain_of(PlainLine::UniqueIdTimeout).kept) {
    if (!contains_any(line.quoted.text, {"Timeout", "timeout"})) continue;
    draft.evidence.add(line.quoted);
    if (line.launcher_rank >= 0) draft.ranks.push_back(line.launcher_rank);
    if (cause.empty()) cause = "rank 0 of that group did not enter its first collective in time";
  }
  if (!draft.evidence.empty() || !facts.results.empty()) {
    // A missing id is explained by the other causes, or by the library's own errors.
  } else {
    for (const KeptLine& line : facts.plain_of(PlainLine::UniqueIdTimeout).kept) {
      draft.evidence.add(line.quoted);
      if (line.launcher_rank >= 0) draft.ranks.push_back(line.launcher_rank);
      cause = "rank 0, whose process holds the store, ended before it had sent its id";
    }
  }
  for (const PythonErrorFact& error : facts.python_errors) {
    const bool is_store = contains(error.type, "DistStoreError") ||
                          contains(error.text, "Socket Timeout") ||
                          contains(error.text, "wait timeout after");
    const bool is_build = contains(error.text, "without libuv");  // rules/reasons.cpp
    if (!is_store || is_build || !draft.evidence.empty()) continue;
    draft.evidence.add(error.quoted);
    if (cause.empty()) cause = "a process waited for a key that another one did not write in time";
  }
  if (draft.evidence.empty()) return;
  const std::string_view what = messages.has(MessageId::StorePortInUse) ? "does not start"
                                : has_unreachable                       ? "is not reached"
                                                                        : "gave up waiting";
  Finding& finding = findings.add("store_timeout", Severity::Error,
                                  fmt::format("the rendezvous store {}: {}", what, cause), draft);
  finding.cause = cause;
  finding.fix = messages.has(MessageId::StorePortInUse)
                    ? fmt::format(
                          "ss -ltnp | grep {}   # end what holds it; or another MASTER_PORT, "
                          "torchrun --rdzv_endpoint=localhost:0 on one host",
                          port.empty() ? "<port>" : port)
                : has_unreachable
                    ? "nc -vz $MASTER_ADDR $MASTER_PORT from that host; check that rank 0 runs"
                    : "look at what the missing process does before its first collective; "
                      "init_process_group(timeout=...) if it is legitimately slow";
  const bool is_own_address =
      has_unreachable &&
      std::any_of(unreachable.kept.begin(), unreachable.kept.end(), [](const KeptMessage& message) {
        return contains_any(message.text(), {"[localhost]", "(localhost,", "[127.0.0.1]",
                                             "(127.0.0.1,", "[::1]", "(::1,"});
      });
  if (is_own_address) {
    finding.cause =
        "MASTER_ADDR is this host's own loopback address: on every node but rank 0's no process "
        "listens "
        "there; on rank 0's node, rank 0 is not up";
    finding.fix =
        "MASTER_ADDR=<rank 0's address or name, as all nodes reach it>, the same on every node; "
        "torchrun --rdzv_endpoint=<that>:29500";
  }
  const PlainLines& nameless = facts.plain_of(PlainLine::NameWithoutAddress);
  if (has_unreachable && !nameless.evidence.empty()) {
    finding.evidence.mix(nameless.evidence);
    finding.cause =
        "the store's host name has no address there: its pod or host does not exist "
        "yet, or the resolver does not know it";
    finding.fix = "getent hosts $MASTER_ADDR on that host";
  }
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
  Finding& finding = findings.add(
      "slow_init", longest >= kTooSlow_s ? Severity::Warning : Severity::Info,
      fmt::format("a communicator took {:.0f} s to start, {:.0f} s of them in the bootstrap",
                  longest, bootstrap),
      facts.slow_inits);
  finding.cause =
      bootstrap > longest / 2
          ? "ranks waited for each other: the one with the smallest bootstrap time came last"
          : "the topology, the connections or the kernels took their time on this host";
  finding.fix = "compare the parts of Init timings between ranks";
}

}  // namespace ringside::audit
