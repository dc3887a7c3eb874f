#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/recording_format.h"

namespace ringside::hang {

/// The type of a file, detected from its content.
enum class FileKind { Dump, Log, Threads, Trace, Ras, Recording, Other };

/// An input file and its type.
struct InputFile {
  std::string
      path;  ///< path; for standard input that of a copy in memory, which `stdin_copy` keeps open
  FileKind kind = FileKind::Other;
  std::uint64_t bytes = 0;
  std::shared_ptr<UniqueFd> stdin_copy;           ///< the copy of standard input; nullptr for files
  std::optional<recordings::Format> format = {};  ///< of a Recording
};

/// A file or folder that could not be read, and why.
struct BadFile {
  std::string path;
  Error error;
};

/// The files that the arguments name.
struct Inputs {
  std::vector<InputFile> files;  ///< sorted by name, with numbers by value
  std::vector<BadFile>
      unread;  ///< files and folders that cannot be read, such as without permission
};

/// Returns the files that the arguments name, and all regular files below the folders that they name. `-` is standard
/// input.
/// errors  NotFound: an argument names no file.  Corrupt: standard input has more than 1 GiB.  Otherwise by errno:
///         standard input cannot be read
Result<Inputs> find_inputs(const std::vector<std::string>& arguments);

/// The dumps of a job.
struct Dumps {
  /// Sorted by rank, one for each rank. Of several dumps of a rank, a complete one is taken before a truncated one, then
  /// one with stacks, then a pickle before JSON. Dumps whose file name shows no rank are all kept, with rank -1
  std::vector<RankDump> dumps;
  std::vector<RankDump> later;  ///< the other complete dumps of ranks in `dumps`
  std::vector<BadFile> bad;     ///< dumps that could not be read, or are larger than 1 GiB
};

/// Reads every dump among the files, pickle or JSON, on as many threads as the machine has.
/// JSON that is not a dump is skipped silently.
///
/// Memory  the bytes of one file per thread, plus the dumps
Dumps load_dumps(const std::vector<InputFile>& files, Names& names);

/// Returns a file's display name: its path, or `stdin` for the copy of standard input.
std::string shown_name(const std::vector<InputFile>& files, const std::string& path);

/// Returns the last whole number in a file's name without its extension, 12 for `dump_12.pickle`; -1 if it has none.
int rank_of_name(std::string_view path);

/// Parses a dump in memory as the dump of a rank, with the path and the time of the file that holds it.
/// rank    of the job: dumps do not contain it
/// errors  Corrupt: it is not a valid dump; the message begins with the path
Result<RankDump> parse_dump_as(std::string_view bytes, const std::string& path, int rank,
                               Names& names);

/// Parses a dump in memory; its first bytes show whether it is pickle or JSON.
/// errors  Corrupt: it is not a valid dump
Result<RankDump> parse_dump(std::string_view bytes, Names& names);

}  // namespace ringside::hang
