#include "engine/transport/tcp/framed_slots.h"

#include <fmt/format.h>

namespace ringside {

Status read_header(FramedSlot& slot, Bytes longest) {
  const std::uint64_t payload = frame_length(slot.header_on().first<kFrameHeader>());
  if (payload == 0 || payload > longest.value) {
    return Error{
        ErrorCode::Corrupt,
        fmt::format("it announced a slot of {} bytes; slots hold 1 to {}", payload, longest.value),
        "use the same slot size and version on every rank"};
  }
  slot.size = kFrameHeader + payload;
  return {};
}

}  // namespace ringside
