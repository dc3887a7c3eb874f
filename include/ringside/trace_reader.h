#pragma once

#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/trace_block.h>
#include <ringside/trace_info.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace RINGSIDE_API ringside {

/// The content of an .rtrace file, and its unreadable parts.
struct TraceCounts {
  std::uint64_t blocks = 0;             ///< of events
  std::uint64_t events = 0;             ///< readable ones
  std::uint64_t unreadable_events = 0;  ///< see TraceBlock::is_readable
  std::uint64_t processes = 0;          ///< that have introduced themselves
  std::uint64_t unknown_blocks = 0;     ///< whole, of a newer kind
  std::uint64_t malformed_blocks = 0;   ///< whole by their checksum, yet against the schema
  std::uint64_t skipped_bytes = 0;      ///< between whole blocks and behind the last one
  bool is_torn_at_end = false;  ///< the file ends within a block: a process was killed, a disk full
};

/// An opened .rtrace file. Blocks are used in place; opening reads the file once, checks each
/// block's checksum and structure, and remembers its position: 16 bytes a block. Torn or foreign
/// bytes are skipped up to the next whole block, and counted.
///
/// Threads    any, once opened
/// Ownership  of the mapping; the file may grow meanwhile, but must not be cut
class TraceFile {
 public:
  /// errors  NotFound: no such file.  Corrupt: not an .rtrace file, or of a newer version.
  ///         System: it cannot be read.  InvalidArgument: a directory or a pipe.
  static Result<TraceFile> open(const std::string& path);
  /// Opens only the first bytes of a longer file, to show something while all of it is read. Its events have the numbers that
  /// they have in the whole; the block that is cut does not count as torn.
  static Result<TraceFile> open_begin(const std::string& path, std::size_t most_bytes);
  /// Opens all of the file whose first bytes open_begin() read, in the same mapping; any other file anew.
  [[nodiscard]] TraceFile whole() const;

  /// The same for bytes in memory, which must outlive the result; messages contain `name`.
  static Result<TraceFile> parse(std::span<const std::byte> bytes, const std::string& name);

  /// In the order of their introductions: the creator first. At most 4096 are kept; counts() counts all.
  [[nodiscard]] const std::vector<TraceInfo>& processes() const { return processes_; }
  [[nodiscard]] const TraceCounts& counts() const { return counts_; }
  [[nodiscard]] std::size_t size_bytes() const { return bytes_.size(); }

  /// Blocks of events, in the order of the file: those of one lane are in the order recorded.
  [[nodiscard]] std::size_t block_count() const { return blocks_.size(); }
  [[nodiscard]] TraceBlock block(std::size_t index) const;  ///< shape  index < block_count()

  /// How many blocks precede the last place that could not be read; nothing where all could. What a lane
  /// recorded last is there when a block behind that place has events of it.
  [[nodiscard]] const std::optional<std::size_t>& last_gap() const { return last_gap_; }

  /// Calls visit(const TraceEvent&) for each readable event, in the order of the file.
  template <typename Visit>
  void for_each_event(Visit&& visit) const {
    for (std::size_t b = 0; b < block_count(); ++b) block(b).for_each_event(visit);
  }

 private:
  struct Place {
    std::uint64_t offset;  ///< of the payload
    std::uint32_t bytes;
    std::uint32_t pid;
  };

  TraceFile() = default;
  static Result<TraceFile> parse(std::span<const std::byte> bytes, const std::string& name,
                                 bool is_cut);
  void scan(bool is_cut);
  void take(std::span<const std::byte> payload, Place place);

  std::shared_ptr<const void> mapping_;
  std::span<const std::byte> mapped_;  ///< all of it
  std::span<const std::byte> bytes_;
  std::vector<Place> blocks_;
  std::optional<std::size_t> last_gap_;
  std::vector<TraceInfo> processes_;
  TraceCounts counts_;
};

}  // namespace ringside
