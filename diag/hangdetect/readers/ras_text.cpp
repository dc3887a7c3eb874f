#include "diag/hangdetect/readers/ras_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/ras_report.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {
namespace {

using logs::MessageId;

constexpr std::size_t kMostFindings =
    4096;  ///< and processes; further ones of foreign text are ignored

}  // namespace

void RasText::take_comm(const logs::RasComm& comm) {
  // The table begins again: the head of the next report was omitted.
  if (!comm.is_json && comm.group <= reports_.back().last_group) begin_report();
  reports_.back().last_group = comm.group;
  sizes_[comm.group] = comm.nranks;
  widest_ = std::max(widest_, comm.nranks);
  if (comm.is_json) return;
  ++rows_;
  healthy_rows_ += comm.errors == "OK" ? 1 : 0;
  ++reports_.back().rows;
  reports_.back().healthy_rows += comm.errors == "OK" ? 1 : 0;
  section_ = Section::None;
}

void RasText::begin_report() {
  constexpr std::size_t kMostReports = 64;  // later ones count as one with the last
  comm_.clear();
  if (reports_.back().is_empty() || reports_.size() >= kMostReports) return;
  reports_.emplace_back();
  are_counts_old_ = true;
}

void RasText::reach(std::int64_t operation, int rank) {
  if (comm_.empty() || operation < 0) return;
  Reach& own = reports_.back().reach[comm_];
  own.low = own.low < 0 ? operation : std::min(own.low, operation);
  own.high = std::max(own.high, operation);
  constexpr std::size_t kMostLate = 64;  // more ranks below the others are most of the job
  if (rank >= 0 && own.late.size() < kMostLate) own.late.insert(rank);
}

/// A stuck rank still launches a few calls and then none. So a job moves only if the ranks that were last have gone
/// on.
std::string RasText::moved_between(const Report& earlier, const Report& later) {
  std::string moved;
  for (const auto& [comm, before] : earlier.reach) {
    const auto after = later.reach.find(comm);
    if (after == later.reach.end() || before.low < 0) continue;
    // A rank that lags in both reports, by more than a report's skew, is slow, or is stuck and counted late.
    const bool is_same = before.late == after->second.late && !before.late.empty() &&
                         before.high - before.low > 1 && after->second.high - after->second.low > 1;
    if (after->second.low <= before.low || is_same) return {};
    moved = fmt::format(
        "between two reports of ncclras the last ranks of communicator {} went from operation {} "
        "to {}",
        comm, before.low, after->second.low);
  }
  const bool has_differed = earlier.rows > earlier.healthy_rows;
  if (moved.empty() && has_differed && later.rows >= earlier.rows &&
      later.rows == later.healthy_rows)
    return "ranks differed in one report of ncclras, and in a later one they do not";
  return moved;
}

RasText::Finding* RasText::add(Section section, const logs::Record& record) {
  const bool goes_on = !found_.empty() && found_.back().section == section && section_ == section &&
                       found_.back().detail.empty();
  if (goes_on) return &found_.back();
  if (found_.size() >= kMostFindings) return nullptr;
  return &found_.emplace_back(
      Finding{section, {}, 0, {}, record.place, std::string(record.text()), reports_.size() - 1});
}

void RasText::take_rank(const logs::Record& record) {
  const auto& ras = record.as<logs::RasRank>();
  if (!is_of_job_ || ras.rank < 0 || ras.rank >= kMostRanks) return;
  if (ras.pid >= 0 && processes_of_.size() < kMostFindings) {
    rank_of_pid_[ras.pid] = ras.rank;
    processes_of_[ras.rank] = {std::string(ras.host), ras.pid};
  }
  const auto name = [&](Section section) {
    Finding* const one = add(section, record);
    if (one != nullptr) one->ranks.push_back(ras.rank);
    section_ = section;
    return one;
  };
  using State = logs::RasRank::State;
  if (ras.state == State::Dead || (ras.state == State::Present && section_ == Section::Dead)) {
    name(Section::Dead);
    return;
  }
  const bool is_plain = ras.operation < 0 && ras.status.empty() && ras.counts[0] < 0;
  if (ras.state == State::Missing || (is_plain && section_ == Section::Missing)) {
    name(Section::Missing);
    return;
  }
  if (is_plain && section_ == Section::Error) {
    name(Section::Error);
    return;
  }
  if (!ras.status.empty()) {
    if (Finding* const one = name(Section::Status)) one->detail = ras.status;
    return;
  }
  // Outliers print their own operation where there are several; else it is that of the smaller set.
  const std::int64_t operation = ras.operation >= 0 ? ras.operation : few_;
  if (ras.counts[0] < 0) reach(operation, operation < total_ ? ras.rank : -1);
  if (ras.counts[0] < 0 && operation >= 0) listed_.emplace_back(operation, ras.rank);
  for (std::size_t i = 0; i < ras.counts.size(); ++i) {
    if (ras.counts[i] >= 0) counts_[{ras.hash, i}].emplace_back(ras.counts[i], ras.rank);
  }
  counts_place_ = record.place;
  counts_line_ = std::string(record.text());
}

/// `Process 71 on node n01 managing GPU 3` below INCOMPLETE or DEAD.
void RasText::take_process(const logs::Record& record) {
  if (section_ != Section::Missing && section_ != Section::Dead) return;
  if (found_.size() >= kMostFindings) return;
  Finding one{section_, {}, 0, {}, record.place, std::string(record.text()), reports_.size() - 1};
  one.detail =
      fmt::format("process {} on node {}, GPU {}", logs::message_argument(record, "pid"),
                  logs::message_argument(record, "node"), logs::message_argument(record, "gpus"));
  processes_.emplace_back(logs::message_number(record, "pid"), one.detail);
  of_process_.push_back(found_.size());
  found_.push_back(std::move(one));
}

/// `Ranks: 22-23`, `The missing ranks: 3,5-7`: a list in place of a line for each.
bool RasText::take_list(const logs::Record& record) {
  if (section_ == Section::None || section_ == Section::Status) return false;
  if (!is_of_job_) return true;
  for (const std::int32_t rank : logs::parse_rank_list(logs::message_argument(record, "ranks"))) {
    if (rank < 0 || rank >= kMostRanks) continue;
    if (section_ == Section::Counts) {
      if (few_ >= 0) listed_.emplace_back(few_, rank);
      counts_place_ = record.place;
      counts_line_ = std::string(record.text());
    } else {
      if (Finding* const one = add(section_, record)) one->ranks.push_back(rank);
    }
  }
  return true;
}

bool RasText::take_message(const logs::Record& record) {
  switch (record.as<logs::Message>().id) {
    case MessageId::RasRanks:
    case MessageId::AnalyserMissing:
      return take_list(record);
    case MessageId::RasCommProblem: {
      // `#2-0`: the third row of the table. Its ranks are ranks of the job where it has all of them.
      const std::string_view comm = logs::message_argument(record, "comm");
      const auto row =
          sizes_.find(static_cast<int>(parse_whole(comm.substr(0, comm.find('-'))).value_or(-1)));
      is_of_job_ = row == sizes_.end() || row->second >= widest_;
      section_ = Section::None;
      has_problem_ = true;
      // The same communicator again: the head of the next report was omitted.
      const std::string_view hash = logs::message_argument(record, "hash");
      if (reports_.back().reach.contains(hash)) begin_report();
      comm_ = hash;
      return true;
    }
    case MessageId::RasProblem:
      has_problem_ = true;
      section_ =
          record.text().find("DEAD") != std::string_view::npos ? Section::Dead : Section::Missing;
      return true;
    case MessageId::RasMissingProcesses:
      section_ = Section::Missing;
      has_problem_ = true;
      return true;
    case MessageId::RasDeadProcesses:
      section_ = Section::Dead;
      has_problem_ = true;
      return true;
    case MessageId::RasProcess:
      take_process(record);
      return true;
    case MessageId::RasErrorRanks:
      section_ = Section::Error;
      has_problem_ = true;
      return true;
    case MessageId::RasMismatch:
      section_ = Section::Counts;
      return true;
    case MessageId::RasHead:
      if (record.text().starts_with("Job summary")) begin_report();
      return true;
    case MessageId::RasCounts: {
      reach(logs::message_number(record, "operation"), -1);
      if (are_counts_old_) {
        most_ = 0;
        total_ = few_ = -1;
        listed_.clear();
        counts_.clear();
        are_counts_old_ = false;
      }
      if (!is_of_job_) return true;
      // `61 ranks have launched up to operation 1187`: the largest set of ranks is the reference.
      const std::int64_t count = logs::message_number(record, "count", 0);
      const std::int64_t operation = logs::message_number(record, "operation", 0);
      if (count > most_) {
        most_ = count;
        total_ = operation;
      } else {
        few_ = operation;
      }
      return true;
    }
    default:
      return false;
  }
}

/// Ranks with fewer operations than most: behind, if the report is of a hung job.
void RasText::compare() {
  const auto name = [&](std::vector<int> ranks, std::int64_t lag) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    if (found_.size() < kMostFindings)
      found_.push_back({Section::Counts,
                        std::move(ranks),
                        lag,
                        {},
                        counts_place_,
                        counts_line_,
                        reports_.size() - 1});
  };
  for (const auto& [what, counts] : counts_) {
    std::map<std::int64_t, std::vector<int>> by_count;
    for (const auto& [count, rank] : counts) by_count[count].push_back(rank);
    if (by_count.size() < 2) continue;
    const auto& [low, behind] = *by_count.begin();
    const auto& [high, ahead] = *by_count.rbegin();
    if (behind.size() <= ahead.size()) {
      name(behind, high - low);
    } else {
      name(ahead, low - high);
    }
  }
  if (listed_.empty() || total_ < 0) return;
  const std::int64_t listed = listed_.front().first;
  std::vector<int> ranks;
  for (const auto& [operation, rank] : listed_) {
    if (operation == listed) ranks.push_back(rank);
  }
  name(std::move(ranks), total_ - listed);
}

/// Ranks of the whole job have no hash here: only its widest communicator is read.
void RasText::drop_aftermath() {
  std::vector<MissingRanks> missing(reports_.size());
  for (const Finding& one : found_) {
    if (one.section != Section::Missing) continue;
    for (const int rank : one.ranks) missing[one.report].insert({0, rank});
  }
  const std::size_t first = first_of_aftermath(missing);
  std::erase_if(found_, [&](const Finding& one) { return one.report >= first; });
}

std::vector<RasText::Finding> RasText::finish() {
  for (std::size_t i = 1; i < reports_.size(); ++i) {
    const std::string moved = moved_between(reports_[i - 1], reports_[i]);
    // If the job was stuck between two reports, earlier reports say nothing about the hang.
    const bool shows_state = !moved.empty() || !reports_[i].is_empty();
    if (shows_state) moved_ = moved;
  }
  compare();
  // A process that a list of ranks names elsewhere is that rank.
  for (std::size_t i = 0; i < of_process_.size(); ++i) {
    const auto rank = rank_of_pid_.find(processes_[i].first);
    if (rank != rank_of_pid_.end()) found_[of_process_[i]].ranks = {rank->second};
  }
  drop_aftermath();
  // If as many dead processes have no rank as ranks are missing, the processes are these ranks.
  std::vector<int> missing;
  std::size_t unnamed = 0;
  for (const Finding& one : found_) {
    if (one.section == Section::Missing)
      missing.insert(missing.end(), one.ranks.begin(), one.ranks.end());
    if (one.section == Section::Dead && one.ranks.empty()) ++unnamed;
  }
  if (unnamed != missing.size()) return std::move(found_);
  for (Finding& one : found_) {
    if (one.section == Section::Dead && one.ranks.empty()) one.ranks = missing;
  }
  return std::move(found_);
}

using What = LogStatement::What;

void RasText::state(Statements& said) {
  for (const Finding& one : finish()) {
    logs::Record record;
    record.place = one.place;
    record.line = one.line;
    switch (one.section) {
      case Section::Missing:
        said.state(record, What::RasSilent, one.ranks, 0, one.detail);
        break;
      case Section::Dead:
        said.state(record, What::RasDead, one.ranks, 0, one.detail);
        break;
      case Section::Error:
        said.state(record, What::RasError, one.ranks);
        break;
      case Section::Status:
        said.state(record, What::RasStatus, one.ranks, 0, one.detail);
        break;
      case Section::Counts:
        said.state(record, one.lag > 0 ? What::RasBehind : What::RasAhead, one.ranks,
                   std::abs(one.lag));
        break;
      case Section::None:
        break;
    }
  }
}

}  // namespace ringside::hang
