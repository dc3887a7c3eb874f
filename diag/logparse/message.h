#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "diag/logparse/record.h"

/// The catalogue of messages: lines that are recognised by fixed words and a few fields. catalogue/*.def has a row for
/// each message: its name, its meaning, the patterns of all versions, and a sample of each.
namespace ringside::logs {

/// The messages of the catalogue, in its order.
enum class MessageId : std::uint16_t {
#define RINGSIDE_MESSAGE(id, weight, meaning) id,
#include "diag/logparse/catalogue/all.def"
#undef RINGSIDE_MESSAGE
};

/// A line that matches a message. Read a field with `message_argument(record, "peer")`.
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

/// Returns the value of the field with this name; empty if this version's pattern lacks the field.
/// shape  record.kind == RecordKind::Message
std::string_view message_argument(const Record& record, std::string_view name);

/// Returns a field as a number, decimal or hexadecimal with `0x`; `otherwise` if it is not a number.
std::int64_t message_number(const Record& record, std::string_view name,
                            std::int64_t otherwise = -1);

/// Returns whether the record is this message.
bool is_message(const Record& record, MessageId id);

/// The catalogue's entry for a message.
struct MessageFacts {
  std::string_view name;     ///< "SocketConnectFailed"
  char weight = 'I';         ///< F fatal, D degraded, N noise, I information
  std::string_view meaning;  ///< one line
};

/// Returns the entry of a message.
MessageFacts facts_of(MessageId id);

/// One pattern of a message.
struct MessagePattern {
  MessageId id{};
  std::string_view pattern;  ///< literal text with fields: `Connect to {address} failed : {error}`
  std::string_view sample;   ///< a line's text that it matches, and no other pattern does
};

/// Returns all patterns in the order of the catalogue.
std::span<const MessagePattern> message_patterns();

}  // namespace ringside::logs
