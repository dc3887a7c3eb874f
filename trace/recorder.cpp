#include "trace/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/warning.h"
#include "trace/clock.h"
#include "trace/encode.h"

namespace ringside {
namespace {

/// With a simulated clock, the number of events between two readings of the real one, so that a reading costs little.
constexpr std::size_t kEventsBetweenReadings = 256;
constexpr std::int64_t kNever = INT64_MAX;

}  // namespace

TraceLane::TraceLane(TraceRecorder& recorder, std::size_t capacity)
    : recorder_(recorder),
      capacity_(std::clamp<std::size_t>(capacity, 1, BlockEncoder::kMostEvents)),
      events_(std::make_unique<TraceEvent[]>(capacity_)),
      encoder_(std::make_unique<BlockEncoder>()) {
  const bool is_simulated = recorder.info_.clock == TraceClock::Simulated;
  next_flush_ns_ = (trace_now() + TraceRecorder::kFlushInterval).count();
  settle_at_ = is_simulated ? std::min(capacity_, kEventsBetweenReadings) : capacity_;
  settle_when_ns_ = is_simulated ? kNever : next_flush_ns_;
}

TraceLane::~TraceLane() = default;

void TraceLane::settle() {
  const std::size_t recorded = recorded_.load(std::memory_order_relaxed);
  const bool is_simulated = recorder_.info_.clock == TraceClock::Simulated;
  const std::int64_t now_ns = trace_now().count();
  if (recorded < capacity_ && now_ns < next_flush_ns_) {
    // A simulated lane that looked in vain, or an event that claims to end in the future.
    if (is_simulated) settle_at_ = std::min(capacity_, recorded + kEventsBetweenReadings);
    return;
  }
  const std::lock_guard lock(mutex_);
  write_new();
  recorded_.store(0, std::memory_order_relaxed);
  written_ = 0;
  next_flush_ns_ = now_ns + TraceRecorder::kFlushInterval.count();
  settle_at_ = is_simulated ? std::min(capacity_, kEventsBetweenReadings) : capacity_;
  settle_when_ns_ = is_simulated ? kNever : next_flush_ns_;
}

void TraceLane::write_new() {
  const std::size_t recorded = recorded_.load(std::memory_order_acquire);
  const std::size_t count = recorded - written_;
  if (count == 0) return;
  const bool has_room =
      !recorder_.has_failed_.load(std::memory_order_relaxed) &&
      recorder_.write_block(encoder_->events(std::span(events_.get() + written_, count),
                                             recorder_.clock_map_now(), recorder_.info_.pid));
  (has_room ? recorder_.events_ : recorder_.dropped_).fetch_add(count, std::memory_order_relaxed);
  written_ = recorded;
}

TraceRecorder::TraceRecorder(std::shared_ptr<TraceSink> sink, TraceInfo info)
    : sink_(std::move(sink)), info_(std::move(info)) {
  static_cast<void>(clock_map_now());  // the first reading lies before the first event
}

TraceRecorder::~TraceRecorder() { flush(); }

Result<std::unique_ptr<TraceRecorder>> TraceRecorder::start(std::shared_ptr<TraceSink> sink,
                                                            TraceInfo info) {
  BlockEncoder encoder;
  RINGSIDE_TRY(sink->write(encoder.info(info)));
  return std::unique_ptr<TraceRecorder>(new TraceRecorder(std::move(sink), std::move(info)));
}

TraceLane* TraceRecorder::add_lane(std::size_t capacity) {
  const std::lock_guard lock(lanes_mutex_);
  return &lanes_.emplace_back(*this, capacity);
}

void TraceRecorder::flush() {
  const std::lock_guard lock(lanes_mutex_);
  for (TraceLane& lane : lanes_) {
    const std::lock_guard lane_lock(lane.mutex_);
    lane.write_new();
  }
}

TraceStats TraceRecorder::stats() const {
  return {events_.load(), blocks_.load(), bytes_.load(), dropped_.load()};
}

bool TraceRecorder::write_block(std::span<const std::byte> block) {
  const Status written = sink_->write(block);
  if (written) {
    blocks_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(block.size(), std::memory_order_relaxed);
    return true;
  }
  if (!has_failed_.exchange(true)) {
    report_warning({"trace/recorder.cpp", __LINE__, __func__},
                   fmt::format("{}; recording stops, the run goes on", written.error().message));
  }
  return false;
}

ClockMap TraceRecorder::clock_map_now() {
  if (info_.clock == TraceClock::Simulated || tick_scale().ns_per_tick == 0) return {};
  const std::lock_guard lock(clock_mutex_);
  clock_map_.add(read_clocks());
  return clock_map_;
}

}  // namespace ringside
