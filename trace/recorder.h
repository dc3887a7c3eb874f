#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "ringside/trace_event.h"
#include "ringside/trace_info.h"
#include "trace/clock_map.h"
#include "trace/sink.h"

namespace ringside {

class TraceRecorder;
class BlockEncoder;

/// The buffer in which one thread records. A null pointer means off: `if (lane != nullptr)
/// lane->record(event);`
///
/// Ordering   events reach the sink in the order recorded
/// Threads    one thread records at a time; any thread may flush the recorder meanwhile
/// Ownership  the recorder owns the lane
class TraceLane {
 public:
  TraceLane(TraceRecorder& recorder, std::size_t capacity);
  ~TraceLane();
  TraceLane(const TraceLane&) = delete;
  TraceLane& operator=(const TraceLane&) = delete;

  /// Appends an event. Passes the buffer to the sink when it is full, or when an event ends 250 ms
  /// or more after the last flush; with a simulated clock, 250 ms of real time after it, checked
  /// every 256 events. Times are those of trace_now() or of the simulator.
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

  void settle();     ///< recording thread: writes what must be written and makes room
  void write_new();  ///< under mutex_: passes [written_, recorded_) to the sink

  TraceRecorder& recorder_;
  const std::size_t capacity_;
  const std::unique_ptr<TraceEvent[]> events_;
  /// Slots below this index are filled and unchanged until the recording thread, holding mutex_,
  /// restarts at 0. So another thread may read them under mutex_ while recording continues behind
  /// them.
  std::atomic<std::size_t> recorded_{0};
  std::size_t settle_at_ = 0;        ///< the recording thread's
  std::int64_t settle_when_ns_ = 0;  ///< the recording thread's, on trace_now()
  std::int64_t next_flush_ns_ = 0;   ///< the recording thread's, on trace_now()
  std::mutex mutex_;
  std::size_t written_ = 0;                ///< under mutex_
  std::unique_ptr<BlockEncoder> encoder_;  ///< under mutex_
};

/// The counts of events so far.
struct TraceStats {
  std::uint64_t events = 0;   ///< written to the sink
  std::uint64_t blocks = 0;   ///< one write each
  std::uint64_t bytes = 0;    ///< written to the sink by this recorder
  std::uint64_t dropped = 0;  ///< events lost since the sink failed
};

/// Writes one process's events to a sink, as blocks of the .rtrace format
/// (docs/reference/rtrace-format.md). Several recorders may share a sink.
///
/// The sink holds everything up to the last flush, even if the process dies. If the sink fails
/// during the run (a full disk), recording stops with one warning in the log, the run continues,
/// and stats() counts the dropped events.
///
/// A forked child must not use its parent's recorder: it must start one of its own.
///
/// Threads    any thread may call each method; destroy it after all recording threads are done
/// Ownership  shares the sink
class TraceRecorder {
 public:
  static constexpr std::size_t kLaneEvents = 4096;  ///< 256 KiB a lane
  static constexpr Nanoseconds kFlushInterval{250'000'000};

  /// Starts recording and writes the block that introduces the process.
  /// errors  those of the sink
  static Result<std::unique_ptr<TraceRecorder>> start(std::shared_ptr<TraceSink> sink,
                                                      TraceInfo info);

  ~TraceRecorder();  ///< flushes
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  /// Adds a lane for one thread. A thread that records for many ranks (the simulator) needs only
  /// one lane.
  TraceLane* add_lane(std::size_t capacity = kLaneEvents);

  /// Passes all recorded events to the sink. Call it before a wait that may never end, or from a
  /// watchdog.
  void flush();

  [[nodiscard]] TraceStats stats() const;

 private:
  friend class TraceLane;

  TraceRecorder(std::shared_ptr<TraceSink> sink, TraceInfo info);

  /// Writes a block. After the first failed write it writes nothing and returns false.
  bool write_block(std::span<const std::byte> block);
  ClockMap clock_map_now();

  const std::shared_ptr<TraceSink> sink_;
  const TraceInfo info_;
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
