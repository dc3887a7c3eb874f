#include "engine/topology/bus_id.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace ringside {
namespace {

/// Reads exactly `count` hexadecimal digits.
std::optional<BusId> hex(std::string_view digits, std::size_t least, std::size_t most) {
  if (digits.size() < least || digits.size() > most) return std::nullopt;
  BusId value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.front() == '-') {
    return std::nullopt;
  }
  return value;
}

std::optional<BusId> read_bus_id(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  const std::size_t device = text.rfind(':');
  if (dot == std::string_view::npos || device == std::string_view::npos || dot < device) {
    return std::nullopt;
  }
  const std::string_view front = text.substr(0, device);
  const std::size_t colon = front.find(':');
  const auto domain =
      colon == std::string_view::npos ? std::optional<BusId>{0} : hex(front.substr(0, colon), 1, 8);
  const auto bus = hex(colon == std::string_view::npos ? front : front.substr(colon + 1), 2, 2);
  const auto slot = hex(text.substr(device + 1, dot - device - 1), 2, 2);
  const auto function = hex(text.substr(dot + 1), 1, 1);
  if (!domain || !bus || !slot || !function) return std::nullopt;
  return (*domain << 20) | (*bus << 12) | (*slot << 4) | *function;
}

}  // namespace

Result<BusId> parse_bus_id(std::string_view text) {
  if (const auto id = read_bus_id(text)) return *id;
  return Error{ErrorCode::InvalidArgument, fmt::format("'{}' is not a PCI address", text),
               "write domain:bus:device.function in hexadecimal, such as 0000:1b:00.0"};
}

BusId bus_id_or_none(std::string_view text) { return read_bus_id(text).value_or(-1); }

}  // namespace ringside
