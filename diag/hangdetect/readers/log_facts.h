#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/facts/facts.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/log_dumps.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/process_stacks.h"
#include "diag/hangdetect/readers/rank_timers.h"
#include "diag/hangdetect/readers/ras_report.h"
#include "diag/hangdetect/readers/run_notes.h"
#include "diag/job/process_ranks.h"
#include "diag/job/slurm_layout.h"
#include "diag/logparse/record.h"
#include "diag/logparse/speakers.h"

namespace ringside::hang {

/// A line that a rank's program wrote.
struct LoggedLine {
  std::string text;  ///< empty: no line
  std::string file;
  std::int64_t line = -1;
  bool is_late = false;  ///< written after other ranks had timed out
};

/// What the logs show of one rank, whether it has a dump or not.
struct RankNotes {
  bool has_failed =
      false;  ///< its last call ended with an error, so a retired call in its dump has failed
  bool has_lost_peer = false;  ///< that error was that a peer closed a connection
  bool has_exception = false;  ///< its program raised an error that is not a communication error
  std::string exception;       ///< line of that error: `ValueError: corrupted record`
  bool has_alarm = false;      ///< a line of its program mentions an error or a wait
  bool is_waiting = false;     ///< its watchdog timed out in a call whose group is unknown
  bool has_stack = false;      ///< the input has a stack of its main thread
  bool is_busy = false;        ///< its stack shows work other than communication
  bool is_in_group_creation = false;  ///< its stack is in the creation of a process group
  std::string busy_with;              ///< function and source line of that work
  LoggedLine last_line;               ///< last line of its program that reports no error
};

/// A log line that is direct evidence for the cause of a hang.
struct LogStatement {
  enum class What : std::uint8_t {
    Laggards,  ///< Horovod's stall inspector names ranks that did not submit a tensor
    TensorsCross,  ///< the same for all ranks: each lacks a tensor of another; `ranks` lack tensors of all others
    Fingerprint,    ///< a rank's call, printed with TORCH_DISTRIBUTED_DEBUG=DETAIL
    Exception,      ///< a rank's program raised an error that is not a communication error
    WatchdogStuck,  ///< the heartbeat monitor: the watchdog itself is stuck
    EndAbsent,  ///< `ranks` do not destroy a communicator; `code` other ranks of their host wait for it
    StartAbsent,      ///< `ranks` have not begun to create a communicator that others create
    NoUniqueId,       ///< rank 0 of a group never made its communicator
    Analyser,         ///< `Culprit rank` of PyTorch's dump analyser
    AnalyserMissing,  ///< `missing ranks` of PyTorch's dump analyser
    PeerLost,   ///< a rank's connection to a peer ended; detail: the peer, if the call names it
    StoreLost,  ///< a rank's connection to the store ended; detail: the store's host
    RasDead,    ///< ncclras: a process is considered dead
    RasSilent,  ///< ncclras: a process or rank did not answer
    RasError,   ///< ncclras: a rank has an asynchronous error; code: its ncclResult
    RasStatus,  ///< ncclras: the communicator of `ranks` has a different status; detail: the status
    RasOdd,     ///< ncclras: `ranks` launched equally many operations as others, of different types
    RasBehind,  ///< ncclras: `ranks` launched fewer operations than others in the same report
    RasAhead,   ///< ncclras: the few listed ranks launched more operations than others
    EngineAbsent,   ///< ringside's own engine: ranks did not join at the start of the job
    EngineSilent,   ///< engine: all other ranks report a failure, or `ranks` made the fewest calls
    EngineGone,     ///< engine: a rank's process ended without closing its connections
    EngineStopped,  ///< engine: all other ranks sent heartbeats, `ranks` did not
    EngineDiffers,  ///< engine: ranks made different calls, and had time to reach the call
    EngineCut,      ///< engine: a connection between two live ranks broke
    Failure,  ///< a library's warning of a failure other than a hang; detail: its meaning; code:
    ///< kRaised for an exception
    Busy,  ///< a process did other work when others timed out; detail: `was writing a checkpoint`
    Stopped,  ///< ps: a rank's process is stopped, dead or blocked in the kernel; code: its state letter
    GpuIdle,  ///< nvidia-smi: one GPU of a host is idle and all others are busy
    PodWaits,  ///< kubectl: the pod with this index never started, and the others run; detail: its status;
    ///< code: number of pods of the job, 0: unknown
    PodEnded,   ///< kubectl: the pod ended; detail and code as for PodWaits
    LeftGroup,  ///< a rank closed its process group before others timed out
    Slow,       ///< a monitor reports that a rank is slower than the others; detail: the slow work
  };
  What what = What::Laggards;
  std::vector<int> ranks;    ///< the ranks that the line names; may be empty
  std::int64_t code = 0;     ///< meaning depends on `what`
  std::int64_t time_us = 0;  ///< wall time in the line, in us since 1970; 0: none
  std::string text;          ///< the line, shortened
  std::string detail;        ///< meaning depends on `what`; for Fingerprint: op, shape and type
  std::string file;
  std::int64_t line = -1;
  std::vector<int> dump_ranks = {};  ///< for a dump's reason: the ranks whose dumps contain it
  std::string where = {};            ///< for a death: `pod sft-worker-2`; empty: not in the line
};

/// The code of a Failure: a library call failed and the program ended because of it, so other ranks may wait.
inline constexpr std::int64_t kRaised = 1;

/// All facts that the logs of a job state.
struct LogFacts {
  facts::Facts facts;                    ///< from the rows of the catalogue
  std::map<int, RankNotes> notes;        ///< by global rank
  std::vector<LogStatement> statements;  ///< in the order of the input
  std::vector<RankDump>
      dumps;  ///< of ranks whose watchdog logs their blocked call; `version` is "log"
  std::vector<GroupWait> group_waits;  ///< waits of ranks whose global rank is unknown
  std::vector<RankDump>
      lines_as_dumps;  ///< dumps made from COLL lines, for every rank with such lines
  std::vector<RankDump>
      stated_calls;  ///< dumps of calls that a program prints or a person lists, if there are no COLL lines
  std::string moved;       ///< how two ncclras reports show that the job moved; empty: they do not
  int world = 0;           ///< largest number of ranks that a line names
  int hosts = 0;           ///< number of hosts that the caller counted; 0: unknown
  int known_world = 0;     ///< number of ranks that a line states; 0: no line does
  bool is_of_job = false;  ///< a line shows a multi-process job
  bool is_ras_healthy = false;  ///< an ncclras text report shows every communicator as OK
  RunNotes run;
  std::vector<RasReport> reports;         ///< ncclras JSON reports between other lines
  std::vector<RankTimer> timers;          ///< in the order of the input
  std::string timers_file;                ///< the file that holds them
  std::vector<ProcessStack> stacks;       ///< in the order of the input
  job::SlurmLayout layout;                ///< from the options of a batch script in a paste
  std::map<int, ProcessPlace> processes;  ///< by global rank
  Stack call_stack;                       ///< stack of the failed collective, as PyTorch prints it
  std::uint64_t unread = 0;               ///< lines that no reader understands
  std::uint64_t lines = 0;
  std::int64_t timeouts = 0;  ///< watchdog lines
};

/// Reads logs of NCCL, PyTorch, launchers and ncclras, compressed or not, and the stacks in them. Small files are
/// normalised with read_paste() first. Files that cannot be read are omitted: find_inputs() has opened them before.
/// dumps  list the process groups, which the watchdog's lines lack up to PyTorch 2.4
LogFacts read_log_facts(const std::vector<InputFile>& files, Names& names,
                        std::span<const RankDump> dumps);

/// A line that the caller has read, and the process that wrote it.
struct AttributedRecord {
  logs::Record record;
  logs::Speaker speaker;
};

/// What the caller knows about the job from lines that are not among the records.
struct KnownJob {
  int ranks = 0;           ///< number of ranks; 0: unknown
  int hosts = 0;           ///< number of hosts; 0: unknown
  bool is_of_job = false;  ///< a line shows a multi-process job
  job::ProcessRanks processes = {};
  std::map<int, std::uint64_t> calls_of = {};  ///< number of calls, by rank
};

/// Reads records that the caller has parsed, in the order of their log, like read_log_facts().
/// where  maps a record's place to file and line
LogFacts read_log_records(std::span<const AttributedRecord> records, const WhereFunction& where,
                          const KnownJob& known, Names& names);

/// Reads one text in memory like read_log_facts(), without dumps. Evidence names the text `name`.
LogFacts read_log_text(std::string_view text, const std::string& name, Names& names);

/// Reads files with stacks from py-spy, faulthandler or gdb and adds them to the facts.
/// bad  gets the files that cannot be read, or have more than 16 MiB
void read_stacks(const std::vector<InputFile>& files, LogFacts& facts, std::vector<BadFile>& bad);

}  // namespace ringside::hang
