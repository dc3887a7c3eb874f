#include "study/interchange/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/folder.h"
#include "base/wording.h"
#include "diag/hangdetect/examine.h"
#include "diag/logparse/byte_source.h"
#include "harness/hangs/outline_yaml.h"
#include "study/interchange/chakra_file.h"
#include "study/interchange/chakra_import.h"
#include "study/interchange/merge_sequences.h"
#include "study/interchange/recorded_dumps.h"
#include "study/interchange/recorded_profiles.h"
#include "study/interchange/recorded_trace.h"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHead = 1 << 16;  ///< enough to recognise the format
constexpr std::size_t kLargestFile = std::size_t{4} << 30;
constexpr int kRanksOfHost = 8;  ///< recordings do not state hosts: as on most GPU servers

/// Returns the first bytes of a file, unpacked. Nothing of a file that cannot be opened and is not packed: its reader
/// reports that it is empty.
Result<std::string> read_up_to(const std::string& path, std::size_t most) {
  std::array<char, 16> magic{};
  std::ifstream file(path, std::ios::binary);
  file.read(magic.data(), magic.size());
  const auto known = static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount()));
  if (logs::compression_of(std::span(magic).first(known)) == logs::Compression::None) {
    std::string bytes(magic.data(), known);
    std::array<char, 1 << 16> room;
    while (file && bytes.size() < most) {
      file.read(room.data(), room.size());
      bytes.append(room.data(), static_cast<std::size_t>(file.gcount()));
    }
    return bytes;
  }
  RINGSIDE_TRY(const auto source, logs::open_source(path, 0));
  std::string bytes;
  std::array<char, 1 << 16> room;
  while (bytes.size() < most) {
    RINGSIDE_TRY(const std::size_t count, source->read(room));
    if (count == 0) break;
    bytes.append(room.data(), count);
  }
  return bytes;
}

/// errors  InvalidArgument: too large. As open_source(), of a packed file
Result<GivenFile> read_whole(const std::string& path) {
  GivenFile file{.name = path, .bytes = {}};
  RINGSIDE_TRY(file.bytes, read_up_to(path, kLargestFile));
  if (file.bytes.size() < kLargestFile) return file;
  return Error{ErrorCode::InvalidArgument, fmt::format("{}: more than 4 GiB", path),
               "record a shorter window"};
}

/// Returns the files that the arguments name, and those in the folders that they name.
/// errors  NotFound: no such file. InvalidArgument: a pipe; as files_below()
Result<std::vector<std::string>> find_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code failed;
    if (fs::is_directory(argument, failed)) {
      RINGSIDE_TRY(const std::vector<std::string> inside, files_below(argument));
      files.insert(files.end(), inside.begin(), inside.end());
    } else if (fs::is_fifo(argument, failed)) {  // each is read twice
      return Error{ErrorCode::InvalidArgument, argument + ": a pipe",
                   "write it to a file first, and give that"};
    } else if (fs::exists(argument, failed)) {
      files.push_back(argument);
    } else {
      return Error{ErrorCode::NotFound, argument + ": there is no such file",
                   "give dumps, logs or traces, or the folder that they are in"};
    }
  }
  return files;
}

struct Sorted {
  std::vector<std::string> chakra, json;
};

/// Sorts files by their first bytes.
Sorted sort_files(const std::vector<std::string>& files) {
  Sorted sorted;
  for (const std::string& file : files) {
    const auto head = read_up_to(file, kHead);
    if (!head) continue;  // its reader reports the reason
    if (is_chakra(*head)) {
      sorted.chakra.push_back(file);
    } else if (head->find_first_not_of(" \t\r\n") != std::string::npos &&
               head->at(head->find_first_not_of(" \t\r\n")) == '{') {
      sorted.json.push_back(file);
    }
  }
  return sorted;
}

Result<std::vector<GivenFile>> read_all(const std::vector<std::string>& paths) {
  std::vector<GivenFile> files;
  for (const std::string& path : paths) {
    RINGSIDE_TRY(GivenFile file, read_whole(path));
    files.push_back(std::move(file));
  }
  return files;
}

Result<RecordedJob> read_chakra_files(const Sorted& sorted) {
  if (sorted.json.size() > 1) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} JSON files with Chakra traces", sorted.json.size()),
                 "give the one that holds the communicator groups"};
  }
  RINGSIDE_TRY(const std::vector<GivenFile> traces, read_all(sorted.chakra));
  RINGSIDE_TRY(const std::vector<GivenFile> groups, read_all(sorted.json));
  return import_chakra(traces, groups.empty() ? nullptr : groups.data());
}

Result<RecordedJob> read_evidence(const std::vector<std::string>& arguments) {
  RINGSIDE_TRY(const hang::Examination evidence, hang::examine(arguments));
  if (evidence.job == nullptr || evidence.dumps.empty()) {
    return Error{ErrorCode::InvalidArgument, "no file there shows calls",
                 "give Chakra execution traces, flight recorder dumps, NCCL's logs with "
                 "NCCL_DEBUG_SUBSYS=INIT,COLL, or what a profiler, the Inspector or clog recorded"};
  }
  RecordedDumps read = recorded_dumps(evidence);
  // Whether the last calls ended does not matter here: reproduce is for the hang.
  for (RecordedRank& own : read.job.ranks) {
    for (RecordedCall& call : own.calls) call.is_pending = false;
  }
  read.job.note("what ranks computed between calls is not recorded: nothing in its place");
  return std::move(read.job);
}

}  // namespace

Result<Scenario> scenario_of(RecordedJob job, std::size_t keep) {
  const auto world = static_cast<int>(job.ranks.size());
  std::size_t calls = 0;
  std::size_t steps = 0;
  for (const RecordedRank& own : job.ranks) {
    calls += own.calls.size();
    for (const RecordedCall& call : own.calls) steps += 1 + call.before.size();
  }
  if (calls == 0) {
    return Error{ErrorCode::InvalidArgument, "no rank has calls that could be replayed",
                 "give a recording of ranks that communicate"};
  }
  constexpr std::size_t kMost = 4'000'000;  // some 100 bytes each, and as much again in the program
  if (steps > kMost) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} steps of {}", steps, plural(job.ranks.size(), "rank", "ranks")),
                 fmt::format("give a shorter recording: {} at most", kMost)};
  }
  Scenario scenario;
  scenario.name = "imported";
  scenario.outline = hangs::outline_of("imported", world, std::min(world, kRanksOfHost), 1);
  SequenceMerger merger(job, scenario.outline);
  merger.align_transfers();
  merger.emit_common(keep);
  merger.emit_own();
  hangs::OutlineStep synchronize;
  synchronize.kind = hangs::OutlineStep::Kind::Synchronize;
  scenario.outline.steps.push_back(synchronize);
  return scenario;
}

Result<ImportedScenario> import_scenario(const std::vector<std::string>& arguments,
                                         std::size_t keep) {
  RINGSIDE_TRY(const std::vector<std::string> files, find_files(arguments));
  const Sorted sorted = sort_files(files);
  ImportedScenario made;
  RecordedJob job;
  if (!sorted.chakra.empty()) {
    made.format = "Chakra execution traces";
    RINGSIDE_TRY(job, read_chakra_files(sorted));
  } else if (are_recordings(arguments)) {
    RINGSIDE_TRY(const hang::Inputs inputs, hang::find_inputs(arguments));
    recordings::Loaded loaded = recordings::load(inputs.files);
    if (!loaded.recordings.empty())
      made.format = recordings::to_string(loaded.recordings.front().format);
    RINGSIDE_TRY(job, import_recordings(std::move(loaded)));
  } else {
    made.format = "dumps and logs";
    RINGSIDE_TRY(job, read_evidence(arguments));
  }
  made.unknown = job.unknown;
  RINGSIDE_TRY(made.scenario, scenario_of(std::move(job), keep));
  return made;
}

}  // namespace ringside::study
