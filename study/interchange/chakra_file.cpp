#include "study/interchange/chakra_file.h"

#include <fmt/format.h>

#include <optional>

namespace ringside::study {
namespace {

/// For a node: names and shapes, but no data.
constexpr std::uint64_t kMostBytes = 16 << 20;

/// source  Protocol Buffers Encoding, "Base 128 Varints"
std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> take_message(std::string_view& bytes) {
  const auto size = take_varint(bytes);
  if (!size || *size > bytes.size() || *size > kMostBytes) return std::nullopt;
  const std::string_view message = bytes.substr(0, *size);
  bytes.remove_prefix(*size);
  return message;
}

template <typename Message>
bool parse(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

void append_message(const google::protobuf::MessageLite& message, std::string& bytes) {
  std::uint64_t size = message.ByteSizeLong();
  for (; size >= 0x80; size >>= 7) bytes += static_cast<char>((size & 0x7f) | 0x80);
  bytes += static_cast<char>(size);
  message.AppendToString(&bytes);
}

bool is_chakra(std::string_view bytes) {
  const auto message = take_message(bytes);
  chakra::GlobalMetadata metadata;
  return message && parse(*message, metadata) && metadata.version().starts_with("0.");
}

Status read_chakra(std::string_view bytes, const std::string& where,
                   const std::function<Status(const chakra::Node& node)>& take) {
  const std::size_t all = bytes.size();
  const auto bad = [&](const char* what) {
    return Error{
        ErrorCode::Corrupt, fmt::format("{}: byte {}: {}", where, all - bytes.size(), what),
        fmt::format("give Chakra execution traces of version {}, one a rank", kChakraVersion)};
  };
  if (!is_chakra(bytes)) return bad("it does not open with Chakra's metadata");
  take_message(bytes);
  while (!bytes.empty()) {
    const std::string_view before = bytes;
    const auto message = take_message(bytes);
    chakra::Node node;
    if (!message || !parse(*message, node)) {
      bytes = before;
      return bad("no whole node");
    }
    RINGSIDE_TRY(take(node));
  }
  return {};
}

}  // namespace ringside::study
