#pragma once

#include <string_view>

#include "base/assert.h"
#include "diag/hangdetect/recordings/recording.h"
#include "harness/scenario/scenario.h"
#include "ringside/trace_reader.h"
#include "study/interchange/import.h"
#include "study/interchange/recorded_profiles.h"
#include "study/interchange/recorded_trace.h"
#include "trace/call_statistics.h"

namespace ringside {

/// Reads a stranger's recording: it is refused with the fix, or it becomes a trace without an unreadable event and a
/// scenario that can be read again.
inline void fuzz_recording(recordings::Format format, std::string_view bytes) {
  auto made = recordings::parse(format, bytes, "rank0");
  if (!made) {
    RINGSIDE_ASSERT(!made.error().help.empty(), "no fix: {}", made.error().message);
    return;
  }
  recordings::Loaded loaded{.recordings = *std::move(made), .bad = {}};
  recordings::complete(loaded);
  const auto trace = study::trace_of(loaded.recordings);
  RINGSIDE_ASSERT(trace.has_value(), "no trace: {}", trace.error().message);
  const auto file = TraceFile::parse(trace->bytes, "recorded");
  RINGSIDE_ASSERT(file.has_value() && file->counts().malformed_blocks == 0,
                  "a trace that cannot be read");
  RINGSIDE_ASSERT(file->counts().unreadable_events == 0, "{} unreadable events",
                  file->counts().unreadable_events);
  sizes_of(calls_of(*file));
  auto job = study::import_recordings(std::move(loaded));
  constexpr std::size_t kFew = 256;  // larger jobs hold nothing more, and take long
  if (!job || job->ranks.size() > kFew) return;
  const auto scenario = study::scenario_of(*std::move(job));
  if (!scenario) return;
  const auto again = parse_scenario(to_yaml(*scenario), "imported");
  RINGSIDE_ASSERT(again.has_value(), "what was imported is no scenario: {}", again.error().message);
}

}  // namespace ringside
