#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "diag/audit/rules/rule.h"
#include "diag/job/nccl_result.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// A call of the verbs library that failed and took its process with it, if no other rule explains it.
void find_failed_verbs(const JobFacts& facts, Findings& findings) {
  const bool is_explained = findings.has("memlock_limit") || findings.has("ib_device_unusable") ||
                            findings.has("ib_error", Severity::Warning) ||
                            findings.has("gid_index") ||
                            findings.has("gpu_memory_registration", Severity::Warning);
  if (is_explained) return;
  // The quote of the library in PyTorch's exception may be all that is left of the process.
  const bool is_reported = !facts.plain_of(PlainLine::SystemError).evidence.empty();
  const auto is_fatal = [&](const KeptMessage& message) {
    return is_warning(message) && (is_reported || facts.has_failed(message.process()));
  };
  const MessageLines& verbs = facts.messages[MessageId::IbCallFailed];
  Finding draft;
  findings.quote(draft, verbs, is_fatal);
  if (draft.evidence.empty()) return;
  const auto is_of_gid = [](const KeptMessage& message) {
    return contains(message.text(), "query_gid");
  };
  if (std::all_of(verbs.kept.begin(), verbs.kept.end(), is_of_gid)) {
    Finding& finding = findings.add("gid_index", Severity::Error,
                                    "a port has no GID at the index that NCCL asks for", draft);
    finding.cause =
        "NCCL_IB_GID_INDEX is beyond the port's GID table, or the interface that gave the entry "
        "has gone; a container without the host's network sees a part of the table";
    finding.fix =
        "show_gids in that container; unset NCCL_IB_GID_INDEX from 2.21 on, before it the index of "
        "the RoCE v2 entry";
    return;
  }
  Finding& finding = findings.add("ib_error", Severity::Error,
                                  "a call of the RDMA library fails, and the job with it", draft);
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
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> named;
  for (const RasFact& fact : facts.ras) {
    if (!fact.is_rank && contains(fact.errors, "ERROR")) held.add(fact.quoted);
    for (const auto& [rank, code] : fact.held) {
      if (named.size() == kMostNamed) break;
      named.push_back(
          fmt::format("rank {} of {} holds {}", rank, fact.nranks, job::nccl_result_text(code)));
    }
  }
  if (!held.empty() && !facts.messages.has(MessageId::RasErrorRanks)) {
    Finding& finding = findings.add("system_error", Severity::Error,
                                    "the RAS network reports errors of ranks", held);
    finding.cause = "a communicator failed to start, or failed later without the program's notice";
    if (!named.empty())
      finding.cause = fmt::format("{}: {}", fmt::join(named, ", "), finding.cause);
    finding.fix = "ncclras -v   # names the ranks: begin with their logs";
  }
  find_failed_verbs(facts, findings);
}

}  // namespace ringside::audit
