#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "diag/logparse/record.h"

/// The catalogue: every line that is recognised by its words and a few fields. One row for each message in
/// catalogue/*.def: its name, its meaning, the patterns of all versions, a sample of each.
namespace ringside::logs {

enum class MessageId : std::uint16_t {
#define RINGSIDE_MESSAGE(id, weight, meaning) id,
#include "diag/logparse/catalogue/all.def"
#undef RINGSIDE_MESSAGE
};

/// A line of the catalogue. `message_argument(record, "peer")` reads a field.
struct Message {
  static constexpr RecordKind kKind = RecordKind::Message;
  static constexpr int kFields = 10;
  struct Slice {
    std::uint32_t at = 0, size = 0;  ///< in the record's text
  };
  MessageId id{};
  std::uint16_t pattern = 0;
  std::uint16_t fields = 0;
  std::array<Slice, kFields> slices{};
};

/// The value of the pattern's hole of that name; empty where this version's pattern has no such hole.
/// shape  record.kind == RecordKind::Message
std::string_view message_argument(const Record& record, std::string_view name);

/// Like message_argument(), as a number: decimal, or hexadecimal after `0x`.  returns  `otherwise` if there is none
std::int64_t message_number(const Record& record, std::string_view name,
                            std::int64_t otherwise = -1);

/// Whether the record is this line of the catalogue.
bool is_message(const Record& record, MessageId id);

/// The catalogue's entry for a message.
struct MessageFacts {
  std::string_view name;     ///< "SocketConnectFailed"
  char weight = 'I';         ///< F fatal, D degraded, N noise, I information
  std::string_view meaning;  ///< one line
};

MessageFacts facts_of(MessageId id);

/// One form of a message.
struct MessagePattern {
  MessageId id{};
  std::string_view pattern;  ///< literal text with holes: `Connect to {address} failed : {error}`
  std::string_view sample;   ///< a line's text that it matches, and no other pattern does
};

/// All of them, as the catalogue lists them.
std::span<const MessagePattern> message_patterns();

}  // namespace ringside::logs
