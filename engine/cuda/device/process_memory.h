#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/result.h"

/// Memory that ranks of one process open by its address. It is freed when all of them have released it, so that
/// kernels of one rank never store into memory that a failed rank has freed.
namespace ringside {

/// Holds the memory for as long as it, or a copy, lives.
using ProcessMemory = std::shared_ptr<std::byte>;

/// Lets others open the memory.
/// release  called once, when the last holder goes, by its thread
/// Threads  any
ProcessMemory offer_memory(std::byte* memory, std::function<void(std::byte*)> release);

/// Returns the memory that was offered in this process and starts at that address.
/// errors   System: there is none, or all its holders have released it
/// Threads  any
Result<ProcessMemory> find_memory(const std::byte* memory);

}  // namespace ringside
