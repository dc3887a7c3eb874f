#include "engine/protocol/wire_lines.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/protocol/ll.h"
#include "engine/protocol/ll128.h"
#include "engine/protocol/size_error.h"

namespace ringside {
namespace {

template <typename Lines>
Result<std::span<const std::byte>> unpack_lines(std::span<std::byte> wire, std::uint64_t step,
                                                std::span<std::byte> room) {
  if (wire.empty() || wire.size() % Lines::kLine != 0) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{} bytes are not whole {} lines of {} bytes", wire.size(),
                             nccl_name(Lines::kProtocol), Lines::kLine)};
  }
  if (const auto stray = Lines::find_stray(wire, step)) {
    return Error{
        ErrorCode::Corrupt,
        fmt::format("{} line {} of step {} carries the flag {} where {} is due",
                    nccl_name(Lines::kProtocol), stray->line, step, stray->found, stray->due)};
  }
  const Bytes size = Lines::announced_size(wire.data());
  if (size.value == 0 || size.value > room.size()) {
    return bad_size(size.value, Bytes{room.size()});
  }
  if (Lines::wire_size(size).value != wire.size()) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{} bytes of {} lines claim to hold {}", wire.size(),
                             nccl_name(Lines::kProtocol), size.value)};
  }
  Unpacked so_far;
  const Arrival arrival = Lines::unpack(wire.data(), Bytes{room.size()}, step, room.data(), so_far);
  RINGSIDE_ASSERT(arrival == Arrival::Whole, "{} of {} bytes unpacked", so_far.done, so_far.size);
  return std::span<const std::byte>(room.first(so_far.size));
}

}  // namespace

Bytes wire_size(Protocol protocol, Bytes size) {
  switch (protocol) {
    case Protocol::LL:
      return Ll::wire_size(size);
    case Protocol::LL128:
      return Ll128::wire_size(size);
    case Protocol::Simple:
      break;
  }
  return size;
}

void pack_wire(Protocol protocol, std::span<std::byte> wire, std::span<const std::byte> data,
               std::uint64_t step) {
  RINGSIDE_ASSERT(wire.size() == wire_size(protocol, Bytes{data.size()}).value,
                  "{} bytes on {} of wire", data.size(), wire.size());
  // The slot is as long as the data, so there are no old flags that could match after a wrap-around.
  switch (protocol) {
    case Protocol::LL:
      return Ll::pack(wire.data(), Bytes{data.size()}, data, step);
    case Protocol::LL128:
      return Ll128::pack(wire.data(), Bytes{data.size()}, data, step);
    case Protocol::Simple:
      break;
  }
  std::memcpy(wire.data(), data.data(), data.size());
}

Result<std::span<const std::byte>> unpack_wire(Protocol protocol, std::span<std::byte> wire,
                                               std::uint64_t step, std::span<std::byte> room) {
  switch (protocol) {
    case Protocol::LL:
      return unpack_lines<Ll>(wire, step, room);
    case Protocol::LL128:
      return unpack_lines<Ll128>(wire, step, room);
    case Protocol::Simple:
      break;
  }
  if (wire.empty() || wire.size() > room.size()) {
    return bad_size(wire.size(), Bytes{room.size()});
  }
  return std::span<const std::byte>(wire);
}

}  // namespace ringside
