#pragma once

#include <cstring>
#include <memory>
#include <new>

#include "ringside/units.h"

namespace ringside {

struct AlignedFree {
  void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{128}); }
};
using FifoMemory = std::unique_ptr<std::byte[], AlignedFree>;

/// Returns zeroed memory, as new shared memory is.
inline FifoMemory zeroed_memory(Bytes size) {
  FifoMemory memory(new (std::align_val_t{128}) std::byte[size.value]);
  std::memset(memory.get(), 0, size.value);
  return memory;
}

}  // namespace ringside
