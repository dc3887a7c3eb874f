#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/logparse/log_files.h"
#include "diag/logparse/record.h"
#include "diag/logparse/speakers.h"

/// Reads log files and passes their lines, parsed into records, to sinks. Example:
///
///   LogFiles files = find_logs({"logs/"});
///   std::vector<MySink> mine(shards);                       // shards: as many as threads may work
///   std::vector<RecordSink*> sinks = ...;                   // one a shard
///   RINGSIDE_TRY(const ParseReport report, parse_logs(files, sinks, {}));
///   for (auto& sink : mine) all.merge(sink);                // in order of shards = order of input
///   report.where(place)                                     // file and line of what was kept
namespace ringside::logs {

/// Receives the records of one shard, a contiguous part of the input, in order.
///
/// Ordering   shard 0 is the first part of the input, and so on: the records of a shard precede those of the next
///            one. A large file is split between shards at line ends, but not within a JSON report of up to
///            kMaxReport; a compressed file is never split.
/// Threads    one thread calls take() of a sink; different sinks are called at the same time
/// Ownership  records and their views are valid during the call; speakers until parse_logs() returns
class RecordSink {
 public:
  virtual ~RecordSink() = default;

  /// shape  1 .. 256 records, in the order of their places. `speakers` is the same object in every call.
  virtual void take(std::span<const Record> records, const SpeakerTable& speakers) = 0;
};

/// Unrecognised lines of one shape: each word that contains a digit is replaced by `#`, at most 120 bytes.
struct UnparsedShape {
  std::string shape;  ///< `NET/Foo : bar # of #`
  std::uint64_t count = 0;
  Place first;
  std::string example;  ///< the first such line, at most 300 bytes
};

/// Numbers of lines by result.
struct ParseCounts {
  std::uint64_t bytes = 0;  ///< after decompression
  std::uint64_t lines = 0;
  std::uint64_t torn = 0;      ///< lines with the beginning of another line inside
  std::uint64_t overlong = 0;  ///< lines cut at kMaxLine
  std::uint64_t binary = 0;    ///< lines with NUL bytes
  std::array<std::uint64_t, kRecordKinds> records{};

  ParseCounts& operator+=(const ParseCounts& other);
};

inline constexpr std::size_t kMaxLine = 256 << 10;  ///< bytes; the rest is skipped
/// Size in bytes up to which a line that begins with a brace is kept whole, because ncclras and nccl-tests write JSON
/// reports in one line.
inline constexpr std::size_t kMaxReport = 32 << 20;

/// The result of a run.
struct ParseReport {
  ParseCounts counts;
  std::vector<UnparsedShape> unparsed;  ///< most frequent first; at most 1,000 shapes
  /// Problems while reading; those of LogFiles are not repeated
  std::vector<InputProblem> problems;

  /// Returns the file and line of a place.  shape  a place from a record of this run
  [[nodiscard]] FileLine where(Place place) const;

  struct Piece {
    std::uint32_t file = 0;
    std::uint64_t first_line = 1;
  };
  std::vector<Piece> pieces;
};

/// How parse_logs() reports progress, and how it is stopped.
struct ParseOptions {
  /// Called occasionally from any worker with the bytes done so far (of LogFiles::total()).
  std::function<void(Bytes)> progress;
  std::stop_token stop;  ///< ends the run early
};

/// Reads the files once, with one worker thread for each sink (with a single sink, in the caller's thread). A file or
/// stream of at most kMaxPaste bytes is read as a paste, whose lines are restored first (paste.h).
///
/// Memory  for each worker a buffer of 1 MiB (of kMaxReport for a report in one line) and its speakers
/// shape   1 .. 256 sinks
/// errors  Aborted: stopped. A file that cannot be read is a problem in the report, not an error
Result<ParseReport> parse_logs(const LogFiles& files, std::span<RecordSink* const> sinks,
                               const ParseOptions& options);

/// Parses a text in memory as one file, or as a paste like parse_logs().
ParseReport parse_text(std::string_view text, RecordSink& sink);

}  // namespace ringside::logs
