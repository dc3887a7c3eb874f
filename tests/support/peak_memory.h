#pragma once

#include <cstdint>
#include <functional>

namespace ringside {

/// Returns the peak memory in bytes that `work` needs beyond what this process has when it begins. It runs in a
/// process of its own, so none of its effects are visible here.
///
/// returns  0 under the address and thread sanitizers, which keep freed memory and shadow all of it: `work` runs, but
///          its memory is not known
std::int64_t peak_memory_of(const std::function<void()>& work);

}  // namespace ringside
