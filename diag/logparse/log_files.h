#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/logparse/record.h"
#include "ringside/units.h"

namespace ringside::logs {

/// A problem with one input, to be shown to the user. Other inputs are read.
struct InputProblem {
  std::string file;
  std::string what;  ///< "gzip data ends early: 17 lines were read"
  std::string help;
};

/// How a file is compressed.
enum class Compression : std::uint8_t { None, Gzip, Zstd };

/// One input file.
struct LogFile {
  std::string name;        ///< as given or found; "-" is stdin
  Bytes size;              ///< on disk; 0 for a stream
  bool is_stream = false;  ///< a pipe, a device, stdin: read once, in order
  Compression compression = Compression::None;
};

/// The files of an audit, in the order in which they are read: as given, a folder's sorted by name, numbers
/// in names by value (rank2 before rank10).
struct LogFiles {
  std::vector<LogFile> files;
  std::vector<InputProblem> problems;  ///< skipped inputs with the reason

  [[nodiscard]] Bytes total() const;  ///< sum of the files' sizes
};

/// Finds the files that the arguments name: files, folders, globs (quoted, so that the shell does not expand them), "-"
/// for stdin. Of a folder all regular files below it are taken, without hidden ones and truth.json, which
/// `ringside generate` writes next to logs. No file stays open. An argument that names no file becomes a problem in
/// the result.
LogFiles find_logs(const std::vector<std::string>& arguments);

/// The file and line of a Place.
struct FileLine {
  std::uint32_t file = 0;  ///< index of LogFiles::files
  std::uint64_t line = 0;  ///< from 1, counting '\n' only
};

}  // namespace ringside::logs
