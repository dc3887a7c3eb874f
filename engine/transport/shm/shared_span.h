#pragma once

#include <cstddef>

namespace ringside {

class SharedRegion;

/// A position in a SharedMemory of this process.
struct SharedSpan {
  const SharedRegion* region = nullptr;  ///< null: nowhere
  std::size_t offset = 0;
};

}  // namespace ringside
