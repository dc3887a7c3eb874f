#include <fmt/format.h>

#include <algorithm>

#include "harness/hangs/hang_logs.h"
#include "harness/hangs/log_times.h"

namespace ringside::hangs {
namespace {

/// Time from the first dump to the end of the process.
constexpr std::int64_t kReportTime = 20 * kSecond;

/// The progress of a rank's calls in a group, as the watchdog logs it.
struct Progress {
  std::int64_t enqueued = -1, completed = -1;
  const Record* oldest = nullptr;  ///< null: all have completed
};

class Watchdog {
 public:
  Watchdog(const HangCase& hang, int rank)
      : hang_(hang), rank_(rank), minor_(hang.recorder.release.minor) {}

  std::vector<LogLine> lines() {
    const std::int64_t dump = hang_.evidence.dump_time[static_cast<std::size_t>(rank_)];
    if (dump == kNever || hang_.evidence.moment != Moment::Timeout) return {};
    const std::int64_t patience = hang_.recorder.timeout_ms * 1'000'000;
    for (const int group : hang_.program.group_of[static_cast<std::size_t>(rank_)]) {
      if (group < 0) continue;
      const Progress progress = progress_in(group, dump);
      if (progress.oldest == nullptr) continue;
      const std::int64_t timeout = progress.oldest->created + patience;
      if (timeout <= hang_.evidence.first_timeout + kReportTime) report(group, progress, timeout);
    }
    signal(dump);
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const LogLine& a, const LogLine& b) { return a.time < b.time; });
    return std::move(lines_);
  }

 private:
  Progress progress_in(int group, std::int64_t moment) const {
    Progress progress;
    for (const Record& record : hang_.play.ranks[static_cast<std::size_t>(rank_)].records) {
      if (record.step->group != group || record.created > moment) continue;
      progress.enqueued = record.seq();
      if (record.completed != kNever && record.completed <= moment) {
        progress.completed = record.seq();
      } else if (progress.oldest == nullptr) {
        progress.oldest = &record;
      }
    }
    return progress;
  }

  void say(std::int64_t time, char level, int line, const std::string& text) {
    const std::int64_t wall = hang_.evidence.epoch[static_cast<std::size_t>(rank_)] + time;
    std::string prefix;
    if (minor_ <= 3) {
      prefix = fmt::format("[rank{}]:[{} ProcessGroupNCCL.cpp:{}] ", rank_, level, line);
    } else {
      // The fraction is from another clock than the second.
      prefix = fmt::format("[rank{}]:[{}{}.{:09} ProcessGroupNCCL.cpp:{}] ", rank_, level,
                           log_stamp(wall), (wall % kSecond * 7 + 123'456'789) % kSecond, line);
    }
    lines_.push_back({time, prefix + text + "\n"});
  }

  /// Returns [PG ID 1 PG GUID 3(DATA_PARALLEL_GROUP) Rank 0], or its older forms.
  [[nodiscard]] std::string group_prefix(int group) const {
    const Group& own = hang_.program.groups[static_cast<std::size_t>(group)];
    const auto& groups = hang_.program.group_of[static_cast<std::size_t>(rank_)];
    const auto id = std::find(groups.begin(), groups.end(), group) - groups.begin();
    const int place = group_rank(own, rank_);
    if (minor_ >= 5) {
      return fmt::format("[PG ID {} PG GUID {}({}) Rank {}] ", id, own.name, own.desc, place);
    }
    if (minor_ == 4) return fmt::format("[PG {} ({}) Rank {}] ", id, own.desc, place);
    return fmt::format("[PG {} Rank {}] ", id, place);
  }

  void report(int group, const Progress& progress, std::int64_t timeout) {
    const Step& step = *progress.oldest->step;
    const auto [input, output] = numel(hang_.program, step);
    const std::int64_t late = 1 + (rank_ * 37) % 90;
    const std::string what = fmt::format(
        "[Rank {}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={}, OpType={}, "
        "NumelIn={}, NumelOut={}, Timeout(ms)={}) ran for {} milliseconds before timing out.",
        group_rank(hang_.program.groups[static_cast<std::size_t>(group)], rank_),
        progress.oldest->seq(), work_name(step.op), input, output, hang_.recorder.timeout_ms,
        hang_.recorder.timeout_ms + late);
    const std::int64_t now = timeout + late * 1'000'000;
    say(now, 'E', 632, what);
    const std::string prefix = group_prefix(group);
    const std::int64_t first = progress.oldest->seq();
    if (minor_ >= 6) {
      say(now + 1, 'E', 2271,
          fmt::format("{} failure detected by watchdog at work sequence id: {} PG status: last "
                      "enqueued work: {}, last completed work: {}",
                      prefix, first, progress.enqueued, progress.completed));
    } else if (minor_ >= 4) {
      say(now + 1, 'E', 1785,
          fmt::format("{}Exception (either an error or timeout) detected by watchdog at work: {}, "
                      "last enqueued NCCL work: {}, last completed NCCL work: {}.",
                      prefix, first, progress.enqueued, progress.completed));
    } else {
      say(now + 1, 'E', 1182,
          fmt::format("{}Timeout at NCCL work: {}, last enqueued NCCL work: {}, last completed "
                      "NCCL work: {}.",
                      prefix, first, progress.enqueued, progress.completed));
    }
    say(now + kSecond, 'E', 1414,
        fmt::format("{}Process group watchdog thread terminated with exception: {}", prefix, what));
  }

  void signal(std::int64_t dump) {
    if (minor_ < 4) return;
    const Progress world = progress_in(0, dump);
    const int first = first_reporter();
    const std::string prefix = group_prefix(0);
    if (first == rank_) {
      say(dump, 'E', 684, prefix + "First PG on this rank to signal dumping.");
    } else if (minor_ >= 5) {
      say(dump, 'E', 1682,
          prefix + "Observed flight recorder dump signal from another rank via TCPStore.");
    }
    const std::string from =
        first == rank_ ? std::string("from this local rank") : fmt::format("from  rank {}", first);
    say(dump + 1, 'E', 1743,
        fmt::format("{}Received a dump signal due to a collective timeout {} and we will try our "
                    "best to dump the debug info. Last enqueued NCCL work: {}, last completed NCCL "
                    "work: {}.",
                    prefix, from, world.enqueued, world.completed));
    say(dump + 2, 'E', 1536, prefix + "ProcessGroupNCCL preparing to dump debug info.");
    const Halt halt = hang_.play.ranks[static_cast<std::size_t>(rank_)].end.halt;
    if (halt == Halt::GilHeld) {
      say(dump + 3, 'E', 1596,
          prefix + "Could not acquire GIL within 300 ms on exit, possible GIL induced hang");
    }
  }

  /// Returns the rank whose watchdog reported first.
  [[nodiscard]] int first_reporter() const {
    int first = rank_;
    std::int64_t earliest = kNever;
    for (int rank = 0; rank < hang_.program.ranks; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      if (hang_.evidence.dump_time[at] == kNever) continue;
      for (const Record& record : hang_.play.ranks[at].records) {
        if (record.completed != kNever) continue;
        if (earliest == kNever || record.created < earliest) {
          earliest = record.created;
          first = rank;
        }
      }
    }
    return first;
  }

  const HangCase& hang_;
  int rank_;
  int minor_;
  std::vector<LogLine> lines_;
};

}  // namespace

std::vector<LogLine> watchdog_lines(const HangCase& hang, int rank) {
  return Watchdog(hang, rank).lines();
}

}  // namespace ringside::hangs
