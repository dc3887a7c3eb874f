#include <cstdint>
#include <string>

#include "base/assert.h"
#include "diag/logparse/call_records.h"
#include "diag/logparse/channel_records.h"
#include "diag/logparse/message.h"
#include "diag/logparse/parse_logs.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::logs {
namespace {

bool is_within(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

/// Checks that records come in order and that their texts lie within their lines.
class Checker : public RecordSink {
 public:
  void take(std::span<const Record> records, const SpeakerTable& speakers) override {
    for (const Record& record : records) {
      RINGSIDE_ASSERT(record.place >= last_, "line {} after line {}", record.place.line,
                      last_.line);
      RINGSIDE_ASSERT(record.text_at <= record.line.size(), "{} of {}", record.text_at,
                      record.line.size());
      RINGSIDE_ASSERT(record.speaker < speakers.size(), "{} of {}", record.speaker,
                      speakers.size());
      last_ = record.place;
      torch_prefix(record);
      if (record.kind == RecordKind::Message) check(record);
      if (record.kind == RecordKind::ChannelEdge) read(record.as<ChannelEdge>().net);
      if (record.kind == RecordKind::CollCall) read(record.as<CollCall>().function);
      if (record.kind == RecordKind::Trees) {
        TreeLink link;
        for (TreeCursor at(record.as<Trees>()); at.next(link);) continue;
      }
    }
  }

  [[nodiscard]] unsigned sum() const { return sum_; }

 private:
  /// Reads a text that need not lie in its line: the address sanitizer detects whether it is still valid.
  void read(std::string_view text) {
    for (const char c : text) sum_ += static_cast<unsigned char>(c);
  }
  static void check(const Record& record) {
    const auto& message = record.as<Message>();
    for (std::uint16_t i = 0; i < message.fields; ++i) {
      const Message::Slice slice = message.slices[i];
      RINGSIDE_ASSERT(slice.at + slice.size <= record.text().size(), "a hole behind the text");
    }
    RINGSIDE_ASSERT(is_within(message_argument(record, "error"), record.line),
                    "a hole outside the line");
    parse_rank_list(message_argument(record, "ranks"));
    parse_work(message_argument(record, "work"));
  }
  Place last_;
  unsigned sum_ = 0;
};

}  // namespace
}  // namespace ringside::logs

/// Feeds a log from a stranger: every line has its place, and every record its text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::logs;
  Checker checker;
  const std::string text(data, data + size);
  const ParseReport report = parse_text(text, checker);
  RINGSIDE_ASSERT(report.counts.bytes == text.size() || report.counts.overlong > 0,
                  "{} bytes of {}", report.counts.bytes, text.size());
  return 0;
}
