#include <algorithm>
#include <array>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

/// A refusal that one line of the library tells by itself.
struct Refusal {
  MessageId message;
  std::string_view id;
  std::string_view title, cause, fix;
};

constexpr std::array kRefusals{
    Refusal{MessageId::NoAlgorithm, "env_override",
            "the algorithm or protocol that is demanded cannot do this call",
            "NCCL_ALGO, NCCL_PROTO or a configuration file leaves nothing that this machine, type "
            "and operation can use",
            "unset NCCL_ALGO NCCL_PROTO"},
    Refusal{MessageId::RanksUndetermined, "bootstrap_failure",
            "NCCL cannot tell which ranks share a host",
            "machines with one host name, or NCCL_HOSTID set alike on several of them",
            "give every host its own name; unset NCCL_HOSTID"},
    Refusal{MessageId::RasErrorRanks, "system_error", "ranks hold an error, says the RAS network",
            "a communicator failed to start, or failed later without the program's notice",
            "ncclras -v   # names the ranks: begin with their logs"},
    Refusal{MessageId::HostMemoryExhausted, "system_error", "the host has no memory left",
            "an allocation of the library's own failed", "free -h; dmesg -T | grep -i oom"},
    Refusal{MessageId::InvalidArguments, "invalid_usage",
            "a communicator was asked for with impossible numbers",
            "the launcher's world size and the ranks do not fit together",
            "print RANK and WORLD_SIZE on every process"},
    Refusal{MessageId::WrongDevicePointer, "invalid_usage",
            "a buffer is not memory of the GPU that this communicator is on",
            "a pointer to host memory, to another GPU's, or to memory that was freed",
            "torch.cuda.set_device(LOCAL_RANK) before anything is allocated; tensors on that GPU"},
    Refusal{
        MessageId::InvalidCall, "invalid_usage", "NCCL refuses the arguments of a call",
        "the line quoted names the argument: a root is counted within the group, a count, type "
        "or operation must be one of NCCL's, a communicator must be made and not destroyed",
        "correct that argument; of a group of PyTorch's, src and dst are ranks of the whole job"},
    Refusal{MessageId::GraphUsageMode, "invalid_usage",
            "CUDA graphs are captured against the communicator's configuration",
            "graphUsageMode promises that no graph is captured", "set graphUsageMode to 1 or 2"},
    Refusal{MessageId::NvlsSharedGpu, "invalid_usage",
            "NVLS is demanded and several ranks share a GPU", "NCCL_NVLS_ENABLE=1 with MIG or MPS",
            "unset NCCL_NVLS_ENABLE"},
    Refusal{MessageId::TopologyFileBad, "topology_file",
            "the topology file does not describe this machine",
            "NCCL_TOPO_FILE or NCCL_GRAPH_FILE comes from another machine type, or is no XML",
            "unset NCCL_TOPO_FILE NCCL_GRAPH_FILE, or take the file of this instance type"},
};

/// A call of the verbs library that failed and took its process with it, if no other rule explains it.
void find_failed_verbs(const JobFacts& facts, Findings& findings) {
  const bool is_explained = findings.has("memlock_limit") || findings.has("ib_device_unusable") ||
                            findings.has("ib_error", Severity::Warning) ||
                            findings.has("gid_index");
  if (is_explained) return;
  // The exception of PyTorch's that quotes the library may be all that is left of the process.
  const bool is_told = !facts.plain_of(PlainLine::SystemError).evidence.empty();
  const auto is_fatal = [&](const KeptMessage& message) {
    return is_warning(message) && (is_told || facts.has_failed(message.process()));
  };
  const MessageLines& verbs = facts.messages[MessageId::IbCallFailed];
  const Evidence evidence = evidence_of(verbs, is_fatal);
  if (evidence.empty()) return;
  const auto is_of_gid = [](const KeptMessage& message) {
    return contains(message.text(), "query_gid");
  };
  if (std::all_of(verbs.kept.begin(), verbs.kept.end(), is_of_gid)) {
    Finding& finding = findings.add("gid_index", Severity::Error,
                                    "a port has no GID at the index that NCCL asks for");
    finding.evidence = evidence;
    findings.say_who(finding, verbs.processes);
    finding.cause =
        "NCCL_IB_GID_INDEX is beyond the port's GID table, or the interface that gave the entry "
        "has "
        "gone; a container without the host's network sees a part of the table";
    finding.fix =
        "show_gids in that container; unset NCCL_IB_GID_INDEX from 2.21 on, before it the index of "
        "the RoCE v2 entry";
    return;
  }
  Finding& finding = findings.add("ib_error", Severity::Error,
                                  "a call of the RDMA library fails, and the job with it");
  finding.evidence = evidence;
  findings.say_who(finding, verbs.processes);
  const bool is_address =
      std::any_of(verbs.kept.begin(), verbs.kept.end(),
                  [](const auto& message) { return contains(message.text(), "Bad address"); });
  finding.confidence = Confidence::Medium;
  if (is_address) finding.title = "GPU memory cannot be registered with the NIC: Bad address";
  finding.cause = is_address
                      ? "GPU memory cannot be registered: the peer memory module does not fit "
                        "the driver, or the memory is of a kind that needs DMA-BUF"
                      : "the driver refused: devices, limits or firmware";
  finding.fix =
      is_address ? "modprobe -r nvidia_peermem; modprobe nvidia_peermem   # of the driver in use; "
                   "NCCL_NET_GDR_LEVEL=LOC to confirm"
                 : "ibv_devinfo -v; dmesg on that host";
}

}  // namespace

void look_for_refusals(const JobFacts& facts, Findings& findings) {
  Evidence held;
  for (const RasFact& fact : facts.ras) {
    if (!fact.is_rank && contains(fact.errors, "ERROR"))
      held.add(fact.quoted.place, fact.quoted.process, fact.quoted.text);
  }
  if (!held.empty() && !facts.messages.has(MessageId::RasErrorRanks)) {
    Finding& finding =
        findings.add("system_error", Severity::Error, "ranks hold an error, says the RAS network");
    finding.evidence = held;
    finding.cause = "a communicator failed to start, or failed later without the program's notice";
    finding.fix = "ncclras -v   # names the ranks: begin with their logs";
  }
  for (const Refusal& refusal : kRefusals) {
    const MessageLines& lines = facts.messages[refusal.message];
    const Evidence evidence = evidence_of(lines, is_warning);
    if (evidence.empty()) continue;
    Finding& finding = findings.add(refusal.id, Severity::Error, std::string(refusal.title));
    finding.evidence = evidence;
    findings.say_who(finding, lines.processes);
    finding.cause = refusal.cause;
    finding.fix = refusal.fix;
  }
  find_failed_verbs(facts, findings);
}

}  // namespace ringside::audit
