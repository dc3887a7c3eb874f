#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/result.h"

/// Memory that ranks of one process open by its address. It stays until all of them have let go, so that kernels of one
/// rank never store where another, which has failed, had its memory.
namespace ringside {

/// Holds the memory for as long as it, or a copy, lives.
using ProcessMemory = std::shared_ptr<std::byte>;

/// Lets others open the memory.
/// release  called once, when the last holder goes, by its thread
/// Threads  any
ProcessMemory offer_memory(std::byte* memory, std::function<void(std::byte*)> release);

/// What was offered in this process, and begins there.
/// errors   System: nothing does, or all holders of it have gone
/// Threads  any
Result<ProcessMemory> find_memory(const std::byte* memory);

}  // namespace ringside
