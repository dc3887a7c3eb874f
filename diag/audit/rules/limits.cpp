#include <algorithm>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Reports that RDMA may not lock memory.
void find_memlock_limit(const JobFacts& facts, Findings& findings) {
  const auto is_locked = [](const KeptMessage& message) {
    return is_memory_refused(message.text());
  };
  Finding draft;
  for (const MessageId id : {MessageId::IbCallFailed, MessageId::OfiRequestFailed})
    findings.quote(draft, facts.messages[id], is_locked);
  if (draft.evidence.empty()) return;
  Finding& finding = findings.add("memlock_limit", Severity::Error,
                                  "the limit of locked memory is too low for RDMA", draft);
  finding.cause =
      "\"Cannot allocate memory\" of a verbs call, or of libfabric's over it, is the memlock "
      "limit, not the machine's memory";
  finding.fix =
      "ulimit -l unlimited; docker run --ulimit memlock=-1; systemd: LimitMEMLOCK=infinity";
}

/// Reports that shared memory has no room, or that a peer's segment does not exist.
void find_shm_troubles(const JobFacts& facts, Findings& findings) {
  const MessageLines& shm = facts.messages[MessageId::ShmFailed];
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
        "process that writes to a file in a full /dev/shm, or to a mapped file that another "
        "process shortened";
    finding.fix = "df -h /dev/shm on that host; docker run --shm-size=16g; rm /dev/shm/nccl-*";
  } else if (!shm.evidence.empty()) {
    Finding& finding = findings.add("ipc_failed", Severity::Error,
                                    "a shared memory segment of a peer is not there", shm);
    finding.cause = "the ranks run in containers that do not share /dev/shm but have one host name";
    finding.fix = "docker run --ipc=host ..., or NCCL_SHM_DISABLE=1";
  }
}

void find_fd_limit(const JobFacts& facts, Findings& findings) {
  Evidence files;
  for (const MessageId id : {MessageId::TooManyOpenFiles, MessageId::SocketAcceptFailed,
                             MessageId::ProxyAcceptFailed, MessageId::SocketCallFailed}) {
    files.mix(evidence_of(facts.messages[id], [](const KeptMessage& message) {
      return contains(message.text(), "Too many open files");
    }));
  }
  if (files.empty()) return;
  Finding& finding =
      findings.add("fd_limit", Severity::Error, "the limit of open files is reached", files);
  finding.cause =
      "every connection takes a descriptor; large jobs need more than the default of 1,024";
  finding.fix = "ulimit -n 1048576";
}

}  // namespace

void look_for_limits(const JobFacts& facts, Findings& findings) {
  find_memlock_limit(facts, findings);
  find_shm_troubles(facts, findings);
  find_fd_limit(facts, findings);
}

}  // namespace ringside::audit
