#include "trace/clock.h"

#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <string>

#include "base/fd.h"
#include "trace/clock_map.h"

namespace ringside {
namespace {

/// How long the rate of the ticks is measured at the start.
constexpr Nanoseconds kMeasuringTime{200'000};

Nanoseconds read_clock(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return std::chrono::seconds{now.tv_sec} + Nanoseconds{now.tv_nsec};
}

/// Returns whether the CPU promises a counter of constant speed that never stops.
bool is_tick_rate_constant() {
#if defined(__x86_64__)
  constexpr unsigned kPowerLeaf = 0x80000007;
  constexpr unsigned kInvariantTsc = 1U << 8;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantTsc) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

/// The kernel watches the counters of all sockets against each other and leaves them when they disagree.
bool does_kernel_trust_ticks() {
  const Result<std::string> source =
      read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return source && (*source == "tsc\n" || *source == "arch_sys_counter\n");
}

struct TickReading {
  std::uint64_t tick;
  std::int64_t monotonic_ns;
};

/// CLOCK_MONOTONIC between two tick readings; the narrowest of several brackets counts.
TickReading read_both() {
  TickReading best{};
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::uint64_t before = read_ticks();
    const std::int64_t ns = monotonic_now().count();
    const std::uint64_t width = read_ticks() - before;
    if (width < narrowest) {
      narrowest = width;
      best = {before + width / 2, ns};
    }
  }
  return best;
}

}  // namespace

Nanoseconds monotonic_now() { return read_clock(CLOCK_MONOTONIC); }

Nanoseconds realtime_offset() {
  Nanoseconds best{0};
  Nanoseconds narrowest = Nanoseconds::max();
  for (int attempt = 0; attempt < 5; ++attempt) {
    const Nanoseconds before = monotonic_now();
    const Nanoseconds real = read_clock(CLOCK_REALTIME);
    const Nanoseconds width = monotonic_now() - before;
    if (width < narrowest) {
      narrowest = width;
      best = real - (before + width / 2);
    }
  }
  return best;
}

TickScale measure_tick_scale() {
  if (!is_tick_rate_constant() || !does_kernel_trust_ticks()) return {};
  const TickReading first = read_both();
  TickReading last = first;
  while (last.monotonic_ns - first.monotonic_ns < kMeasuringTime.count()) last = read_both();
  if (last.tick <= first.tick) return {};
  const double ns_per_tick = static_cast<double>(last.monotonic_ns - first.monotonic_ns) /
                             static_cast<double>(last.tick - first.tick);
  return {first.tick, first.monotonic_ns, static_cast<std::int64_t>(ns_per_tick * 0x1p32)};
}

ClockReading read_clocks() {
  ClockReading best{};
  std::int64_t narrowest = INT64_MAX;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::int64_t before = trace_now().count();
    const std::int64_t ns = monotonic_now().count();
    const std::int64_t width = trace_now().count() - before;
    if (width < narrowest) {
      narrowest = width;
      best = {before + width / 2, ns};
    }
  }
  return best;
}

}  // namespace ringside
