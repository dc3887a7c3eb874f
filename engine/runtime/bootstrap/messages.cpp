#include "engine/runtime/bootstrap/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace ringside {
namespace {

constexpr std::size_t kWhoLimit = 64;
constexpr std::size_t kNameLimit = 1000;
// Two such texts and the other fields fit into kMessageLimit.
constexpr std::size_t kErrorTextLimit = 3000;

class Writer {
 public:
  template <typename Integer>
  Writer& number(Integer value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof value; ++i) {
      bytes_.push_back(static_cast<std::byte>((bits >> (8 * i)) & 0xff));
    }
    return *this;
  }

  Writer& text(std::string_view value, std::size_t limit) {
    value = value.substr(0, limit);
    number(static_cast<std::uint16_t>(value.size()));
    const auto bytes = std::as_bytes(std::span(value));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }

  Writer& address(const SocketAddress& value) {
    number(static_cast<std::uint8_t>(value.family)).number(value.port);
    for (const std::uint8_t byte : value.ip) number(byte);
    return *this;
  }

  Writer& error(const Error& value) {
    number(static_cast<std::uint8_t>(value.code));
    return text(value.message, kErrorTextLimit).text(value.help, kErrorTextLimit);
  }

  Writer& secret(const Secret& value) {
    bytes_.insert(bytes_.end(), value.bytes.begin(), value.bytes.end());
    return *this;
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads the fields that Writer wrote. Past the end it returns zeros and remembers the error.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename Integer>
  Integer number() {
    std::uint64_t bits = 0;
    const auto taken = take(sizeof(Integer));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      bits |= std::to_integer<std::uint64_t>(taken[i]) << (8 * i);
    }
    return static_cast<Integer>(bits);
  }

  std::string text(std::size_t limit) {
    const auto size = number<std::uint16_t>();
    if (size > limit) is_bad_ = true;
    std::string value;
    for (const std::byte byte : take(size)) value += static_cast<char>(byte);
    return value;
  }

  SocketAddress address() {
    SocketAddress value;
    const auto family = number<std::uint8_t>();
    if (family > 1) is_bad_ = true;
    value.family = static_cast<SocketAddress::Family>(family & 1);
    value.port = number<std::uint16_t>();
    for (std::uint8_t& byte : value.ip) byte = number<std::uint8_t>();
    return value;
  }

  Error error() {
    Error value;
    const auto code = number<std::uint8_t>();
    if (code > static_cast<std::uint8_t>(ErrorCode::Unreachable)) {
      is_bad_ = true;
    } else {
      value.code = static_cast<ErrorCode>(code);
    }
    value.message = text(kErrorTextLimit);
    value.help = text(kErrorTextLimit);
    return value;
  }

  Secret secret() {
    Secret value;
    std::ranges::copy(take(value.bytes.size()), value.bytes.begin());
    return value;
  }

  [[nodiscard]] Status finish(const char* what) const {
    if (!is_bad_ && rest_.empty()) return {};
    return Error{ErrorCode::Corrupt, fmt::format("malformed {} message", what),
                 "install one version of ringside on all hosts"};
  }

  void reject() { is_bad_ = true; }

 private:
  std::span<const std::byte> take(std::size_t size) {
    if (size > rest_.size()) {
      is_bad_ = true;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  std::span<const std::byte> rest_;
  bool is_bad_ = false;
};

/// Reads an enumerator from 1 to `last`.
template <typename Kind>
Kind read_kind(Reader& reader, Kind last) {
  const auto value = reader.number<std::uint8_t>();
  if (value >= 1 && value <= static_cast<std::uint8_t>(last)) return static_cast<Kind>(value);
  reader.reject();
  return last;
}

Rank read_rank(Reader& reader) { return Rank{reader.number<std::int32_t>()}; }

constexpr std::uint8_t kJoinTag = 'J';
constexpr std::uint8_t kRingTag = 'R';
constexpr std::uint8_t kConnectionTag = 'C';

}  // namespace

std::vector<std::byte> to_bytes(const JoinMessage& message) {
  return Writer()
      .number(kJoinTag)
      .number(std::int32_t{message.rank})
      .number(std::int32_t{message.nranks})
      .address(message.listen)
      .text(message.who, kWhoLimit)
      .secret(message.ticket)
      .take();
}

Result<JoinMessage> parse_join(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  JoinMessage message;
  if (reader.number<std::uint8_t>() != kJoinTag) reader.reject();
  message.rank = reader.number<std::int32_t>();
  message.nranks = reader.number<std::int32_t>();
  message.listen = reader.address();
  message.who = reader.text(kWhoLimit);
  message.ticket = reader.secret();
  RINGSIDE_TRY(reader.finish("join"));
  return message;
}

namespace {

bool has_error(RootMessage::Kind kind) {
  return kind == RootMessage::Kind::Failure || kind == RootMessage::Kind::Refused;
}

}  // namespace

std::vector<std::byte> to_bytes(const RootMessage& message) {
  Writer writer;
  writer.number(static_cast<std::uint8_t>(message.kind));
  if (message.kind == RootMessage::Kind::Successor) writer.address(message.successor);
  if (has_error(message.kind)) writer.error(message.error);
  if (message.kind == RootMessage::Kind::Admitted) writer.secret(message.secret);
  return writer.take();
}

Result<RootMessage> parse_root(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  RootMessage message;
  message.kind = read_kind(reader, RootMessage::Kind::Admitted);
  if (message.kind == RootMessage::Kind::Successor) message.successor = reader.address();
  if (has_error(message.kind)) message.error = reader.error();
  if (message.kind == RootMessage::Kind::Admitted) message.secret = reader.secret();
  RINGSIDE_TRY(reader.finish("root's"));
  return message;
}

std::vector<std::byte> to_bytes(const RingHello& message) {
  return Writer()
      .number(kRingTag)
      .number(static_cast<std::uint8_t>(message.purpose))
      .number(to_int(message.from))
      .take();
}

Result<RingHello> parse_ring_hello(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  RingHello message;
  if (reader.number<std::uint8_t>() != kRingTag) reader.reject();
  message.purpose = read_kind(reader, RingHello::Purpose::Watch);
  message.from = read_rank(reader);
  RINGSIDE_TRY(reader.finish("ring hello"));
  return message;
}

std::vector<std::byte> to_bytes(const ConnectionHello& message) {
  return Writer()
      .number(kConnectionTag)
      .number(message.from)
      .number(message.to)
      .number(message.channel)
      .number(message.index)
      .number(static_cast<std::uint8_t>(message.protocol))
      .number(message.slot_size)
      .number(message.socket)
      .take();
}

Result<ConnectionHello> parse_connection_hello(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  ConnectionHello message;
  if (reader.number<std::uint8_t>() != kConnectionTag) reader.reject();
  message.from = reader.number<std::uint32_t>();
  message.to = reader.number<std::uint32_t>();
  message.channel = reader.number<std::uint32_t>();
  message.index = reader.number<std::uint32_t>();
  const auto protocol = reader.number<std::uint8_t>();
  if (protocol > static_cast<std::uint8_t>(Protocol::Simple)) reader.reject();
  message.protocol = static_cast<Protocol>(protocol);
  message.slot_size = reader.number<std::uint64_t>();
  message.socket = reader.number<std::uint32_t>();
  RINGSIDE_TRY(reader.finish("connection's"));
  return message;
}

std::vector<std::byte> to_bytes(const PeerInfo& message) {
  Writer writer;
  // A longer host identity is truncated: two hosts would have to agree in the first 1,000 characters to be confused.
  writer.text(message.where.host, kNameLimit);
  for (const std::string& door : message.where.doors) writer.text(door, kNameLimit);
  writer.number(static_cast<std::uint8_t>(message.where.open.size()));
  for (const Whereabouts::Open& open : message.where.open) {
    writer.text(open.transport, kNameLimit).text(open.address, kLongestAddress);
  }
  for (const std::uint64_t word : message.cores) writer.number(word);
  return writer.number(message.cache).take();
}

Result<PeerInfo> parse_peer_info(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  PeerInfo message;
  message.where.host = reader.text(kNameLimit);
  for (std::string& door : message.where.doors) door = reader.text(kNameLimit);
  message.where.open.resize(reader.number<std::uint8_t>());
  for (Whereabouts::Open& open : message.where.open) {
    open.transport = reader.text(kNameLimit);
    open.address = reader.text(kLongestAddress);
  }
  for (std::uint64_t& word : message.cores) word = reader.number<std::uint64_t>();
  message.cache = reader.number<std::uint64_t>();
  RINGSIDE_TRY(reader.finish("peer's"));
  return message;
}

std::vector<std::byte> to_bytes(const WatchMessage& message) {
  Writer writer;
  writer.number(static_cast<std::uint8_t>(message.kind));
  if (message.kind == WatchMessage::Kind::Abort) {
    writer.number(to_int(message.origin)).number(to_int(message.dead)).error(message.error);
  }
  if (message.kind == WatchMessage::Kind::Present) writer.number(to_int(message.origin));
  if (message.kind == WatchMessage::Kind::Call) {
    writer.number(message.number);
    for (const std::uint64_t word : to_words(message.call)) writer.number(word);
  }
  return writer.take();
}

Result<WatchMessage> parse_watch(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  WatchMessage message;
  message.kind = read_kind(reader, WatchMessage::Kind::Present);
  if (message.kind == WatchMessage::Kind::Abort) {
    message.origin = read_rank(reader);
    message.dead = read_rank(reader);
    message.error = reader.error();
  }
  if (message.kind == WatchMessage::Kind::Present) message.origin = read_rank(reader);
  if (message.kind == WatchMessage::Kind::Call) {
    message.number = reader.number<std::uint64_t>();
    CallWords words{};
    for (std::uint64_t& word : words) word = reader.number<std::uint64_t>();
    if (const auto call = parse_call_words(words)) {
      message.call = *call;
    } else {
      reader.reject();
    }
  }
  RINGSIDE_TRY(reader.finish("watch"));
  return message;
}

}  // namespace ringside
