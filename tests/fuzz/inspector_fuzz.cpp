#include <cstddef>
#include <cstdint>

#include "tests/fuzz/recordings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringside::fuzz_recording(ringside::recordings::Format::Inspector,
                           {reinterpret_cast<const char*>(data), size});  // NOLINT: bytes as text
  return 0;
}
