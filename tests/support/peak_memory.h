#pragma once

#include <cstdint>
#include <functional>

namespace ringside {

/// Bytes of memory that `work` takes at most, beyond what this process has when it begins. It runs in a process of its own,
/// so nothing that it does is seen here.
/// returns  0 under the address and thread sanitizers, which keep freed memory and shadow all of it: there the work runs, and
///          what it takes is not known
std::int64_t peak_memory_of(const std::function<void()>& work);

}  // namespace ringside
