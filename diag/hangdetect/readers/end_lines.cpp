#include "diag/hangdetect/readers/end_lines.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "diag/facts/exit_status.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/run_lines.h"
#include "diag/job/job_words.h"
#include "diag/job/line_rank.h"
#include "diag/logparse/message.h"
#include "diag/logparse/torch_lines.h"
#include "diag/logparse/wrappers.h"

namespace ringside::hang {

using logs::MessageId;
using logs::Record;
using What = LogStatement::What;

namespace {

/// What a container's runtime or Ray says of a death for want of memory.
std::string memory_in(std::string_view text) {
  for (const std::string_view words :
       {"OOMKilled", "memory pressure", "low on memory", "OutOfMemory", "resource: memory"}) {
    if (text.find(words) != std::string_view::npos) return std::string(kNoMemory);
  }
  return {};
}

/// `*** STEP 7.0 ON n01 CANCELLED AT 2025-05-01T11:58:41 DUE TO TIME LIMIT ***`, which has its time in the text.
void state_cancelled(const Record& record, Statements& statements) {
  Record timed = record;
  constexpr std::string_view kAt = " AT ";
  const std::size_t at = record.line.find(kAt);
  if (timed.time_us == 0 && at != std::string_view::npos)
    logs::read_time(record.line.substr(at + kAt.size()), timed.time_us);
  statements.state(timed, What::Cancelled, {}, 0,
                   std::string(logs::message_argument(record, "reason")));
}

/// A status, or a signal by its name; 0: neither.
std::int64_t code_of_child(const Record& record) {
  const std::string_view signal = logs::message_argument(record, "signal");
  for (const auto& [name, number] : {std::pair<std::string_view, int>{"SIGKILL", 9},
                                     {"SIGSEGV", 11},
                                     {"SIGABRT", 6},
                                     {"SIGTERM", 15},
                                     {"SIGBUS", 7},
                                     {"SIGFPE", 8},
                                     {"SIGILL", 4}}) {
    if (signal == name) return -number;
  }
  return logs::message_number(record, "exitcode", 0);
}

}  // namespace

/// The other failures stand before the first one. Those that fell by the same signal in the same second
/// fell with it: what the launcher itself ends, it ends with SIGTERM, and with SIGKILL half a minute later.
void EndLines::take_summary(const Record& record) {
  const std::int64_t rank = logs::message_number(record, "rank");
  const std::int64_t code = logs::message_number(record, "exitcode", 0);
  if (const auto time = logs::message_argument(record, "time"); !time.empty()) {
    failure_.time = time;
  }
  if (const auto host = logs::message_argument(record, "host"); !host.empty()) failure_.host = host;
  if (rank >= 0) failure_.rank = static_cast<int>(rank);
  const std::int64_t pid = logs::message_number(record, "pid");
  if (failure_.rank >= 0 && pid >= 0 && processes_.size() < Statements::kMost)
    processes_.push_back({failure_.host, pid, failure_.rank});
  if (code == 0 || failure_.rank < 0) return;
  failure_.code = code;
  if (in_root_cause_) {
    std::vector<int> ranks{failure_.rank};
    for (const Failure& other : others_) {
      const bool is_alike = other.code == code && other.time == failure_.time;
      if (is_alike && code < 0) ranks.push_back(other.rank);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    statements_.state(record, What::Ended, std::move(ranks), code);
    in_root_cause_ = false;
    others_.clear();
  } else if (others_.size() < Statements::kMost) {
    others_.push_back(failure_);
  }
  failure_ = {};
}

/// `failed (exitcode: -9) local_rank: 1 (pid: 15527)`: the summary that follows has the global rank, if somebody kept
/// it. DeepSpeed's launcher prints the command, which has the local rank.
void EndLines::take_child(const Record& record) {
  const std::int64_t code = logs::message_number(record, "exitcode", 0);
  std::int64_t local = logs::message_number(record, "local_rank");
  for (const std::string_view key :
       {"--local_rank=", "--local-rank=", "'--local_rank', '", "--local_rank "}) {
    const std::size_t at = record.line.find(key);
    if (local >= 0 || at == std::string_view::npos) continue;
    const std::string_view rest = record.line.substr(at + key.size());
    local = parse_whole(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(-1);
  }
  if (code == 0 || local > kMostRanks) return;
  // A launcher that was told to end kills what does not end by itself.
  if (was_signalled_ && (code == -9 || code == -15)) return;
  if (local >= 0) {
    statements_.state(record, What::EndedLocal, {static_cast<int>(local)}, code);
  } else {
    statements_.state(record, What::HostDeath, {}, code);
  }
}

/// `Received 15 death signal, shutting down workers`: somebody else ended the launcher. What it says of processes that
/// it ends itself is none of these.
bool EndLines::take_launcher(const Record& record) {
  const std::string_view text = record.text();
  const bool is_own = text.find("death signal") == std::string_view::npos &&
                      text.find("SignalException") == std::string_view::npos;
  if (is_own) return false;
  was_signalled_ = true;
  statements_.state(record, What::Cancelled, {}, kLauncherSignalled);
  return true;
}

/// srun's words for the end of a task. What falls after srun has begun to end the step, srun ended.
void EndLines::take_task(const Record& record) {
  const auto status = facts::status_of_words(logs::message_argument(record, "how"));
  if (!status) return;
  const bool is_signal = status->cause != facts::DeathCause::ExitCode;
  const std::int64_t code = is_signal ? -status->code : status->code;
  if (has_step_ended_ && (code == -9 || code == -15)) return;
  statements_.state(record, What::Ended,
                    logs::parse_rank_list(logs::message_argument(record, "tasks")), code);
}

void EndLines::take_crash(const Record& record, int rank) {
  const std::int64_t named = logs::message_number(record, "rank");
  if (named >= 0) rank = static_cast<int>(named);
  const std::string_view line = record.line;
  constexpr std::int64_t kAborted = 6, kSegmentationFault = 11, kTerminated = 15;
  const std::int64_t signal = logs::message_number(record, "signal", kSegmentationFault);
  // Whom a watchdog or its launcher ends, ends with these.
  // The end of a paste may have lost the end of the word.
  constexpr std::string_view kFatal = "Fatal Python error: ";
  const std::size_t fatal = line.find(kFatal);
  const bool is_cut = fatal != std::string_view::npos &&
                      std::string_view("Aborted").starts_with(line.substr(fatal + kFatal.size()));
  const bool is_victim = is_cut || signal == kAborted || signal == kTerminated ||
                         line.find("Aborted") != std::string_view::npos ||
                         line.find("SIGABRT") != std::string_view::npos ||
                         line.find("SIGTERM") != std::string_view::npos;
  if (is_victim) return;
  if (rank >= 0) {
    statements_.state(record, What::Ended, {rank}, -signal, "crashed");
  } else {
    statements_.state(record, What::Crashed, {});
    crash_ = -signal;
  }
}

void EndLines::take_thread(const Record& record, int rank) {
  if (crash_ == 0) return;
  constexpr std::size_t kNear = 48;
  const std::string_view head = record.line.substr(0, kNear);
  const bool is_thread = head.find("Current thread 0x") != std::string_view::npos ||
                         head.find("Thread 0x") != std::string_view::npos;
  if (rank < 0) rank = job::rank_before_text(record.line);
  if (is_thread && rank >= 0) statements_.state(record, What::Ended, {rank}, crash_, "crashed");
  crash_ = 0;  // the list of threads follows at once
}

/// `Worker proc VllmWorker-1 died unexpectedly`
void EndLines::take_worker(const Record& record) {
  const std::string_view worker = logs::message_argument(record, "worker");
  if (!worker.empty())
    statements_.state_of(record, What::Ended, rank_of_name(worker), 1, std::string(kNoStatus));
}

bool EndLines::take_message(const Record& record, int rank) {
  switch (record.as<logs::Message>().id) {
    case MessageId::ProcessCrashed:
      take_crash(record, rank);
      return true;
    case MessageId::WorkerDied:
      take_worker(record);
      return true;
    case MessageId::ChildEnded:
      statements_.state_of(record, What::Ended,
                           static_cast<int>(logs::message_number(record, "rank")),
                           code_of_child(record));
      return true;
    case MessageId::SlurmCancelled:
      has_step_ended_ = true;
      if (logs::message_argument(record, "reason").starts_with("NODE FAIL")) {
        statements_.state(record, What::HostDeath, {}, 0, std::string(kNodeFailed));
        return true;
      }
      state_cancelled(record, statements_);
      return true;
    case MessageId::ChildTerminated:
      return take_launcher(record);
    case MessageId::SlurmOther:
      if (record.text().find("error") != std::string_view::npos)
        statements_.note_run(record, {RunLine::What::Alarming, -1, -1}, rank);
      return true;
    case MessageId::SlurmStepEnds:
      has_step_ended_ = true;
      return true;
    case MessageId::SlurmOom: {
      std::vector<int> tasks = logs::parse_rank_list(logs::message_argument(record, "tasks"));
      const What what = tasks.empty() ? What::HostDeath : What::Ended;
      statements_.state(record, what, std::move(tasks), -9, std::string(kNoMemory));
      return true;
    }
    case MessageId::SlurmTaskEnded:
      take_task(record);
      return true;
    case MessageId::KernelOom:
      if (rank < 0) rank = job::rank_in_process_name(job::killed_process(record));
      if (!job::is_other_program(job::killed_process(record)))
        statements_.state_of(record, What::HostDeath, rank, 0, std::string(kNoMemory));
      return true;
    case MessageId::KubernetesEnded:
      // That a container is not started again tells of no death.
      if (record.text().find("Back-off") == std::string_view::npos)
        statements_.state_of(record, What::HostDeath, rank, 0, memory_in(record.text()));
      return true;
    case MessageId::RayEnded:
      statements_.state_of(record, What::HostDeath, rank, 0, memory_in(record.text()));
      return true;
    case MessageId::SlurmNodeFailure: {
      const std::string_view node = logs::message_argument(record, "node");
      statements_.state_of(
          record, What::HostDeath, rank, 0,
          std::string(kNodeFailed) + (node.empty() ? "" : ": " + std::string(node)));
      return true;
    }
    case MessageId::MpiDaemonLost:
    case MessageId::FallenOffBus:
      statements_.state_of(record, What::HostDeath, rank);
      return true;
    case MessageId::ChildFailed:
      take_child(record);
      return true;
    case MessageId::TorchrunRootCause:
      in_root_cause_ = true;
      return true;
    case MessageId::TorchrunSummary:
      take_summary(record);
      return true;
    case MessageId::MpiFirstDeath:
      if (logs::message_number(record, "rank") >= 0) {
        statements_.state(record, What::Ended,
                          {static_cast<int>(logs::message_number(record, "rank"))},
                          -logs::message_number(record, "signal", 0));
      }
      return true;
    default:
      return false;
  }
}

}  // namespace ringside::hang
