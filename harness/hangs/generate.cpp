#include "harness/hangs/generate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/folder.h"
#include "base/json.h"
#include "harness/hangs/dump.h"
#include "harness/hangs/hang_logs.h"
#include "harness/hangs/log_times.h"
#include "harness/hangs/truth.h"

namespace ringside::hangs {
namespace {

namespace fs = std::filesystem;

class CaseWriter {
 public:
  CaseWriter(const HangCase& hang, const std::string& folder) : hang_(hang), folder_(folder) {}

  Status write_evidence() {
    RINGSIDE_TRY(make_empty_folder(folder_));
    RINGSIDE_TRY(write_dumps());
    return write_logs();
  }

  Status write_start(const std::vector<int>& absent) {
    RINGSIDE_TRY(make_empty_folder(folder_));
    for (int rank = 0; rank < hang_.program.ranks; ++rank) {
      if (std::ranges::find(absent, rank) != absent.end()) continue;
      RINGSIDE_TRY(write_log(fmt::format("rank_{}.log", rank), start_lines(hang_, rank), 0));
    }
    return {};
  }

  Result<Generated> write() {
    RINGSIDE_TRY(write_evidence());
    const Truth truth = find_truth(hang_);
    const Json json = truth_json(hang_, truth, fs::path(folder_).filename().string());
    RINGSIDE_TRY(write_file("truth.json", to_text(json), 0));
    return done_;
  }

 private:
  /// wall  time of the file; 0: now
  Status write_file(const std::string& name, const std::string& text, std::int64_t wall) {
    const std::string path = folder_ + "/" + name;
    const UniqueFd file = open_for_writing(path, O_TRUNC);
    if (!file) return system_error(path, errno);
    RINGSIDE_TRY(write_all(file.get(), std::as_bytes(std::span(text))));
    if (wall != 0) {
      const timespec at{wall / kSecond, static_cast<long>(wall % kSecond)};
      const timespec times[2] = {at, at};
      // On a file system without times, only a hint is lost.
      (void)::futimens(file.get(), times);
      ++done_.files;
      done_.bytes += text.size();
    }
    return {};
  }

  Status write_dumps() {
    std::string text;
    for (int rank = 0; rank < hang_.program.ranks; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const Evidence& evidence = hang_.evidence;
      if (!evidence.has_dump[at]) continue;
      const std::int64_t moment = evidence.dump_time[at];
      const Snapshot snapshot = take_snapshot(hang_.program, hang_.play.ranks[at], rank,
                                              hang_.recorder, moment, evidence.epoch[at]);
      const FlightDump dump = flight_dump(hang_.program, snapshot, hang_.recorder);
      const std::string name = fmt::format("{}{}", hang_.recorder.release.prefix, rank);
      const std::int64_t wall = evidence.epoch[at] + moment;
      if (evidence.is_pickle) {
        text.clear();
        append_pickle(dump, text);
        RINGSIDE_TRY(write_file(name, text, wall));
      }
      if (evidence.is_json) {
        text.clear();
        append_json(dump, text);
        RINGSIDE_TRY(write_file(name + ".json", text, wall));
      }
    }
    return {};
  }

  std::vector<LogLine> lines_of(int rank) const {
    std::vector<LogLine> lines;
    if (hang_.evidence.has_calls) lines = nccl_lines(hang_, rank);
    std::vector<LogLine> more = watchdog_lines(hang_, rank);
    lines.insert(lines.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
    return lines;
  }

  Status write_log(const std::string& name, const std::vector<LogLine>& lines, std::int64_t wall) {
    std::string text;
    for (const LogLine& line : lines) text += line.text;
    return write_file(name, text, wall);
  }

  Status write_logs() {
    const Evidence& evidence = hang_.evidence;
    const std::int64_t end = evidence.first_timeout + 30 * kSecond;
    if (evidence.has_agent) {
      const int host = hang_.fault.culprits.front() / hang_.program.ranks_per_host;
      RINGSIDE_TRY(write_log(fmt::format("torchrun_node-{}.log", host), agent_lines(hang_),
                             evidence.epoch[0] + end));
    }
    for (int rank = 0; evidence.has_stacks && rank < hang_.program.ranks; ++rank) {
      const std::string stack = stack_text(hang_, rank);
      if (stack.empty()) continue;
      RINGSIDE_TRY(
          write_file(fmt::format("stack_rank_{}.txt", rank), stack, evidence.epoch[0] + end));
    }
    if (evidence.has_ras) {
      RINGSIDE_TRY(write_file("ncclras.json", ras_report(hang_), evidence.epoch[0] + end));
    }
    if (!evidence.has_logs) return {};
    std::vector<LogLine> joined;
    for (int rank = 0; rank < hang_.program.ranks; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      if (!evidence.has_log[at]) continue;
      std::vector<LogLine> lines = lines_of(rank);
      if (!evidence.is_one_log) {
        RINGSIDE_TRY(write_log(fmt::format("rank_{}.log", rank), lines, evidence.epoch[at] + end));
        continue;
      }
      joined.insert(joined.end(), std::make_move_iterator(lines.begin()),
                    std::make_move_iterator(lines.end()));
    }
    if (!evidence.is_one_log) return {};
    std::stable_sort(joined.begin(), joined.end(),
                     [](const LogLine& a, const LogLine& b) { return a.time < b.time; });
    return write_log("job.log", joined, evidence.epoch[0] + end);
  }

  const HangCase& hang_;
  const std::string& folder_;
  Generated done_;
};

}  // namespace

Status write_case(const HangCase& hang, const std::string& folder) {
  RINGSIDE_TRY(const Generated written, CaseWriter(hang, folder).write());
  (void)written;
  return {};
}

Status write_evidence(const HangCase& hang, const std::string& folder) {
  return CaseWriter(hang, folder).write_evidence();
}

Status write_start_evidence(std::string name, Program program, const std::vector<int>& absent,
                            const std::string& folder) {
  HangCase hang;
  hang.workload = std::move(name);
  hang.program = std::move(program);
  hang.recorder.release = releases().back();
  return CaseWriter(hang, folder).write_start(absent);
}

CaseOptions options_of(const GenerateOptions& options, int index) {
  CaseOptions each = options.each;
  if (!each.kind && options.cases > 1) {
    each.kind = static_cast<FaultClass>(index % kFaultClasses);
  }
  return each;
}

Result<Generated> generate(const GenerateOptions& options, const std::string& folder) {
  Generated all;
  for (int i = 0; i < options.cases; ++i) {
    RINGSIDE_TRY(const HangCase hang,
                 make_case(options_of(options, i), case_seed(options.seed, i)));
    // Made only when there is a case, so that an impossible request leaves no folder behind.
    if (i == 0) RINGSIDE_TRY(make_empty_folder(folder));
    const std::string own = options.cases == 1 ? folder : fmt::format("{}/case-{:04}", folder, i);
    RINGSIDE_TRY(const Generated one, CaseWriter(hang, own).write());
    ++all.cases;
    all.files += one.files;
    all.bytes += one.bytes;
    all.truths.push_back(own + "/truth.json");
  }
  return all;
}

}  // namespace ringside::hangs
