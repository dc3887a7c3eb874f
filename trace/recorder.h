#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "trace/clock_map.h"
#include "trace/event.h"
#include "trace/info.h"

namespace ringside {

class TraceRecorder;
class BlockEncoder;

/// Where one thread records. Off is a null pointer: `if (lane != nullptr) lane->record(event);`
///
/// Ordering   events reach the file in the order recorded
/// Threads    one at a time records; any may flush the recorder meanwhile
/// Ownership  the recorder's, and gone with it
class TraceLane {
 public:
  TraceLane(TraceRecorder& recorder, std::size_t capacity);
  ~TraceLane();
  TraceLane(const TraceLane&) = delete;
  TraceLane& operator=(const TraceLane&) = delete;

  /// Appends to a buffer; hands it to the file when it is full, or with the first event that ends 250 ms
  /// or more after the last hand-over. Times are trace_now()'s, or the simulator's.
  void record(const TraceEvent& event) {
    const std::size_t at = recorded_.load(std::memory_order_relaxed);
    events_[at] = event;
    recorded_.store(at + 1, std::memory_order_release);
    if (at + 1 >= settle_at_ || event.end_ns >= settle_when_ns_) [[unlikely]] {
      settle();
    }
  }

 private:
  friend class TraceRecorder;

  void settle();     ///< by the recording thread: writes what must be written, makes room
  void write_new();  ///< under mutex_: [written_, recorded_) goes to the file

  TraceRecorder& recorder_;
  const std::size_t capacity_;
  const std::unique_ptr<TraceEvent[]> events_;
  /// Slots below it are filled and stay untouched until the recording thread, holding mutex_, starts
  /// over at 0; so another thread may read them under mutex_ while recording goes on behind them.
  std::atomic<std::size_t> recorded_{0};
  std::size_t settle_at_ = 0;        ///< the recording thread's
  std::int64_t settle_when_ns_ = 0;  ///< the recording thread's, on trace_now()
  std::int64_t next_flush_ns_ = 0;   ///< the recording thread's, on trace_now()
  std::mutex mutex_;
  std::size_t written_ = 0;                ///< under mutex_
  std::unique_ptr<BlockEncoder> encoder_;  ///< under mutex_
};

/// What has become of the events so far.
struct TraceStats {
  std::uint64_t events = 0;   ///< written to the file
  std::uint64_t blocks = 0;   ///< one write() each
  std::uint64_t bytes = 0;    ///< written to the file by this process
  std::uint64_t dropped = 0;  ///< events lost since the file could not be written any more
};

/// Writes one process's events to an .rtrace file (docs/rtrace-format.md). Several processes of a host
/// share a file: one creates it, the others append; each block goes out in a single write() to an
/// O_APPEND descriptor. A network file system that does not keep such writes whole needs a file a host.
///
/// After a kill -9 the file holds everything up to the last flush. When the disk fills up in mid-run,
/// recording stops with one warning in the log, the run goes on, and stats() counts what was dropped.
///
/// A child made by fork() must not use its parent's recorder: it appends with one of its own.
///
/// Threads   any, for every method; the destructor after all recording threads are done
class TraceRecorder {
 public:
  static constexpr std::size_t kLaneEvents = 4096;  ///< 256 KiB a lane
  static constexpr Nanoseconds kFlushInterval{250'000'000};

  /// Makes the file anew, or empties it, and writes header and info.
  /// errors  System: the path cannot be written
  static Result<std::unique_ptr<TraceRecorder>> create(const std::string& path, TraceInfo info);

  /// Joins a file that another process has created.
  /// errors  NotFound: no such file.  Corrupt: not an .rtrace file.  System: it cannot be written.
  static Result<std::unique_ptr<TraceRecorder>> append(const std::string& path, TraceInfo info);

  ~TraceRecorder();  ///< flushes
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  /// A new lane, for one thread. A thread that speaks for many ranks (the simulator's) needs only one.
  TraceLane* add_lane(std::size_t capacity = kLaneEvents);

  /// Hands everything recorded so far to the file: before a wait that may never end, or by a watchdog.
  void flush();

  [[nodiscard]] TraceStats stats() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  friend class TraceLane;

  TraceRecorder(std::string path, TraceInfo info, UniqueFd file);

  /// One write(). After the first that fails, nothing is written any more.
  bool write_block(std::span<const std::byte> block);
  ClockMap clock_map_now();

  const std::string path_;
  const TraceInfo info_;
  const UniqueFd file_;
  std::mutex lanes_mutex_;
  std::deque<TraceLane> lanes_;  ///< under lanes_mutex_
  std::mutex clock_mutex_;
  ClockMap clock_map_;  ///< under clock_mutex_
  std::atomic<bool> has_failed_{false};
  std::atomic<std::uint64_t> events_{0};
  std::atomic<std::uint64_t> blocks_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace ringside
