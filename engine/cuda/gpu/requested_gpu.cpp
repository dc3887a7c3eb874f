#include "engine/cuda/gpu/requested_gpu.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace ringside {

Result<std::optional<int>> requested_gpu(const char* name,
                                         const std::function<Result<int>()>& current,
                                         const Environment& environment) {
  const std::string text = name != nullptr ? name : environment("RINGSIDE_DEVICE").value_or("host");
  if (text == "host") return std::optional<int>();
  if (text == "cuda") {
    RINGSIDE_TRY(const int device, current());
    return std::optional(device);
  }
  constexpr std::string_view kNumbered = "cuda:";
  constexpr std::int64_t kMostGpus = 1 << 16;  // far more than any host has
  if (text.starts_with(kNumbered)) {
    const Result<std::int64_t> number = parse_int(std::string_view(text).substr(kNumbered.size()));
    if (number && *number >= 0 && *number <= kMostGpus) {
      return std::optional(static_cast<int>(*number));
    }
  }
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{} {}", name != nullptr ? "device" : "RINGSIDE_DEVICE", text),
               "give host, cuda (the GPU that the thread has set) or cuda:N"};
}

}  // namespace ringside
