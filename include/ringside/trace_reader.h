#pragma once

#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/trace_block.h>
#include <ringside/trace_info.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace RINGSIDE_API ringside {

struct TraceDumpPart;

/// The content of an .rtrace file, and its unreadable parts.
struct TraceCounts {
  std::uint64_t blocks = 0;             ///< blocks of events
  std::uint64_t events = 0;             ///< readable events
  std::uint64_t unreadable_events = 0;  ///< see TraceBlock::is_readable()
  std::uint64_t processes = 0;          ///< processes that wrote their TraceInfo
  std::uint64_t dumps = 0;              ///< complete dumps of ranks, see TraceFile::dumps()
  /// Complete blocks of a type that only a newer ringside writes.
  std::uint64_t unknown_blocks = 0;
  std::uint64_t malformed_blocks = 0;  ///< blocks with a valid checksum that violate the schema
  std::uint64_t skipped_bytes = 0;     ///< bytes between complete blocks, and after the last one
  /// The file ends within a block: a process was killed, or the disk was full.
  bool is_torn_at_end = false;
};

/// An opened .rtrace file. open() reads the file once, checks the checksum and structure of each
/// block, and stores 16 bytes per block. Blocks are used in place. Torn or foreign bytes are
/// skipped up to the next complete block, and counted.
///
/// Threads    any, once opened
/// Ownership  owns the mapping; the file may grow meanwhile, but must not be truncated
class TraceFile {
 public:
  /// errors  NotFound: no such file.  Corrupt: not an .rtrace file, or written in a newer version.  System: it cannot
  ///         be read.  InvalidArgument: a directory or a pipe.
  static Result<TraceFile> open(const std::string& path);
  /// Opens only the first bytes of a longer file, to show them while the rest is read. Events have
  /// the same numbers as in the whole file. The block that is cut does not count as torn.
  /// errors  as open()
  static Result<TraceFile> open_begin(const std::string& path, std::size_t most_bytes);
  /// Opens the whole file after open_begin(), in the same mapping. For any other object it parses
  /// the file again.
  [[nodiscard]] TraceFile whole() const;

  /// Parses bytes in memory, which must outlive the result.  name  for messages
  /// errors  Corrupt: not an .rtrace file, or written in a newer version
  static Result<TraceFile> parse(std::span<const std::byte> bytes, const std::string& name);

  /// Returns the processes in the order of their introductions: the creator first. At most 4096 are
  /// kept; counts() counts all.
  [[nodiscard]] const std::vector<TraceInfo>& processes() const { return processes_; }
  [[nodiscard]] const TraceCounts& counts() const { return counts_; }
  /// Returns the complete flight recorder dumps in the file, by rank of the job: what each rank had called when the run
  /// ended. Of two dumps of a rank, the later one.
  [[nodiscard]] std::map<std::int32_t, std::string> dumps() const;
  [[nodiscard]] std::size_t size_bytes() const { return bytes_.size(); }

  /// Returns the number of event blocks. Blocks are in the order of the file; those of one lane are in recording
  /// order.
  [[nodiscard]] std::size_t block_count() const { return blocks_.size(); }
  [[nodiscard]] TraceBlock block(std::size_t index) const;  ///< shape  index < block_count()

  /// Returns the number of blocks before the last unreadable place; nullopt if all was readable.
  /// The last events of a lane are complete if a block behind that place has events of the lane.
  [[nodiscard]] const std::optional<std::size_t>& last_gap() const { return last_gap_; }

  /// Calls visit(const TraceEvent&) for each readable event, in the order of the file.
  template <typename Visit>
  void for_each_event(Visit&& visit) const {
    for (std::size_t b = 0; b < block_count(); ++b) block(b).for_each_event(visit);
  }

 private:
  struct Place {
    std::uint64_t offset;  ///< offset of the payload
    std::uint32_t bytes;
    std::uint32_t pid;
  };

  TraceFile() = default;
  static Result<TraceFile> parse(std::span<const std::byte> bytes, const std::string& name,
                                 bool is_cut);
  void scan(bool is_cut);
  void take(std::span<const std::byte> payload, Place place);
  void take_dump(const TraceDumpPart& part, Place place);

  std::shared_ptr<const void> mapping_;
  std::span<const std::byte> mapped_;  ///< the whole mapping
  std::span<const std::byte> bytes_;
  std::vector<Place> blocks_;
  std::optional<std::size_t> last_gap_;
  std::vector<TraceInfo> processes_;
  /// The parts of each rank's newest dump, in order; the sizes of what they hold.
  struct DumpPlaces {
    std::vector<Place> parts;
    std::uint64_t held = 0, total = 0;
    [[nodiscard]] bool is_whole() const { return !parts.empty() && held == total; }
  };
  std::map<std::int32_t, DumpPlaces> dumps_;
  TraceCounts counts_;
};

}  // namespace ringside
