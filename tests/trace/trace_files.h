#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "ringside/trace_event.h"
#include "ringside/trace_reader.h"
#include "trace/encode.h"
#include "trace/format.h"

namespace ringside {

/// A path that only this test uses; the file is removed with the object.
class TemporaryPath {
 public:
  explicit TemporaryPath(const std::string& name)
      : path_(testing::TempDir() + "ringside_" + std::to_string(::getpid()) + "_" + name) {}
  ~TemporaryPath() { std::remove(path_.c_str()); }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  [[nodiscard]] const std::string& text() const { return path_; }

 private:
  std::string path_;
};

using FileBytes = std::vector<std::byte>;

inline void append_bytes(FileBytes& file, std::span<const std::byte> more) {
  file.insert(file.end(), more.begin(), more.end());
}

inline FileBytes file_header() {
  const rtrace::FileHeader header;
  FileBytes file;
  append_bytes(file, std::as_bytes(std::span(&header, 1)));
  return file;
}

/// Returns a frame with the checksum of `payload`, followed by the payload.
inline FileBytes framed(std::span<const std::byte> payload, std::uint32_t pid = 1) {
  const rtrace::Frame frame = rtrace::frame_for(payload, pid);
  FileBytes block;
  append_bytes(block, std::as_bytes(std::span(&frame, 1)));
  append_bytes(block, payload);
  return block;
}

inline FileBytes events_block(std::span<const TraceEvent> events, std::uint32_t pid = 1) {
  BlockEncoder encoder;
  FileBytes block;
  append_bytes(block, encoder.events(events, ClockMap{}, pid));
  return block;
}

inline FileBytes info_block(const TraceInfo& info) {
  BlockEncoder encoder;
  FileBytes block;
  append_bytes(block, encoder.info(info));
  return block;
}

inline std::vector<TraceEvent> all_events(const TraceFile& file) {
  std::vector<TraceEvent> events;
  file.for_each_event([&](const TraceEvent& event) { events.push_back(event); });
  return events;
}

/// Returns `count` events of one rank, 10 ns each, with steps first, first + 1, ...
inline std::vector<TraceEvent> steps(std::uint32_t first, std::uint32_t count) {
  std::vector<TraceEvent> events(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    events[i].step = first + i;
    events[i].begin_ns = 10 * std::int64_t{first + i};
    events[i].end_ns = events[i].begin_ns + 10;
  }
  return events;
}

inline std::vector<std::uint32_t> steps_of(const TraceFile& file) {
  std::vector<std::uint32_t> found;
  for (const TraceEvent& event : all_events(file)) found.push_back(event.step);
  return found;
}

}  // namespace ringside
