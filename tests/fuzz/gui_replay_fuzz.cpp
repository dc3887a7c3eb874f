#include <cstdint>
#include <cstring>
#include <vector>

#include "gui/model/session/lesson.h"
#include "tests/fuzz/vouched.h"
#include "tests/gui/any_trace.h"

/// Feeds files that the window reads from strangers: traces, once unchanged and once with the checksum of every frame
/// corrected, and lessons.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  static_cast<void>(gui::parse_lesson(std::string(data, data + size), "fuzz.yaml"));
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  for (const bool has_fixed_checksums : {false, true}) {
    if (has_fixed_checksums) fix_checksums(bytes);
    auto file = TraceFile::parse(bytes, "fuzz.rtrace");
    if (!file) continue;
    if (auto replay = Replay::make(std::move(*file))) gui::show_all(std::move(*replay));
  }
  return 0;
}
