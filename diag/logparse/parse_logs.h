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

/// Bytes -> lines -> records. Example:
///
///   LogFiles files = find_logs({"logs/"});
///   std::vector<MySink> mine(shards);                       // shards: as many as threads may work
///   std::vector<RecordSink*> sinks = ...;                   // one a shard
///   RINGSIDE_TRY(const ParseReport report, parse_logs(files, sinks, {}));
///   for (auto& sink : mine) all.merge(sink);                // in order of shards = order of input
///   report.where(place)                                     // file and line of what was kept
namespace ringside::logs {

/// Takes the records of one shard: a contiguous part of the input, in its order.
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

/// Unrecognised lines of one shape: digits and hexadecimal words replaced by `#`.
struct UnparsedShape {
  std::string shape;  ///< `NET/Foo : bar # of #`
  std::uint64_t count = 0;
  Place first;
  std::string example;  ///< the first such line, at most 300 bytes
};

/// Counts of lines by outcome.
struct ParseCounts {
  std::uint64_t bytes = 0;  ///< after decompression
  std::uint64_t lines = 0;
  std::uint64_t torn = 0;      ///< lines with a second beginning in them
  std::uint64_t overlong = 0;  ///< cut at kMaxLine
  std::uint64_t binary = 0;    ///< with NUL bytes
  std::array<std::uint64_t, kRecordKinds> records{};

  ParseCounts& operator+=(const ParseCounts& other);
};

inline constexpr std::size_t kMaxLine = 256 << 10;  ///< bytes; the rest is skipped
/// A line that begins with a brace is kept whole up to this size: ncclras and nccl-tests may write a report as one
/// line.
inline constexpr std::size_t kMaxReport = 32 << 20;

struct ParseReport {
  ParseCounts counts;
  std::vector<UnparsedShape> unparsed;  ///< most frequent first; at most 1,000 shapes
  std::vector<InputProblem> problems;   ///< of reading; those of LogFiles are not repeated

  /// shape  a Place that a sink of this run was given
  [[nodiscard]] FileLine where(Place place) const;

  struct Piece {
    std::uint32_t file = 0;
    std::uint64_t first_line = 1;
  };
  std::vector<Piece> pieces;
};

struct ParseOptions {
  /// Called occasionally from any worker with the bytes done so far (of LogFiles::total()).
  std::function<void(Bytes)> progress;
  std::stop_token stop;  ///< ends early, with what was read so far
};

/// Reads everything once: one worker thread for each sink (the caller's thread where there is one sink). Memory is
/// bounded, whatever the input is: each worker has a buffer of 1 MiB (of kMaxReport for a line that is a report) and
/// its speakers.
///
/// shape   1 .. 256 sinks
/// errors  Aborted: stopped. Files that cannot be read are problems in the report, not errors.
Result<ParseReport> parse_logs(const LogFiles& files, std::span<RecordSink* const> sinks,
                               const ParseOptions& options);

/// Text that is already in memory, as one file called `name`; one sink.
ParseReport parse_text(std::string_view text, RecordSink& sink);

}  // namespace ringside::logs
