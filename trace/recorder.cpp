#include "trace/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <span>
#include <utility>

#include "base/log.h"
#include "trace/clock.h"
#include "trace/encode.h"
#include "trace/format.h"

namespace ringside {
namespace {

/// With a simulated clock, how many events may go by between two looks at the real one.
constexpr std::size_t kEventsBetweenLooks = 256;
constexpr std::int64_t kNever = INT64_MAX;

constexpr const char* kPathHelp = "give a path in an existing directory that you may write to";

/// Blocks must lie at multiples of rtrace::kAlignment for a reader to use them in place.
std::vector<std::byte> header_and(std::span<const std::byte> block) {
  const auto header =
      std::bit_cast<std::array<std::byte, sizeof(rtrace::FileHeader)>>(rtrace::FileHeader{});
  std::vector<std::byte> bytes(header.begin(), header.end());
  bytes.insert(bytes.end(), block.begin(), block.end());
  return bytes;
}

/// 0, or why the bytes are not all in the file.
int write_once(int fd, std::span<const std::byte> bytes) {
  ssize_t put = 0;
  do {
    put = ::write(fd, bytes.data(), bytes.size());
  } while (put < 0 && errno == EINTR);
  if (put < 0) return errno;
  return static_cast<std::size_t>(put) == bytes.size() ? 0
                                                       : ENOSPC;  // a short write: no room for more
}

}  // namespace

TraceLane::TraceLane(TraceRecorder& recorder, std::size_t capacity)
    : recorder_(recorder),
      capacity_(std::clamp<std::size_t>(capacity, 1, BlockEncoder::kMostEvents)),
      events_(std::make_unique<TraceEvent[]>(capacity_)),
      encoder_(std::make_unique<BlockEncoder>()) {
  const bool is_simulated = recorder.info_.clock == TraceClock::Simulated;
  next_flush_ns_ = (trace_now() + TraceRecorder::kFlushInterval).count();
  settle_at_ = is_simulated ? std::min(capacity_, kEventsBetweenLooks) : capacity_;
  settle_when_ns_ = is_simulated ? kNever : next_flush_ns_;
}

TraceLane::~TraceLane() = default;

void TraceLane::settle() {
  const std::size_t recorded = recorded_.load(std::memory_order_relaxed);
  const bool is_simulated = recorder_.info_.clock == TraceClock::Simulated;
  const std::int64_t now_ns = trace_now().count();
  if (recorded < capacity_ && now_ns < next_flush_ns_) {
    // A simulated lane that looked in vain, or an event that claims to end in the future.
    if (is_simulated) settle_at_ = std::min(capacity_, recorded + kEventsBetweenLooks);
    return;
  }
  const std::lock_guard lock(mutex_);
  write_new();
  recorded_.store(0, std::memory_order_relaxed);
  written_ = 0;
  next_flush_ns_ = now_ns + TraceRecorder::kFlushInterval.count();
  settle_at_ = is_simulated ? std::min(capacity_, kEventsBetweenLooks) : capacity_;
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

TraceRecorder::TraceRecorder(std::string path, TraceInfo info, UniqueFd file)
    : path_(std::move(path)), info_(std::move(info)), file_(std::move(file)) {
  static_cast<void>(clock_map_now());  // the first reading lies before the first event
}

TraceRecorder::~TraceRecorder() { flush(); }

Result<std::unique_ptr<TraceRecorder>> TraceRecorder::create(const std::string& path,
                                                             TraceInfo info) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (!file) return system_error(fmt::format("{}: cannot write the trace", path), errno, kPathHelp);
  BlockEncoder encoder;
  if (const int why = write_once(file.get(), header_and(encoder.info(info))); why != 0) {
    return system_error(fmt::format("{}: cannot write the trace", path), why,
                        "make room there, or give a path on another file system");
  }
  return std::unique_ptr<TraceRecorder>(new TraceRecorder(path, std::move(info), std::move(file)));
}

Result<std::unique_ptr<TraceRecorder>> TraceRecorder::append(const std::string& path,
                                                             TraceInfo info) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!file) {
    const int why = errno;
    Error error = system_error(fmt::format("{}: cannot join the trace", path), why, kPathHelp);
    if (why == ENOENT) {
      error.code = ErrorCode::NotFound;
      error.help = "one process creates the file before the others join it";
    }
    return error;
  }
  std::array<std::byte, sizeof(rtrace::FileHeader)> start{};
  const ssize_t got = ::pread(file.get(), start.data(), start.size(), 0);
  const auto header = rtrace::read_fixed<rtrace::FileHeader>(start);
  if (got != static_cast<ssize_t>(start.size()) || header.magic != rtrace::kFileMagic ||
      header.version != rtrace::kVersion) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: not an .rtrace file of version {}", path, rtrace::kVersion),
                 "have one process create the file anew before the others join it"};
  }
  BlockEncoder encoder;
  if (const int why = write_once(file.get(), encoder.info(info)); why != 0) {
    return system_error(fmt::format("{}: cannot join the trace", path), why,
                        "make room there, or give a path on another file system");
  }
  return std::unique_ptr<TraceRecorder>(new TraceRecorder(path, std::move(info), std::move(file)));
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
  const int why = write_once(file_.get(), block);
  if (why == 0) {
    blocks_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(block.size(), std::memory_order_relaxed);
    return true;
  }
  if (!has_failed_.exchange(true)) {
    log_line(LogLevel::Warn,
             system_error(fmt::format("{}: recording stops, the run goes on", path_), why).message);
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
