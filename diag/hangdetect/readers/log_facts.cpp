#include "diag/hangdetect/readers/log_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "diag/hangdetect/readers/coll_lines.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/log_dumps.h"
#include "diag/hangdetect/readers/network_lines.h"
#include "diag/logparse/host_records.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/message.h"
#include "diag/logparse/parse_logs.h"
#include "diag/logparse/ras_records.h"
#include "diag/logparse/torch_lines.h"
#include "diag/logparse/xid_meaning.h"

namespace ringside::hang {
namespace {

using logs::MessageId;
using logs::Record;
using logs::RecordKind;
using What = LogStatement::What;

constexpr std::size_t kMostStatements = 4096;
constexpr std::size_t kShown = 400;  ///< of a line, in a statement

/// Errors that only say that something else went wrong elsewhere.
bool is_of_communication(std::string_view type, std::string_view text) {
  for (const std::string_view word :
       {"gloo", "Connection", "connection", "NCCL", "nccl", "monitoredBarrier", "TCPStore",
        "Broken pipe", "Socket", "store", "Timed out", "timed out", "collectives on ranks"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return type.find("Dist") != std::string_view::npos ||
         type.find("ChildFailed") != std::string_view::npos ||
         type.find("SignalException") != std::string_view::npos ||
         type.find("Rendezvous") != std::string_view::npos ||
         type.find("KeyboardInterrupt") != std::string_view::npos;
}

class Sink : public logs::RecordSink {
 public:
  explicit Sink(LogFacts& facts, Names& names) : facts_(facts), dumps_(names), calls_(names) {}

  void take(std::span<const Record> records, const logs::SpeakerTable& speakers) override {
    for (const Record& record : records) take_one(record, speakers);
  }

  /// Places are files and lines only once everything is read.
  void finish(const logs::LogFiles& files, const logs::ParseReport& report,
              const LogGroups& groups) {
    compare_ras();
    compare_engine_waits();
    for (std::size_t i = 0; i < facts_.statements.size(); ++i) {
      const logs::FileLine at = report.where(places_[i]);
      facts_.statements[i].file = files.files[at.file].name;
      facts_.statements[i].line = static_cast<std::int64_t>(at.line);
    }
    facts_.lines = report.counts.lines;
    const auto where = [&](logs::Place place) -> std::pair<std::string, std::int64_t> {
      const logs::FileLine at = report.where(place);
      return {files.files[at.file].name, static_cast<std::int64_t>(at.line)};
    };
    facts_.lines_as_dumps = calls_.finish(facts_.world, where, groups);
    facts_.dumps = dumps_.finish(where, groups);
    for (const int rank : dumps_.unplaced()) note(rank).is_waiting = true;
    facts_.timeouts = dumps_.timeouts();
  }

 private:
  struct Failure {
    int rank = -1;
    std::int64_t code = 0;
    std::string time;
  };

  /// The global rank that wrote the line; -1 where it does not say.
  int rank_of(const Record& record, const logs::SpeakerTable& speakers) {
    const logs::TorchPrefix prefix = logs::torch_prefix(record);
    if (prefix.global_rank >= 0) return prefix.global_rank;
    const logs::Speaker& speaker = speakers[record.speaker];
    if (speaker.launcher_rank >= 0) return speaker.launcher_rank;
    if (const auto known = rank_of_process_.find({speaker.host, speaker.pid});
        known != rank_of_process_.end() && speaker.pid >= 0) {
      return known->second;
    }
    return -1;
  }

  void state(const Record& record, What what, std::vector<int> ranks, std::int64_t code = 0,
             std::string detail = {}) {
    if (facts_.statements.size() >= kMostStatements) return;
    for (const int rank : ranks) facts_.world = std::max(facts_.world, std::min(rank, 1 << 20) + 1);
    std::erase_if(ranks, [](int rank) { return rank < 0 || rank > (1 << 20); });
    places_.push_back(record.place);
    facts_.statements.push_back({what,
                                 std::move(ranks),
                                 code,
                                 record.time_us,
                                 std::string(record.text().substr(0, kShown)),
                                 std::move(detail),
                                 {},
                                 -1});
  }

  void take_one(const Record& record, const logs::SpeakerTable& speakers) {
    switch (record.kind) {
      case RecordKind::Message:
        take_message(record, speakers);
        break;
      case RecordKind::CommEvent:
        take_comm(record, speakers);
        break;
      case RecordKind::CollCall:
        calls_.take(record, speakers[record.speaker], rank_of(record, speakers));
        break;
      case RecordKind::PythonError:
        take_error(record, speakers);
        break;
      case RecordKind::Xid: {
        const auto& xid = record.as<logs::Xid>();
        const auto owner = rank_of_bus_.find(xid.bus_id);
        std::vector<int> ranks;
        if (owner != rank_of_bus_.end() && owner->second >= 0) ranks.push_back(owner->second);
        const logs::XidMeaning* meaning = logs::meaning_of_xid(xid.code);
        if (!xid.is_switch && meaning != nullptr && meaning->weight == logs::XidWeight::Fault) {
          state(record, What::GpuFault, std::move(ranks), xid.code);
        }
        break;
      }
      case RecordKind::RasComm: {
        const auto& comm = record.as<logs::RasComm>();
        ras_sizes_[comm.group] = comm.nranks;
        ras_widest_ = std::max(ras_widest_, comm.nranks);
        break;
      }
      case RecordKind::RasRank:
        take_ras(record);
        break;
      default:
        take_text(record, speakers);
        break;
    }
  }

  void take_comm(const Record& record, const logs::SpeakerTable& speakers) {
    const auto& comm = record.as<logs::CommEvent>();
    calls_.take_comm(comm, speakers[record.speaker]);
    if (comm.rank < 0 || comm.nranks <= 0) return;
    facts_.world = std::max(facts_.world, std::min(comm.nranks, 1 << 20));
    // The rank in the largest communicator of the process is the rank in the job.
    const logs::Speaker& speaker = speakers[record.speaker];
    auto& size = size_of_process_[{speaker.host, speaker.pid}];
    if (comm.nranks < size) return;
    size = comm.nranks;
    rank_of_process_[{speaker.host, speaker.pid}] = comm.rank;
    if (comm.bus_id >= 0) {
      const auto [owner, is_new] = rank_of_bus_.try_emplace(comm.bus_id, comm.rank);
      if (!is_new && owner->second != comm.rank)
        owner->second = -1;  // the same bus on several hosts
    }
  }

  void take_message(const Record& record, const logs::SpeakerTable& speakers) {
    const int rank = rank_of(record, speakers);
    const auto ranks = [&](const char* name) {
      return logs::parse_rank_list(logs::message_argument(record, name));
    };
    switch (record.as<logs::Message>().id) {
      case MessageId::WatchdogTimeout:
      case MessageId::WatchdogStatus:
      case MessageId::DumpSignal:
        dumps_.take(record, rank);
        break;
      case MessageId::WatchdogException:
        dumps_.take(record, rank);
        break;
      case MessageId::DesyncNotJoined:
      case MessageId::DesyncNeverJoined:
        state(record, What::Laggards, ranks("ranks"));
        break;
      case MessageId::BarrierMissing:
        state(record, What::BarrierAbsent, ranks("ranks"));
        break;
      case MessageId::BarrierWaitsForRoot:
        state(record, What::BarrierLeft, {static_cast<int>(logs::message_number(record, "rank"))});
        break;
      case MessageId::HeartbeatStuck:
      case MessageId::GilHang:
        state(record, What::WatchdogStuck, rank >= 0 ? std::vector<int>{rank} : std::vector<int>{});
        break;
      case MessageId::ChildFailed:
        break;  // the summary that follows has the global rank
      case MessageId::TorchrunRootCause:
        in_root_cause_ = true;
        break;
      case MessageId::TorchrunSummary:
        take_summary(record);
        break;
      case MessageId::MpiFirstDeath:
        if (logs::message_number(record, "rank") >= 0) {
          state(record, What::Ended, {static_cast<int>(logs::message_number(record, "rank"))},
                -logs::message_number(record, "signal", 0));
        }
        break;
      case MessageId::SlurmTaskEnded:
        state(record, What::Ended, ranks("tasks"), -9);
        break;
      case MessageId::CudaError:
      case MessageId::CudaFailure:
        if (rank >= 0) state(record, What::GpuFault, {rank});
        break;
      case MessageId::UniqueIdMissing:
        state(record, What::NoUniqueId, {static_cast<int>(logs::message_number(record, "rank"))});
        break;
      case MessageId::GlooTimeout:
        note(rank).has_failed = true;
        break;
      case MessageId::GlooClosed:
      case MessageId::GlooPairError:
        note(rank).has_failed = true;
        note(rank).has_lost_peer = true;
        break;
      case MessageId::RasCommProblem: {
        // `#2-0`: the third row of the table. Its ranks are ranks of the job where it has all of them.
        const std::string_view comm = logs::message_argument(record, "comm");
        const auto row = ras_sizes_.find(
            static_cast<int>(parse_whole(comm.substr(0, comm.find('-'))).value_or(-1)));
        is_ras_of_job_ = row == ras_sizes_.end() || row->second >= ras_widest_;
        break;
      }
      case MessageId::RasCounts: {
        if (!is_ras_of_job_) break;
        // `61 ranks have launched up to operation 1187`: the largest set is what the others are.
        const std::int64_t count = logs::message_number(record, "count", 0);
        const std::int64_t operation = logs::message_number(record, "operation", 0);
        if (count > ras_most_) {
          ras_most_ = count;
          ras_total_ = operation;
        } else {
          ras_few_ = operation;
        }
        break;
      }
      case MessageId::IbCompletion:
      case MessageId::IbAsyncFatal:
      case MessageId::IbAsyncEvent:
      case MessageId::IbDevicesLost:
        if (auto failure = network_failure(record, speakers[record.speaker].host)) {
          state(record, What::NetworkError, rank >= 0 ? std::vector<int>{rank} : std::vector<int>{},
                failure->is_consequence ? 1 : 0, std::move(failure->text));
        }
        break;
      case MessageId::EngineAbsent:
        state(record, What::EngineAbsent, ranks("ranks"));
        break;
      case MessageId::EngineWait:
        if (rank >= 0) {
          engine_waits_.try_emplace(rank, record.place,
                                    std::string(record.text().substr(0, kShown)));
        }
        break;
      case MessageId::RasDeadProcesses:
        if (logs::message_number(record, "rank") >= 0) {
          state(record, What::EngineGone, {static_cast<int>(logs::message_number(record, "rank"))});
        }
        break;
      case MessageId::CollectiveMismatch:
      case MessageId::IbCollectiveMismatch:
        state(record, What::LibraryMismatch, {});
        break;
      default:
        take_text(record, speakers);
        break;
    }
  }

  /// The other failures stand before the first one. Those that fell by the same signal in the same second
  /// fell with it: what the launcher itself ends, it ends with SIGTERM, and with SIGKILL half a minute later.
  void take_summary(const Record& record) {
    const std::int64_t rank = logs::message_number(record, "rank");
    const std::int64_t code = logs::message_number(record, "exitcode", 0);
    if (const auto time = logs::message_argument(record, "time"); !time.empty()) {
      failure_.time = time;
    }
    if (rank >= 0) failure_.rank = static_cast<int>(rank);
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
      state(record, What::Ended, std::move(ranks), code);
      in_root_cause_ = false;
      others_.clear();
    } else if (others_.size() < kMostStatements) {
      others_.push_back(failure_);
    }
    failure_ = {};
  }

  void take_error(const Record& record, const logs::SpeakerTable& speakers) {
    const auto& error = record.as<logs::PythonError>();
    const int rank = rank_of(record, speakers);
    take_text(record, speakers);
    if (error.text.find("CUDA error") != std::string_view::npos ||
        error.text.find("CUDA out of memory") != std::string_view::npos) {
      if (rank >= 0) state(record, What::GpuFault, {rank});
      return;
    }
    if (rank < 0) return;
    if (error.text.find("gloo/transport") != std::string_view::npos) {
      note(rank).has_failed = true;
      note(rank).has_lost_peer |= error.text.find("peer") != std::string_view::npos;
    }
    if (!is_of_communication(error.type, error.text)) {
      note(rank).has_exception = true;
      state(record, What::Exception, {rank});
    }
  }

  void take_ras(const Record& record) {
    const auto& ras = record.as<logs::RasRank>();
    if (!is_ras_of_job_) return;
    if (ras.state == logs::RasRank::State::Dead) state(record, What::RasDead, {ras.rank});
    if (ras.state == logs::RasRank::State::Missing) state(record, What::RasSilent, {ras.rank});
    // Outliers print their own operation where there are several; else it is that of the smaller set.
    const std::int64_t operation = ras.operation >= 0 ? ras.operation : ras_few_;
    if (ras.state == logs::RasRank::State::Present && ras.counts[0] < 0 && operation >= 0) {
      ras_listed_.emplace_back(operation, ras.rank);
    }
    for (std::size_t i = 0; i < ras.counts.size(); ++i) {
      if (ras.counts[i] >= 0) ras_counts_[{ras.hash, i}].emplace_back(ras.counts[i], ras.rank);
    }
    ras_place_ = record;
    ras_place_.line = {};
    ras_place_.text_at = 0;
  }

  /// Ranks with fewer operations than most: behind, if the report is of a job that stands.
  void compare_ras() {
    for (const auto& [what, counts] : ras_counts_) {
      std::map<std::int64_t, std::vector<int>> by_count;
      for (const auto& [count, rank] : counts) by_count[count].push_back(rank);
      if (by_count.size() < 2) continue;
      const auto& [low, behind] = *by_count.begin();
      const auto& [high, ahead] = *by_count.rbegin();
      if (behind.size() <= ahead.size()) {
        state(ras_place_, What::RasBehind, behind, high - low);
      } else {
        state(ras_place_, What::RasAhead, ahead, high - low);
      }
    }
    if (ras_listed_.empty() || !ras_total_.has_value()) return;
    const std::int64_t listed = ras_listed_.front().first;
    std::vector<int> ranks;
    for (const auto& [operation, rank] : ras_listed_) {
      if (operation == listed) ranks.push_back(rank);
    }
    const std::int64_t others = *ras_total_;
    state(ras_place_, listed < others ? What::RasBehind : What::RasAhead, std::move(ranks),
          std::max(others, listed) - std::min(others, listed));
  }

  /// Where one rank of ringside's own engine gives up, all that run repeat its words: those that do not stand
  /// still. Where all do, those that have made the fewest calls came too late.
  void compare_engine_waits() {
    if (engine_waits_.empty()) return;
    std::set<int> silent;
    for (const auto& [process, rank] : rank_of_process_) {
      if (engine_waits_.count(rank) == 0) silent.insert(rank);
    }
    if (silent.empty()) {
      const std::vector<int> behind = calls_.behind();
      silent.insert(behind.begin(), behind.end());
    }
    if (silent.empty() || silent.size() > engine_waits_.size() / 2 + 1) return;
    const auto& [place, text] = engine_waits_.begin()->second;
    Record said;
    said.place = place;
    said.line = text;
    state(said, What::EngineSilent, {silent.begin(), silent.end()});
  }

  /// Phrases that stand in lines of several kinds.
  void take_text(const Record& record, const logs::SpeakerTable& speakers) {
    const std::string_view line = record.line;
    if (line.find("CollectiveFingerPrint(") != std::string_view::npos) take_fingerprints(record);
    for (std::size_t at = line.find("Culprit rank "); at != std::string_view::npos;
         at = line.find("Culprit rank ", at + 1)) {
      const auto ranks =
          logs::parse_rank_list(line.substr(at + 13, line.substr(at + 13).find(';')));
      if (!ranks.empty())
        state(record, What::Analyser, {ranks.front()}, 0, std::string(line.substr(at, 80)));
    }
    if (line.find("Watchdog caught collective operation timeout: WorkNCCL(") !=
        std::string_view::npos) {
      dumps_.take_line(record, rank_of(record, speakers));
    }
    const std::size_t asks = line.find("] is setting up NCCL communicator");
    const std::size_t open = asks == std::string_view::npos ? asks : line.rfind('[', asks);
    if (open != std::string_view::npos && line.find("got error") != std::string_view::npos) {
      const auto rank = parse_whole(line.substr(open + 1, asks - open - 1));
      if (rank) state(record, What::NoUniqueId, {static_cast<int>(*rank)});
    }
  }

  /// `Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=7, OpType=.., TensorShape=[..], ..)`
  void take_fingerprints(const Record& record) {
    std::string_view rest = record.line;
    constexpr std::string_view kOpen = "CollectiveFingerPrint(";
    for (std::size_t at = rest.find(kOpen); at != std::string_view::npos; at = rest.find(kOpen)) {
      const std::size_t who = rest.substr(0, at).rfind("Rank ");
      const std::string_view body = rest.substr(at + kOpen.size());
      if (who != std::string_view::npos) {
        const std::string_view number = rest.substr(who + 5, at - who - 5);
        const std::size_t end = number.find_first_not_of("0123456789");
        const auto rank = parse_whole(number.substr(0, end));
        std::string detail;
        for (const std::string_view key : {"OpType=", "TensorShape=", "TensorDtypes="}) {
          const std::size_t from = body.find(key);
          if (from == std::string_view::npos) continue;
          std::string_view value = body.substr(from + key.size());
          value = value.substr(
              0, value.starts_with('[') ? value.find(']') + 1 : value.find_first_of(",)"));
          detail += fmt::format("{}{}{}", detail.empty() ? "" : " ", key, value.substr(0, 120));
        }
        if (rank) state(record, What::Fingerprint, {static_cast<int>(*rank)}, 0, std::move(detail));
      }
      rest = body;
    }
  }

  RankNotes& note(int rank) { return rank >= 0 ? facts_.notes[rank] : nobody_; }

  LogFacts& facts_;
  LogDumps dumps_;
  CollLines calls_;
  std::vector<logs::Place> places_;
  std::map<std::pair<std::string, int>, int> rank_of_process_;
  std::map<int, std::pair<logs::Place, std::string>> engine_waits_;  ///< by rank: its line
  std::map<std::pair<std::string, int>, int> size_of_process_;
  std::map<std::int64_t, int> rank_of_bus_;
  std::vector<std::pair<std::int64_t, int>> ras_listed_;  ///< operation, rank: the text's outliers
  std::map<std::pair<std::uint64_t, std::size_t>, std::vector<std::pair<std::int64_t, int>>>
      ras_counts_;
  std::optional<std::int64_t> ras_total_;  ///< the operation that most ranks are at
  std::map<int, std::int32_t> ras_sizes_;  ///< ranks of a communicator, by row of the table
  std::int32_t ras_widest_ = 0;
  bool is_ras_of_job_ = true;  ///< what is listed now is of a communicator over the whole job
  std::int64_t ras_few_ = -1;  ///< and the few
  std::int64_t ras_most_ = 0;
  Record ras_place_;
  RankNotes nobody_;
  bool in_root_cause_ = false;
  Failure failure_;              ///< of torchrun's summary, as far as it was read
  std::vector<Failure> others_;  ///< that stand before the first one
};

}  // namespace

LogFacts read_log_facts(const std::vector<InputFile>& files, Names& names,
                        std::span<const RankDump> dumps) {
  LogFacts facts;
  std::vector<std::string> paths;
  for (const InputFile& file : files) {
    if (file.kind == FileKind::Log) paths.push_back(file.path);
  }
  if (paths.empty()) return facts;
  const logs::LogFiles found = logs::find_logs(paths);
  Sink sink(facts, names);
  logs::RecordSink* const sinks[] = {&sink};
  const auto report = logs::parse_logs(found, sinks, {});
  if (report) sink.finish(found, *report, LogGroups(names, dumps));
  return facts;
}

}  // namespace ringside::hang
