#include "engine/protocol/size_error.h"

#include <fmt/format.h>

namespace ringside {

Error bad_size(std::uint64_t size, Bytes slot_size) {
  return {ErrorCode::Corrupt,
          fmt::format("a slot of {} bytes claims to hold {}", slot_size.value, size)};
}

Error other_size(std::uint64_t sent, std::uint64_t expected) {
  return {ErrorCode::InvalidArgument,
          fmt::format("it sent {} bytes where this rank expects {}", sent, expected),
          "call the collective with the same count and type on every rank"};
}

}  // namespace ringside
