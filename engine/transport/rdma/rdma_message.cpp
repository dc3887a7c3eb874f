#include "engine/transport/rdma/rdma_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "engine/transport/transport.h"

namespace ringside {
namespace {

constexpr std::size_t kPortBytes = 40;
constexpr std::size_t kQueueBytes = 8;
constexpr std::size_t kFixedBytes = 32;
constexpr std::size_t kNameBytes = 16;
constexpr std::size_t kLongestAnswer =
    1000;  ///< text of an error, cut after that; fits kRdmaMessageLimit

class RdmaWriter {
 public:
  template <typename Number>
  void number(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
  }
  void raw(std::span<const std::byte> from) { bytes.insert(bytes.end(), from.begin(), from.end()); }

  std::vector<std::byte> bytes;
};

/// Reads fields of a message whose length was checked before.
class RdmaReader {
 public:
  explicit RdmaReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Number>
  Number number() {
    Number value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) {
      value = static_cast<Number>(
          value | static_cast<Number>(std::to_integer<Number>(bytes_[i]) << (8 * i)));
    }
    bytes_ = bytes_.subspan(sizeof value);
    return value;
  }
  std::span<const std::byte> raw(std::size_t size) {
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

 private:
  std::span<const std::byte> bytes_;
};

Error no_message(const char* what) {
  return {ErrorCode::Corrupt, fmt::format("the peer's RDMA message {}", what),
          "use the same version on every rank"};
}

}  // namespace

std::vector<std::byte> make_rdma_message(const RdmaEndInfo& info, ConnectionShape shape) {
  RdmaWriter writer;
  writer.raw(preamble_of(shape));
  writer.number(info.memory);
  writer.number(static_cast<std::uint16_t>(info.ports.size()));
  writer.number(static_cast<std::uint16_t>(info.queues.size()));
  writer.number(std::uint32_t{0});
  for (const RdmaEndInfo::Port& port : info.ports) {
    writer.raw(std::as_bytes(std::span(port.gid.bytes)));
    writer.number(port.key);
    writer.number(port.lid);
    writer.number(port.mtu);
    writer.number(static_cast<std::uint8_t>(port.is_ethernet));
    std::string name = port.name;
    name.resize(kNameBytes);
    writer.raw(std::as_bytes(std::span(name)));
  }
  for (const RdmaEndInfo::Queue& queue : info.queues) {
    writer.number(queue.number);
    writer.number(queue.first_packet);
  }
  return std::move(writer.bytes);
}

Result<RdmaEndInfo> parse_rdma_message(std::span<const std::byte> bytes, ConnectionShape shape) {
  if (bytes.size() < kFixedBytes) return no_message("is too short");
  RINGSIDE_TRY(check_preamble(bytes.first<kPreamble>(), shape));
  RdmaReader reader(bytes.subspan(kPreamble));
  RdmaEndInfo info;
  info.memory = reader.number<std::uint64_t>();
  const std::size_t nports = reader.number<std::uint16_t>();
  const std::size_t nqueues = reader.number<std::uint16_t>();
  reader.number<std::uint32_t>();
  if (nports < 1 || nports > kMostRdmaPorts) return no_message("has no or too many ports");
  if (nqueues < 1 || nqueues > kMostRdmaQueues) return no_message("has no or too many queues");
  if (bytes.size() != kFixedBytes + nports * kPortBytes + nqueues * kQueueBytes) {
    return no_message("has another length than its counts require");
  }
  for (std::size_t i = 0; i < nports; ++i) {
    RdmaEndInfo::Port& port = info.ports.emplace_back();
    const auto gid = reader.raw(port.gid.bytes.size());
    std::memcpy(port.gid.bytes.data(), gid.data(), gid.size());
    port.key = reader.number<std::uint32_t>();
    port.lid = reader.number<std::uint16_t>();
    port.mtu = reader.number<std::uint8_t>();
    port.is_ethernet = reader.number<std::uint8_t>() != 0;
    if (port.mtu < 1 || port.mtu > 5) return no_message("has an MTU that verbs do not know");
    for (const std::byte byte : reader.raw(kNameBytes)) {
      const char letter = std::to_integer<char>(byte);
      if (letter == 0) continue;
      // Only printable letters, because the name is printed in error messages.
      if (letter <= ' ' || letter > '~')
        return no_message("has a device name with unprintable characters");
      port.name += letter;
    }
  }
  for (std::size_t i = 0; i < nqueues; ++i) {
    info.queues.push_back({reader.number<std::uint32_t>(), reader.number<std::uint32_t>()});
  }
  return info;
}

std::string rdma_address(bool is_ethernet, int queues, std::span<const std::string> ports) {
  std::string text = fmt::format("{} {}", is_ethernet ? "RoCE" : "IB", queues);
  for (const std::string& port : ports) {
    if (text.size() + port.size() < kLongestAddress) text += ' ' + port;
  }
  return text;
}

std::string_view rdma_kind_of(std::string_view address) {
  return address.substr(0, address.find(' '));
}

int rdma_queues_of(std::string_view address) {
  address.remove_prefix(std::min(address.size(), rdma_kind_of(address).size() + 1));
  int queues = 1;
  std::from_chars(address.data(), address.data() + address.size(), queues);
  return std::clamp(queues, 1, static_cast<int>(kMostRdmaQueues / kMostRdmaPorts));
}

std::vector<std::byte> make_rdma_answer(const Status& status) {
  const std::string text = status ? std::string() : status.error().message;
  RdmaWriter writer;
  writer.number(static_cast<std::uint8_t>(status ? 0 : 1));
  writer.raw(std::as_bytes(std::span(text)).first(std::min(text.size(), kLongestAnswer)));
  return std::move(writer.bytes);
}

Status parse_rdma_answer(std::span<const std::byte> bytes) {
  if (bytes.empty()) return no_message("is empty where an answer was due");
  if (bytes.front() == std::byte{0}) return {};
  std::string text;
  for (const std::byte byte : bytes.subspan(1)) {
    const char letter = std::to_integer<char>(byte);
    text += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return Error{ErrorCode::System, fmt::format("the receiver could not connect: {}", text),
               "look at that rank's own messages"};
}

}  // namespace ringside
