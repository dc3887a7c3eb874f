#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "ringside/units.h"

/// The clock of recorded events.
///
/// An event needs two readings and may cost 50 ns in all. CLOCK_MONOTONIC costs about 22 ns a reading,
/// the CPU's tick counter (x86-64 rdtsc, arm64 cntvct_el0) about 10 ns; so trace_now() reads ticks.
/// Ticks alone would not do: a frequency measured once is off by many ppm, and NTP bends CLOCK_MONOTONIC
/// besides, so two processes would drift apart by microseconds each second. Therefore the recorder reads
/// both clocks at every flush and moves each event onto CLOCK_MONOTONIC by interpolation between the
/// readings around it (clock_map.h). Interpolation never amplifies the error of a reading, which is half
/// the time that one takes (about 20 ns): that is how far apart the processes of a host are in the file.
///
/// Ticks are used where the CPU says that they never stop or change speed (invariant TSC) and the kernel
/// itself keeps time by them (clocksource tsc, arch_sys_counter); elsewhere trace_now() is CLOCK_MONOTONIC.
namespace ringside {

/// The conversion of ticks to nanoseconds in this process; measured once.
struct TickScale {
  std::uint64_t first_tick = 0;
  std::int64_t first_ns = 0;     ///< CLOCK_MONOTONIC at first_tick
  std::int64_t ns_per_tick = 0;  ///< in units of 2^-32; 0: ticks are not reliable here
};

/// Measures the scale for about 0.2 ms; it is accurate to 100 ppm.
TickScale measure_tick_scale();

/// Returns CLOCK_MONOTONIC by a system call.
Nanoseconds monotonic_now();

/// Returns CLOCK_REALTIME - CLOCK_MONOTONIC, to align the files of several hosts.
Nanoseconds realtime_offset();

inline std::uint64_t read_ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

inline const TickScale& tick_scale() {
  static const TickScale scale = measure_tick_scale();
  return scale;
}

/// Now, for TraceEvent::begin_ns and end_ns. Differences within a process are true to 100 ppm; only what
/// the recorder has written to the file compares across processes. The CPU may move the reading by a few
/// ns around neighbouring instructions: a fence would cost more than that error matters.
///
/// Threads   any
inline Nanoseconds trace_now() {
  const TickScale& scale = tick_scale();
  if (scale.ns_per_tick == 0) return monotonic_now();
  __extension__ using Wide = __int128;
  // Signed: a core whose counter lags a little behind the measuring one gives a negative difference.
  const auto ticks = static_cast<std::int64_t>(read_ticks() - scale.first_tick);
  const auto ns = static_cast<std::int64_t>((static_cast<Wide>(ticks) * scale.ns_per_tick) >> 32);
  return Nanoseconds{scale.first_ns + ns};
}

}  // namespace ringside
