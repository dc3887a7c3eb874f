#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ringside/trace_reader.h"
#include "ringside/units.h"
#include "trace/clock_map.h"

namespace ringside {

/// The evidence for a clock's offset from the reference.
enum class ClockEvidence : std::uint8_t {
  Reference,   ///< the clock is the reference
  Messages,    ///< transfers in both directions: no message arrives before it was sent
  OneWay,      ///< wall clocks, corrected as far as transfers in one direction require
  WallClocks,  ///< wall clocks only: no transfer joins the clock to others
};

const char* to_string(ClockEvidence evidence);  ///< reference, messages, one way, wall clocks

/// The clock of a host since its boot, aligned to the reference.
struct AlignedClock {
  std::string host;  ///< the first host found on it
  std::size_t processes = 0;
  ClockEvidence evidence = ClockEvidence::Reference;
  /// Correction of the wall-clock offset by messages, at the middle of the run.
  Nanoseconds moved{0};
  Nanoseconds uncertainty{0};  ///< half of the interval that messages allow; 0 without Messages
  std::uint64_t messages = 0;  ///< messages exchanged with the clock that it was aligned to
  std::size_t pieces = 0;  ///< number of straight lines; > 1: the clocks drift apart during the run
  ClockMap to_reference;   ///< maps its own time to the reference's
};

/// All clocks of several traces, and the clock of each process.
class AlignedClocks {
 public:
  /// Aligns the clocks of `files`; the first process of the first file has the reference clock. A
  /// receive cannot end before its send begins, so each transfer bounds the offset of two clocks
  /// from one side. The middle of the remaining interval is used (D. Mills, RFC 5905, section 8, of
  /// the least delays). If no offset satisfies all transfers, the clocks drift: the run is halved
  /// until one does. Clocks are joined along the pairs with the smallest uncertainty.
  ///
  /// names   name of each file, for messages
  /// memory  1 KiB per pair of clocks that exchange chunks
  /// errors  InvalidArgument: a simulated clock among several files, no file.  Corrupt: no process
  ///         has introduced itself, or times out of range
  static Result<AlignedClocks> of(std::span<const TraceFile* const> files,
                                  std::span<const std::string> names);

  [[nodiscard]] const std::vector<AlignedClock>& clocks() const { return clocks_; }

  /// Returns the index in clocks() of the clock of a process.
  [[nodiscard]] std::size_t clock_of(std::size_t file, std::uint32_t pid) const;

  /// Visits every block of every file: blocks of one file in order, blocks of several files merged
  /// by time.
  void for_each_block(
      std::span<const TraceFile* const> files,
      const std::function<void(std::size_t file, const TraceBlock& block)>& visit) const;

 private:
  class Builder;

  struct Process {
    std::uint32_t pid;
    std::size_t clock;
  };

  std::vector<AlignedClock> clocks_;
  std::vector<std::int64_t> by_wall_;            ///< [clock]: the offset by wall clocks
  std::vector<std::vector<Process>> processes_;  ///< [file], by pid
};

}  // namespace ringside
