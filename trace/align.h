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
  Reference,   ///< it is the reference
  Messages,    ///< transfers in both directions: nothing arrives before it was sent
  OneWay,      ///< wall clocks, moved as far as transfers in one direction demand
  WallClocks,  ///< wall clocks alone: no transfer joins it to the others
};

const char* to_string(ClockEvidence evidence);  ///< reference, messages, one way, wall clocks

/// One clock of several traces: that of a host since its boot.
struct AlignedClock {
  std::string host;  ///< the first host found on it
  std::size_t processes = 0;
  ClockEvidence evidence = ClockEvidence::Reference;
  Nanoseconds moved{
      0};  ///< the correction by messages to the difference of the wall clocks, in the middle of the run
  Nanoseconds uncertainty{0};  ///< half of the span that messages leave; 0 without Messages
  std::uint64_t messages = 0;  ///< between it and the clock that it was aligned to
  std::size_t pieces = 0;  ///< straight lines; more than one: the clocks drift apart within the run
  ClockMap to_reference;   ///< from its own time to the reference's
};

/// All clocks of some traces, and the clock of each process.
class AlignedClocks {
 public:
  /// Aligns the clocks of `files`. The first process of the first file has the reference. Where ranks
  /// on two clocks exchange chunks both ways, a receive that ends before its send begins would be wrong: each
  /// transfer bounds the offset from one side, and the middle of the remaining interval is used (D. Mills,
  /// RFC 5905, section 8, of the least delays). Where no single offset satisfies all transfers, clocks drift: the run is cut in
  /// halves until one does. Clocks are joined along the pairs with the smallest uncertainty.
  ///
  /// shape   names as files, for messages
  /// memory  1 KiB a pair of clocks that exchange chunks
  /// errors  InvalidArgument: a simulated clock among several files, no file.  Corrupt: no process has introduced
  ///         itself, times that no clock can show
  static Result<AlignedClocks> of(std::span<const TraceFile* const> files,
                                  std::span<const std::string> names);

  [[nodiscard]] const std::vector<AlignedClock>& clocks() const { return clocks_; }

  /// The clock of a process's events: an index of clocks().
  [[nodiscard]] std::size_t clock_of(std::size_t file, std::uint32_t pid) const;

  /// Visits every block of every file: those of one file in their order, those of several files merged by time.
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
