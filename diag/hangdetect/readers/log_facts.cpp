#include "diag/hangdetect/readers/log_facts.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "diag/facts/reader.h"
#include "diag/hangdetect/readers/call_texts.h"
#include "diag/hangdetect/readers/coll_lines.h"
#include "diag/hangdetect/readers/comm_starts.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/line_words.h"
#include "diag/hangdetect/readers/log_dumps.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/readers/paste_reader.h"
#include "diag/hangdetect/readers/paste_text.h"
#include "diag/hangdetect/readers/program_lines.h"
#include "diag/hangdetect/readers/ras_text.h"
#include "diag/hangdetect/readers/run_lines.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/job/job_words.h"
#include "diag/job/line_rank.h"
#include "diag/job/world_size.h"
#include "diag/logparse/host_records.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/message.h"
#include "diag/logparse/parse_logs.h"
#include "diag/logparse/ras_records.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {

using What = LogStatement::What;

namespace {

using logs::MessageId;
using logs::Record;
using logs::RecordKind;

constexpr std::size_t kShown = Statements::kShown;
constexpr std::string_view kIsStopped = "is stopped by a signal (SIGSTOP) or a debugger";

// The codes of LogStatement::What::Stopped: process states as ps(1) prints them.
constexpr std::int64_t kStateStopped = 'T', kStateEnded = 'Z';

/// Fills LogFacts from the records of a job's logs.
///
/// A record is taken by the readers of its kind: `rows_` turns lines into facts by the catalogue, `words_` reads the
/// program's own lines, `dumps_` the watchdog's, `calls_` NCCL's COLL lines, `starts_` the life of communicators,
/// `ras_` ncclras. Each collects what needs several lines; finish() asks them for it. `said_` collects the statements.
///
/// Ordering   know() first, then the records in the order of their logs, then finish() once
/// Ownership  facts and names outlive it
class Sink : public logs::RecordSink {
 public:
  explicit Sink(LogFacts& facts, Names& names)
      : facts_(facts),
        names_(names),
        rows_(facts.facts),
        said_(facts),
        words_(facts, said_),
        dumps_(names),
        calls_(names) {}

  void take(std::span<const Record> records, const logs::SpeakerTable& speakers) override {
    for (const Record& record : records) take_one(record, speakers[record.speaker]);
  }

  void take_one(const Record& record, const logs::Speaker& speaker) {
    if (!facts_.is_of_job) facts_.is_of_job = job::is_of_job(record);
    world_.take(record);
    rows_.take(record, speaker);
    take_kind(record, speaker);
  }

  /// Takes the caller's knowledge: which process is which rank, and how many calls each rank has made.
  void know(const KnownJob& known) {
    ranks_ = known.processes;
    calls_of_ = known.calls_of;
  }

  /// Completes the facts after the last record. The order matters: first the statements that end with the logs, then
  /// which process is which rank, then the number of ranks, then what needs both.
  /// where  turns places into files and lines, which it knows only once everything is read
  void finish(const WhereFunction& where, const LogGroups& groups) {
    end_statements(where);
    settle_ranks(where);
    state_engine_culprits();
    state_world(where);
    for (ProcessStack& stack : facts_.stacks) name_stack(stack);
    name_processes();
    add_dumps(where, groups);
  }

 private:
  /// Makes the statements for which a reader needs the whole log. ncclras also names the ranks of processes.
  void end_statements(const WhereFunction& where) {
    words_.finish();
    words_.busy().finish(where);
    starts_.state(said_);
    state_ras();
  }

  /// Gives facts about a process its rank, and learns the ranks that other facts add.
  void settle_ranks(const WhereFunction& where) {
    for (const auto& [process, rank] : rank_of_process_)
      ranks_.know(process.first, process.second, rank);
    ranks_ = facts::settle(facts_.facts, where, std::move(ranks_));
  }

  /// States the number of ranks: what lines state, and at least every rank that a line names. Horovod's list of stalled
  /// ranks names a culprit only if it does not list all ranks.
  void state_world(const WhereFunction& where) {
    world_.know(dumps_.waits().world());
    said_.know_world(world_.ranks());
    for (const facts::Member& member : facts_.facts.members) {
      if (member.reporter == facts::Reporter::Rendezvous) said_.know_world(member.size);
    }
    words_.state_stalled();
    said_.finish(where);
    facts_.world = std::max(facts_.world, facts_.known_world);
    for (const facts::Died& death : facts_.facts.deaths) {
      count_rank(death.subject.rank);
      for (const int rank : death.ranks) count_rank(rank);
    }
    for (const facts::Member& member : facts_.facts.members) {
      for (const int rank : member.missing) count_rank(rank);
    }
  }

  /// Makes dumps of calls. Calls that a program prints are used only without NCCL's COLL lines, which are exact.
  void add_dumps(const WhereFunction& where, const LogGroups& groups) {
    facts_.lines_as_dumps = calls_.finish(facts_.world, facts_.known_world, where, groups);
    facts_.dumps = dumps_.finish(where, groups);
    facts_.timeouts = dumps_.waits().timeouts();
    if (facts_.lines_as_dumps.empty()) {
      // Some line of the text claims a hang, so that a last call without an end is one.
      const bool is_claimed = facts_.run.claims > 0 || facts_.run.waits > 0 || facts_.timeouts > 0;
      facts_.stated_calls = words_.calls().finish(names_, where, is_claimed, facts_.known_world);
      facts_.run.have_calls_ended = words_.calls().have_all_ended();
    }
    for (const int rank : dumps_.unplaced()) said_.note(rank).is_waiting = true;
    for (const auto& one : dumps_.waits().of_places())
      facts_.group_waits.push_back(group_wait(one));
  }

  /// Raises the number of ranks, since a rank that a fact names belongs to the job.
  void count_rank(int rank) {
    if (rank < kMostRanks) facts_.world = std::max(facts_.world, rank + 1);
  }

  /// Returns the global rank that wrote the line; -1 if unknown. The best source is the line's own prefix, then lines
  /// about communicators of its process, then the caller, then the text.
  int rank_of(const Record& record, const logs::Speaker& speaker) {
    const logs::TorchPrefix prefix = logs::torch_prefix(record);
    if (prefix.global_rank >= 0) return prefix.global_rank;
    if (speaker.launcher_rank >= 0) return speaker.launcher_rank;
    if (const auto known = rank_of_process_.find({speaker.host, speaker.pid});
        known != rank_of_process_.end() && speaker.pid >= 0) {
      return known->second;
    }
    // The caller, which has read more of the job, may know.
    const int known = speaker.pid >= 0 ? ranks_.rank_of(speaker.host, speaker.pid) : -1;
    if (known >= 0) return known;
    // `rank 3: Fatal Python error: Bus error`, as people write it.
    return record.text_at > 0 ? job::rank_before_text(record.line) : -1;
  }

  void take_kind(const Record& record, const logs::Speaker& speaker) {
    switch (record.kind) {
      case RecordKind::Message:
        take_message(record, speaker);
        break;
      case RecordKind::CommEvent:
        take_comm(record, speaker);
        break;
      case RecordKind::CollCall:
        calls_.take(record, speaker, rank_of(record, speaker));
        break;
      case RecordKind::PythonError:
        take_error(record, speaker);
        break;
      case RecordKind::RasComm:
        ras_.take_comm(record.as<logs::RasComm>());
        break;
      case RecordKind::BenchmarkAverage:
        said_.note_run(record, {RunLine::What::Finished, -1, -1}, -1);
        break;
      case RecordKind::RasRank:
        ras_.take_rank(record);
        break;
      default:
        take_text(record, speaker);
        break;
    }
  }

  void take_comm(const Record& record, const logs::Speaker& speaker) {
    const auto& comm = record.as<logs::CommEvent>();
    calls_.take_comm(comm, speaker);
    if (comm.rank < 0 || comm.nranks <= 0) return;
    starts_.take(record, speaker.host);
    facts_.world = std::max(facts_.world, std::min(comm.nranks, kMostRanks));
    // The rank in the largest communicator of the process is the global rank.
    auto& size = size_of_process_[{speaker.host, speaker.pid}];
    if (comm.nranks < size) return;
    size = comm.nranks;
    if (comm.event == logs::CommEventType::DestroyComplete)
      said_.note_run(record, {RunLine::What::Finished, -1, -1}, comm.rank);
    rank_of_process_[{speaker.host, speaker.pid}] = comm.rank;
  }

  void take_message(const Record& record, const logs::Speaker& speaker) {
    const int rank = rank_of(record, speaker);
    const auto named_ranks = [&] {
      return logs::parse_rank_list(logs::message_argument(record, "ranks"));
    };
    switch (record.as<logs::Message>().id) {
      case MessageId::WatchdogTimeout:
      case MessageId::WatchdogStatus:
      case MessageId::DumpSignal:
        words_.busy().take_timeout(record);
        dumps_.take(record, rank);
        facts_.timeouts = dumps_.waits().timeouts();  // so far: said_ reads it
        break;
      case MessageId::GroupClosed:
        words_.busy().take_end(record, rank);
        break;
      case MessageId::WatchdogException:
        take_text(record, speaker);
        break;
      case MessageId::AnalyserMissing:
        if (ras_.take_message(record)) break;
        said_.state(record, What::AnalyserMissing, named_ranks());
        break;
      case MessageId::AnalyserField:
      case MessageId::TorchGroupOptions:
        break;                     // how many ranks there are: world_
      case MessageId::WorkerDied:  // of torch's spawn: its traceback follows
        if (const auto one = logs::message_number(record, "rank"); one >= 0)
          spawned_ = static_cast<int>(one);
        break;
      case MessageId::StallInspector:
        words_.expect_stalled_ranks();
        break;
      case MessageId::BenchmarkConcluded:
      case MessageId::BenchmarkOutOfBounds:
        said_.note_run(record, {RunLine::What::Finished, -1, -1}, rank);
        break;
      case MessageId::StoreBroken:
      case MessageId::StoreGone:
        take_store(record, rank);
        break;
      case MessageId::NotDestroyed:
      case MessageId::DeviceUnknown:
        said_.note_run(record, {RunLine::What::Harmless, -1, -1}, rank);
        break;
      case MessageId::HeartbeatStuck:
      case MessageId::GilHang:
        said_.state_of(record, What::WatchdogStuck, rank);
        break;
      case MessageId::SlurmOther:
        if (record.text().find("error") != std::string_view::npos)
          said_.note_run(record, {RunLine::What::Alarming, -1, -1}, rank);
        break;
      case MessageId::TorchNcclError:
        take_text(record, speaker);
        state_error(record, "DistBackendError", record.text(), rank, said_);
        break;
      case MessageId::UniqueIdMissing:
        said_.state_of(record, What::NoUniqueId,
                       static_cast<int>(logs::message_number(record, "rank")));
        break;
      case MessageId::GlooTimeout:
        said_.note(rank).has_failed = true;
        break;
      case MessageId::GlooClosed:
      case MessageId::GlooPairError:
        if (!reports_other_size(record.line)) take_lost_peer(record, rank);
        break;
      case MessageId::EngineAbsent:
        said_.state(record, What::EngineAbsent, named_ranks());
        break;
      case MessageId::EngineStopped:
        said_.state(record, What::EngineStopped, named_ranks());
        break;
      case MessageId::AttachProcess:
      case MessageId::AttachNoProcess:
        take_attached(record);
        break;
      case MessageId::EngineWait:
        if (is_engine_timeout(record.text())) ++facts_.run.waits;
        if (rank >= 0) {
          engine_waits_.try_emplace(rank, record.place,
                                    std::string(record.text().substr(0, kShown)));
        }
        break;
      case MessageId::RasDeadProcesses:
        if (const auto dead = static_cast<int>(logs::message_number(record, "rank")); dead >= 0) {
          const auto how = logs::message_argument(record, "how");
          said_.state(record, What::EngineGone, ranks_gone(dead, how));
        }
        break;
      default:
        if (ras_.take_message(record)) break;
        take_text(record, speaker);
        take_failure(record);
        break;
    }
  }

  /// Takes the line that `attach` writes for each process: where the rank runs, and whether it is stopped or has ended.
  void take_attached(const Record& record) {
    const auto rank = static_cast<int>(logs::message_number(record, "rank"));
    if (rank < 0 || rank >= kMostRanks) return;
    said_.know_world(static_cast<int>(
        std::clamp<std::int64_t>(logs::message_number(record, "nranks"), 0, kMostRanks)));
    const std::string host(logs::message_argument(record, "host"));
    if (logs::is_message(record, MessageId::AttachNoProcess)) {
      said_.state(record, What::Stopped, {rank}, kStateEnded,
                  std::string(logs::message_argument(record, "why")));
      return;
    }
    const std::int64_t pid = logs::message_number(record, "pid");
    if (pid >= 0) rank_of_process_[{host, pid}] = rank;
    // source  proc(5), /proc/PID/stat: T and t stopped, Z and X ended
    const std::string_view state = logs::message_argument(record, "state");
    if (state.starts_with('T') || state.starts_with('t'))
      said_.state(record, What::Stopped, {rank}, kStateStopped, std::string(kIsStopped));
    if (state.starts_with('Z') || state.starts_with('X'))
      said_.state(record, What::Stopped, {rank}, kStateEnded, "its process has ended (defunct)");
  }

  /// Takes a warning of a failure that audit judges (weight F in the catalogue).
  void take_failure(const Record& record) {
    const logs::MessageFacts known = logs::facts_of(record.as<logs::Message>().id);
    if (logs::is_message(record, MessageId::RemoteClosed))
      return;  // does not name the process that ended
    if (record.level == logs::Level::Warn && known.weight == 'F')
      said_.state(record, What::Failure, {}, 0, std::string(known.meaning));
  }

  /// Takes the end of Gloo's connection to a peer. The source line in a traceback before it can name the peer.
  void take_lost_peer(const Record& record, int rank) {
    if (rank < 0) rank = spawned_;
    said_.note(rank).has_failed = true;
    said_.note(rank).has_lost_peer = true;
    said_.state(record, What::PeerLost, rank >= 0 ? std::vector<int>{rank} : std::vector<int>{},
                words_.peer(), words_.peer() >= 0 ? "the call names its peer" : "");
  }

  /// Takes a lost connection to the store, with the store's host: `remote=[n01]:29500`.
  void take_store(const Record& record, int rank) {
    if (rank < 0) rank = logs::torch_prefix(record).group_rank;
    said_.state(record, What::StoreLost, rank >= 0 ? std::vector<int>{rank} : std::vector<int>{}, 0,
                std::string(store_host(record.line)));
  }

  void take_error(const Record& record, const logs::Speaker& speaker) {
    const auto& error = record.as<logs::PythonError>();
    int rank = rank_of(record, speaker);
    take_text(record, speaker);
    ++facts_.run.alarming;
    if (rank < 0 && words_.is_of_rank_zero()) rank = 0;
    if (is_gpu_error(error.text)) return;
    if (error.text.find("gloo/transport") != std::string_view::npos &&
        !reports_other_size(error.text)) {
      said_.note(rank).has_failed = true;
      if (error.text.find("peer") != std::string_view::npos) take_lost_peer(record, rank);
    }
    state_error(record, error.type, error.text, rank, said_);
    if (error.text.find("due to shape mismatches") != std::string_view::npos)
      words_.expect_shapes();
  }

  /// States what ncclras reports of ranks, once its report has ended.
  void state_ras() {
    ras_.state(said_);
    facts_.is_ras_healthy = ras_.is_healthy();
    if (!ras_.moved().empty()) facts_.moved = ras_.moved();
    facts_.known_world = std::max(facts_.known_world, std::min(ras_.widest(), kMostRanks));
    for (const auto& [pid, rank] : ras_.rank_of_pid()) ranks_.know({}, pid, rank);
  }

  /// Records where each rank runs, if a line shows it.
  void name_processes() {
    for (const auto& [process, rank] : rank_of_process_) {
      facts_.processes[rank] = {process.first, process.second};
    }
    for (const auto& [rank, process] : ras_.processes()) facts_.processes[rank] = process;
    for (const ProcessStack& stack : facts_.stacks) {
      if (stack.ranks.size() != 1 || stack.pids.size() != 1) continue;
      ProcessPlace& place = facts_.processes[stack.ranks.front()];
      place.pid = stack.pids.front();
      if (place.host.empty() && stack.is_host_named) place.host = stack.host;
    }
  }

  /// Names the rank of a stack that names a process, if a line elsewhere has that process's rank.
  void name_stack(ProcessStack& stack) {
    if (stack.ranks.empty() && stack.pids.size() == 1) {
      const int rank = ranks_.rank_of(stack.host, stack.pids.front());
      if (rank >= 0) stack.ranks = {rank};
    }
  }

  /// States the culprits when ringside's own engine gave up. Every rank that still runs then logs its wait, so the
  /// culprits are the known ranks that did not. If all ranks logged it, the culprits are those with the fewest calls.
  void state_engine_culprits() {
    if (engine_waits_.empty()) return;
    std::set<int> culprits;
    const auto add_if_silent = [&](int rank) {
      if (!engine_waits_.contains(rank)) culprits.insert(rank);
    };
    for (const auto& [process, rank] : rank_of_process_) add_if_silent(rank);
    for (const auto& [rank, calls] : calls_of_) add_if_silent(rank);
    if (culprits.empty()) {
      const std::vector<int> behind = calls_of_.empty() ? calls_.behind() : fewest_calls(calls_of_);
      culprits.insert(behind.begin(), behind.end());
    }
    // A missing log is not evidence against a rank: if more than half as many ranks lack the line as have it, logs are
    // probably missing. One rank may always lack it, so that a job of two ranks has a culprit.
    const std::size_t most_culprits = engine_waits_.size() / 2 + 1;
    if (culprits.empty() || culprits.size() > most_culprits) return;
    const auto& [place, text] = engine_waits_.begin()->second;
    Record first;
    first.place = place;
    first.line = text;
    said_.state(first, What::EngineSilent, {culprits.begin(), culprits.end()});
  }

  /// Takes a line by phrases that occur in several kinds of lines.
  void take_text(const Record& record, const logs::Speaker& speaker) {
    const std::string_view line = record.line;
    if (reports_timeout(line)) ++facts_.run.waits;
    if (record.kind == RecordKind::Traceback && line.find("most recent") != std::string_view::npos)
      words_.begin_traceback();
    if (record.kind == RecordKind::Text || record.kind == RecordKind::Continuation ||
        record.kind == RecordKind::Fragment || record.kind == RecordKind::Unknown) {
      words_.take(record, rank_of(record, speaker));
    }
    if (line.find("CollectiveFingerPrint(") != std::string_view::npos)
      add_fingerprints(record, said_);
    add_culprits(record, said_);
    if (line.find("Watchdog caught collective operation timeout: WorkNCCL(") !=
        std::string_view::npos) {
      dumps_.take_line(record, rank_of(record, speaker));
    }
    const int asker = rank_without_id(line);
    if (asker >= 0 || names_id_key(line))
      said_.state_of(record, What::NoUniqueId, asker >= 0 ? asker : rank_of(record, speaker));
  }

  LogFacts& facts_;
  Names& names_;
  facts::FactReader rows_;
  job::WorldSize world_;
  Statements said_;
  job::ProcessRanks ranks_;
  ProgramLines words_;
  LogDumps dumps_;
  CollLines calls_;
  std::map<std::pair<std::string, int>, int> rank_of_process_;  ///< by host and pid
  std::map<std::pair<std::string, int>, int>
      size_of_process_;  ///< of the communicator that gave the rank
  std::map<int, std::pair<logs::Place, std::string>> engine_waits_;  ///< by rank: its line
  std::map<int, std::uint64_t> calls_of_;  ///< by rank, as the caller has counted
  CommStarts starts_;
  RasText ras_;
  int spawned_ = -1;  ///< the process of torch.multiprocessing.spawn whose traceback is read
};

// Restoring a paste is slow, and a cluster's logs do not need it. So only small files are checked for being pastes, and
// only while all pastes together are small: a folder with more text is a cluster's.
constexpr std::uint64_t kLargestPaste = 512U << 10U;
constexpr std::uint64_t kMostOfPastes = 4U << 20U;

}  // namespace

LogFacts read_log_records(std::span<const AttributedRecord> records, const WhereFunction& where,
                          const KnownJob& known, Names& names) {
  LogFacts facts;
  facts.known_world = std::clamp(known.ranks, 0, kMostRanks);
  facts.is_of_job = known.is_of_job;
  facts.hosts = known.hosts;
  Sink sink(facts, names);
  sink.know(known);
  for (const AttributedRecord& one : records) sink.take_one(one.record, one.speaker);
  facts.lines = records.size();
  sink.finish(where, LogGroups(names, {}));
  return facts;
}

LogFacts read_log_text(std::string_view text, const std::string& name, Names& names) {
  LogFacts facts;
  Sink sink(facts, names);
  PasteReader pastes(sink, facts);
  pastes.read(text, name);
  pastes.finish();
  const WhereFunction where = [&](logs::Place place) -> std::pair<std::string, std::int64_t> {
    return {pastes.name(place), place.line};
  };
  sink.finish(where, LogGroups(names, {}));
  return facts;
}

LogFacts read_log_facts(const std::vector<InputFile>& files, Names& names,
                        std::span<const RankDump> dumps) {
  LogFacts facts;
  Sink sink(facts, names);
  PasteReader pastes(sink, facts);
  std::vector<std::string> paths;  // files that are not pastes
  std::uint64_t bytes = 0;
  for (const InputFile& file : files) {
    if (file.kind != FileKind::Log) continue;
    const bool is_small = file.bytes <= kLargestPaste && bytes + file.bytes <= kMostOfPastes;
    auto text = is_small ? read_file(file.path) : Result<std::string>(Error{});
    if (text) text = as_utf8(*std::move(text));
    if (text && is_paste(*text)) {
      bytes += file.bytes;
      pastes.read(*text, file.path);
    } else {
      paths.push_back(file.path);
    }
  }
  pastes.finish();
  logs::LogFiles found;
  logs::ParseReport report;
  if (!paths.empty()) {
    found = logs::find_logs(paths);
    logs::RecordSink* const sinks[] = {&sink};
    auto parsed = logs::parse_logs(found, sinks, {});
    if (parsed) report = *std::move(parsed);
    facts.lines += report.counts.lines;
  }
  const WhereFunction where = [&](logs::Place place) -> std::pair<std::string, std::int64_t> {
    if (PasteReader::is_of_paste(place)) return {pastes.name(place), place.line};
    const logs::FileLine at = report.where(place);
    return {found.files[at.file].name, static_cast<std::int64_t>(at.line)};
  };
  sink.finish(where, LogGroups(names, dumps));
  return facts;
}

}  // namespace ringside::hang
