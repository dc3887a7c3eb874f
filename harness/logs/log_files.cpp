#include "harness/logs/log_files.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/fd.h"
#include "base/folder.h"
#include "harness/logs/noise.h"
#include "harness/logs/process_log.h"

namespace ringside {
namespace {

/// The bound on processes whose lines of one phase are in memory. Chosen: a phase has up to a MiB.
constexpr std::size_t kProcessesAtOnce = 1024;
constexpr std::size_t kBufferBytes = 1U << 20U;  ///< text that is collected before it is written
/// The most lines that a process writes before another one's. Chosen: in job logs that launchers collect, blocks are short.
constexpr std::uint64_t kMostLinesInARow = 6;

/// A file that is written from its beginning. Errors name it.
class OutputFile {
 public:
  /// errors  System: it cannot be created
  static Result<OutputFile> create(std::string path) {
    UniqueFd file = open_for_writing(path, O_TRUNC);
    if (!file) return system_error(fmt::format("{}: cannot be written", path), errno);
    return OutputFile(std::move(path), std::move(file));
  }

  /// errors  System
  Status write(std::string_view text) const {
    const Status written = write_all(file_.get(), std::as_bytes(std::span{text}));
    if (written) return {};
    Error error = written.error();
    error.message = fmt::format("{}: cannot be written: {}", path_, error.message);
    if (error.help.empty()) error.help = "make room there, or name another folder with -o";
    return error;
  }

 private:
  OutputFile(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  UniqueFd file_;
};

std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

/// The lines of one process in a phase, taken one by one.
class ProcessLines {
 public:
  ProcessLines(std::string text, std::string prefix)
      : text_(std::move(text)), prefix_(std::move(prefix)) {}

  [[nodiscard]] bool is_done() const { return next_ >= text_.size(); }

  /// Returns one line with the lines that belong to it: an empty line before a warning, further lines of a message.
  std::string_view take() {
    const std::size_t first = next_;
    bool is_whole = false;
    while (!is_done()) {
      const std::size_t end = std::min(text_.find('\n', next_), text_.size() - 1);
      const bool is_empty = end == next_;
      const bool begins = text_.compare(next_, prefix_.size(), prefix_) == 0;
      if (is_whole && (is_empty || begins)) break;
      is_whole = !is_empty;
      next_ = end + 1;
    }
    return std::string_view{text_}.substr(first, next_ - first);
  }

 private:
  std::string text_;
  std::string prefix_;
  std::size_t next_ = 0;
};

/// Passes the lines of the processes in one phase to `take`, a few of one process at a time, in an order by the seed.
template <typename Take>
Status interleave(std::vector<ProcessLines> processes, std::uint64_t seed, const Take& take) {
  std::erase_if(processes, [](const ProcessLines& process) { return process.is_done(); });
  for (std::uint64_t turn = 0; !processes.empty(); ++turn) {
    const std::uint64_t random = noise(seed, kOrder, turn);
    ProcessLines& process = processes[(random >> 8U) % processes.size()];
    for (std::uint64_t i = random % kMostLinesInARow + 1; i > 0 && !process.is_done(); --i) {
      RINGSIDE_TRY(take(process.take()));
    }
    if (!process.is_done()) continue;
    std::swap(process, processes.back());
    processes.pop_back();
  }
  return {};
}

/// Passes the lines of all processes to `take`, phase by phase.
template <typename Take>
Status write_joined(const LogJob& job, const Take& take, const LogProgress& progress) {
  const std::vector<LogPhase> phases = phases_of(job);
  const std::size_t processes = job.processes().size();
  std::uint64_t seed = job.request().seed;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    for (std::size_t first = 0; first < processes; first += kProcessesAtOnce) {
      std::vector<ProcessLines> lines;
      for (std::size_t p = first; p < std::min(first + kProcessesAtOnce, processes); ++p) {
        if (static_cast<int>(p) == job.request().missing_log) continue;
        DebugLog log = log_of(job, static_cast<int>(p));
        write_phase(job, static_cast<int>(p), phases[i], log);
        lines.emplace_back(log.take(), fmt::format("{}:{}:", log.host(), log.pid()));
      }
      seed = noise(seed, i, first);
      RINGSIDE_TRY(interleave(std::move(lines), seed, take));
    }
    if (progress) progress(i + 1, phases.size());
  }
  return {};
}

}  // namespace

Result<WrittenLogs> write_log_files(const LogJob& job, const std::string& folder,
                                    const LogProgress& progress) {
  RINGSIDE_TRY(make_empty_folder(folder));
  const std::vector<LogPhase> phases = phases_of(job);
  WrittenLogs written;
  for (std::size_t process = 0; process < job.processes().size(); ++process) {
    if (static_cast<int>(process) == job.request().missing_log) continue;
    DebugLog log = log_of(job, static_cast<int>(process));
    RINGSIDE_TRY(const OutputFile file, OutputFile::create(fmt::format("{}/nccl.{}.{}.log", folder,
                                                                       log.host(), log.pid())));
    for (const LogPhase& phase : phases) {
      write_phase(job, static_cast<int>(process), phase, log);
      if (log.text().size() < kBufferBytes && &phase != &phases.back()) continue;
      const std::string text = log.take();
      written.bytes += text.size();
      written.lines += count_lines(text);
      RINGSIDE_TRY(file.write(text));
    }
    ++written.files;
    if (progress) progress(process + 1, job.processes().size());
  }
  return written;
}

Result<WrittenLogs> write_joined_log(const LogJob& job, const std::string& folder,
                                     const LogProgress& progress) {
  RINGSIDE_TRY(make_empty_folder(folder));
  RINGSIDE_TRY(const OutputFile file, OutputFile::create(folder + "/job.log"));
  WrittenLogs written{.files = 1};
  std::string buffer;
  const auto flush = [&]() -> Status {
    written.bytes += buffer.size();
    written.lines += count_lines(buffer);
    RINGSIDE_TRY(file.write(buffer));
    buffer.clear();
    return {};
  };
  const auto take = [&](std::string_view lines) -> Status {
    buffer += lines;
    return buffer.size() < kBufferBytes ? Status{} : flush();
  };
  RINGSIDE_TRY(write_joined(job, take, progress));
  RINGSIDE_TRY(flush());
  return written;
}

std::string joined_log(const LogJob& job) {
  std::string text;
  const auto take = [&text](std::string_view lines) -> Status {
    text += lines;
    return {};
  };
  const Status written = write_joined(job, take, {});
  RINGSIDE_ASSERT(written.has_value(), "a string takes everything");
  return text;
}

}  // namespace ringside
