#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/evidence.h"
#include "diag/logparse/message.h"

namespace ringside::audit {

/// A copy of a line that matches a message of the catalogue, so that rules can read its fields later.
class KeptMessage {
 public:
  KeptMessage(const logs::Record& record, std::uint32_t speaker)
      : line_(record.line), record_(record), speaker_(speaker) {}

  /// Return a field of the message, as message_argument() and message_number() do.
  [[nodiscard]] std::string_view argument(std::string_view name) const;
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise = -1) const;

  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::string_view text() const { return line().substr(record_.text_at); }
  [[nodiscard]] logs::Place place() const { return record_.place; }
  [[nodiscard]] logs::Level level() const { return record_.level; }
  [[nodiscard]] bool is_torn() const { return record_.is_torn; }
  [[nodiscard]] std::int64_t time_us() const { return record_.time_us; }
  /// Returns the process that wrote the line; before joining, the shard's speaker.
  [[nodiscard]] std::uint32_t process() const { return speaker_; }
  void set_process(std::uint32_t process) { speaker_ = process; }
  [[nodiscard]] QuotedLine quoted() const { return {place(), process(), quotable(line_)}; }

  /// Returns the record.  Ownership  its views point into this object
  [[nodiscard]] logs::Record record() const;

 private:
  std::string line_;
  logs::Record record_;
  std::uint32_t speaker_;
};

inline bool is_warning(const KeptMessage& message) { return message.level() != logs::Level::Info; }

/// The lines of one message: all are counted, the first ones are kept: up to 100,000 of messages that each rank writes
/// about its own state, else 64 or 1,024, and 32 MiB in total for each shard.
struct MessageLines {
  Evidence evidence = {};
  std::vector<KeptMessage> kept = {};
  /// Writers in the order of the lines; one that writes several lines may be repeated
  std::vector<std::uint32_t> processes = {};
  std::size_t most = 0;  ///< number of lines to keep
};

/// The lines that match messages of the catalogue, by message.
class MessageLog {
 public:
  /// Adds a record of RecordKind::Message.
  void take(const logs::Record& record);
  /// Appends the log of the next shard and replaces its speakers by processes.
  void append(MessageLog&& later, const std::vector<std::uint32_t>& process_of_speaker);

  /// Returns the lines of a message.
  [[nodiscard]] const MessageLines& operator[](logs::MessageId id) const;
  /// Returns all kept lines in the order of the logs.
  [[nodiscard]] std::vector<const KeptMessage*> kept_lines() const;
  [[nodiscard]] bool has(logs::MessageId id) const { return !(*this)[id].evidence.empty(); }
  /// Returns whether any of the messages has a line.
  template <typename Ids = std::initializer_list<logs::MessageId>>
  [[nodiscard]] bool has_any(const Ids& ids) const {
    return std::ranges::any_of(ids, [&](logs::MessageId id) { return has(id); });
  }

 private:
  std::vector<MessageLines> by_id_ = {};
  std::size_t bytes_ = 0;  ///< bytes of all kept lines
};

}  // namespace ringside::audit
