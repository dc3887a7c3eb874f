#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/assert.h"
#include "engine/protocol/line.h"
#include "ringside/units.h"

namespace ringside {

/// A private buffer for the data of one step, for slots that hold lines instead of plain bytes.
class Staging {
 public:
  Staging() = default;
  explicit Staging(Bytes size)
      : memory_(static_cast<std::byte*>(
            std::aligned_alloc(kSlotAlignment, round_up(size.value, kSlotAlignment)))),
        size_(size) {
    RINGSIDE_ASSERT(memory_ != nullptr, "cannot allocate {} bytes", size.value);
  }

  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), size_.value}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte[], Free> memory_;
  Bytes size_;
};

}  // namespace ringside
