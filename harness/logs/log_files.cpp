#include "harness/logs/log_files.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/fd.h"
#include "base/folder.h"
#include "base/json.h"
#include "harness/logs/noise.h"
#include "harness/logs/process_log.h"

namespace ringside {
namespace {

constexpr std::size_t kProcessesAtOnce = 1024;
constexpr std::size_t kBufferBytes = 1U << 20U;
constexpr std::uint64_t kMostLinesInARow = 6;

Result<UniqueFd> create(const std::string& path) {
  UniqueFd file = open_for_writing(path, O_TRUNC);
  if (!file) return system_error(fmt::format("{}: cannot be written", path), errno);
  return file;
}

Status write_text(const UniqueFd& file, std::string_view text) {
  return write_all(file.get(), std::as_bytes(std::span{text}));
}

std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

/// The lines of one process in a phase, taken one by one.
class Speaker {
 public:
  Speaker(std::string text, std::string prefix)
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

/// Interleaves the lines of the processes in one phase.
template <typename Take>
Status mix(std::vector<Speaker> speakers, std::uint64_t seed, const Take& take) {
  std::erase_if(speakers, [](const Speaker& speaker) { return speaker.is_done(); });
  for (std::uint64_t turn = 0; !speakers.empty(); ++turn) {
    const std::uint64_t chance = noise(seed, kOrder, turn);
    const std::size_t who = (chance >> 8U) % speakers.size();
    for (std::uint64_t i = chance % kMostLinesInARow + 1; i > 0 && !speakers[who].is_done(); --i) {
      RINGSIDE_TRY(take(speakers[who].take()));
    }
    if (!speakers[who].is_done()) continue;
    std::swap(speakers[who], speakers.back());
    speakers.pop_back();
  }
  return {};
}

template <typename Take>
Status write_joined(const LogJob& job, const Take& take, const LogProgress& progress) {
  const std::vector<LogPhase> phases = phases_of(job);
  const std::size_t processes = job.processes().size();
  std::uint64_t seed = job.request().seed;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    for (std::size_t first = 0; first < processes; first += kProcessesAtOnce) {
      std::vector<Speaker> speakers;
      for (std::size_t p = first; p < std::min(first + kProcessesAtOnce, processes); ++p) {
        if (static_cast<int>(p) == job.request().unheard) continue;
        DebugLog log = log_of(job, static_cast<int>(p));
        write_phase(job, static_cast<int>(p), phases[i], log);
        speakers.emplace_back(log.take(), fmt::format("{}:{}:", log.host(), log.pid()));
      }
      seed = noise(seed, i, first);
      RINGSIDE_TRY(mix(std::move(speakers), seed, take));
    }
    if (progress) progress(i + 1, phases.size());
  }
  return {};
}

}  // namespace

Result<LogFiles> write_log_files(const LogJob& job, const std::string& folder,
                                 const LogProgress& progress) {
  RINGSIDE_TRY(make_empty_folder(folder));
  const std::vector<LogPhase> phases = phases_of(job);
  LogFiles written;
  for (std::size_t process = 0; process < job.processes().size(); ++process) {
    if (static_cast<int>(process) == job.request().unheard) continue;
    DebugLog log = log_of(job, static_cast<int>(process));
    RINGSIDE_TRY(const UniqueFd file,
                 create(fmt::format("{}/nccl.{}.{}.log", folder, log.host(), log.pid())));
    for (const LogPhase& phase : phases) {
      write_phase(job, static_cast<int>(process), phase, log);
      if (log.text().size() < kBufferBytes && &phase != &phases.back()) continue;
      const std::string text = log.take();
      written.bytes += text.size();
      written.lines += count_lines(text);
      RINGSIDE_TRY(write_text(file, text));
    }
    ++written.files;
    if (progress) progress(process + 1, job.processes().size());
  }
  return written;
}

Result<LogFiles> write_joined_log(const LogJob& job, const std::string& folder,
                                  const LogProgress& progress) {
  RINGSIDE_TRY(make_empty_folder(folder));
  RINGSIDE_TRY(const UniqueFd file, create(folder + "/job.log"));
  LogFiles written{.files = 1};
  std::string buffer;
  const auto flush = [&]() -> Status {
    written.bytes += buffer.size();
    written.lines += count_lines(buffer);
    RINGSIDE_TRY(write_text(file, buffer));
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

Status write_truth(const LogJob& job, const LogTruth& truth, const std::string& folder) {
  const LogRequest& request = job.request();
  const CommunicatorLayout* widest = nullptr;
  for (const Generation& generation : job.generations()) {
    for (const LogCommunicator& made : generation.communicators) {
      if (widest == nullptr || made.layout->nranks() > widest->nranks()) {
        widest = made.layout.get();
      }
    }
  }
  Json document;
  document["schema"] = "ringside.truth/1";
  document["misconfiguration"] =
      truth.misconfiguration.empty() ? Json(nullptr) : Json(truth.misconfiguration);
  document["nccl_version"] = to_string(request.version);
  document["nranks"] = widest == nullptr ? 0 : widest->nranks();
  document["nnodes"] = widest == nullptr ? 0 : static_cast<int>(widest->job().nodes.size());
  document["seed"] = request.seed;
  document["findings"] = Json::array();
  for (const LogTruth::Finding& finding : truth.findings) {
    Json hosts = Json::array();
    for (const int host : finding.hosts) {
      hosts.push_back(job.hosts()[static_cast<std::size_t>(host)].name);
    }
    document["findings"].push_back({{"id", finding.id},
                                    {"severity", finding.severity},
                                    {"why", finding.why},
                                    {"hosts", std::move(hosts)}});
  }
  document["consequences"] = truth.consequences;
  RINGSIDE_TRY(const UniqueFd file, create(folder + "/truth.json"));
  return write_text(file, to_text(document) + "\n");
}

}  // namespace ringside
