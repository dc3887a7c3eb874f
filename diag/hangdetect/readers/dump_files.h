#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/names.h"

namespace ringside::hang {

/// The kind of a file, detected from its content.
enum class FileKind { Dump, Log, Threads, Trace, Ras, CallLog, Other };

/// A file that was found, and its kind.
struct InputFile {
  std::string path;  ///< of standard input: of a copy in memory, which lives as long as the list
  FileKind kind = FileKind::Other;
  std::uint64_t bytes = 0;
  std::shared_ptr<UniqueFd> held;  ///< standard input's copy; none for files
};

/// A file or folder that could not be read, and why.
struct BadFile {
  std::string path;
  Error error;
};

struct Inputs {
  std::vector<InputFile> files;  ///< sorted by name, with numbers by value
  std::vector<BadFile> unread;   ///< files and folders without permission
};

/// All regular files that the arguments name, and those below the folders that they name; `-` is standard input.
/// errors  NotFound: an argument names no file.  Corrupt: standard input has more than 1 GiB
Result<Inputs> find_inputs(const std::vector<std::string>& arguments);

struct Dumps {
  std::vector<RankDump> dumps;  ///< by rank; of a rank with several, the one with stacks
  std::vector<RankDump> later;  ///< a second dump of a rank that has one already
  std::vector<BadFile> bad;
};

/// Reads every dump among the files, pickle or JSON, on as many threads as the machine has.
/// JSON that is not a dump is skipped silently.
///
/// Memory  one file per thread at a time, plus what is kept of it
Dumps load_dumps(const std::vector<InputFile>& files, Names& names);

/// A file's display name: its path, or `stdin` for the copy of standard input.
std::string shown_name(const std::vector<InputFile>& files, const std::string& path);

/// The last whole number in a file's name without its extension: `nccl_trace_rank_12`, `dump_12.pickle`.
/// returns  -1 where there is none
int rank_of_name(std::string_view path);

/// One dump that is already in memory, pickle or JSON by its first bytes.
/// errors  Corrupt
Result<RankDump> parse_dump(std::string_view bytes, Names& names);

}  // namespace ringside::hang
