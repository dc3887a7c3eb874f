#include "engine/transport/preamble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ringside {
namespace {

constexpr char kPreambleMagic[4] = {'R', 'S', 'P', 'R'};
constexpr std::size_t kProtocolAt = 4;
constexpr std::size_t kSlotSizeAt = 8;

}  // namespace

std::array<std::byte, kPreamble> preamble_of(ConnectionShape shape) {
  std::array<std::byte, kPreamble> bytes{};
  std::memcpy(bytes.data(), kPreambleMagic, sizeof kPreambleMagic);
  bytes[kProtocolAt] = static_cast<std::byte>(shape.protocol);
  for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i) {
    bytes[kSlotSizeAt + i] = static_cast<std::byte>((shape.slot_size.value >> (8 * i)) & 0xff);
  }
  return bytes;
}

Status check_preamble(std::span<const std::byte, kPreamble> theirs, ConnectionShape mine) {
  const auto expected = preamble_of(mine);
  if (std::ranges::equal(theirs, expected)) return {};
  const auto protocol = static_cast<Protocol>(theirs[kProtocolAt]);
  const bool is_known =
      std::to_integer<unsigned>(theirs[kProtocolAt]) <= static_cast<unsigned>(Protocol::Simple);
  const auto reserved = theirs.subspan<kProtocolAt + 1, kSlotSizeAt - kProtocolAt - 1>();
  if (std::memcmp(theirs.data(), kPreambleMagic, sizeof kPreambleMagic) != 0 || !is_known ||
      std::ranges::any_of(reserved, [](std::byte byte) { return byte != std::byte{0}; })) {
    return Error{ErrorCode::Corrupt, "a connection that does not begin with its protocol",
                 "use the same version on every rank"};
  }
  std::uint64_t slot_size = 0;
  for (std::size_t i = 0; i < sizeof slot_size; ++i) {
    slot_size |= std::to_integer<std::uint64_t>(theirs[kSlotSizeAt + i]) << (8 * i);
  }
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("it has {} in slots of {} bytes where this rank has {} in slots of "
                  "{} bytes",
                  to_string(protocol), slot_size, to_string(mine.protocol), mine.slot_size.value),
      "choose the same protocol and slot size on every rank"};
}

}  // namespace ringside
