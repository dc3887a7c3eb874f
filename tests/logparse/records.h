#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/logparse/parse_logs.h"

namespace ringside::logs {

using RecordCheck = std::function<void(const Record&, const Speaker&)>;

/// Calls `check` for each record of a text.
ParseReport each_record(std::string_view text, const RecordCheck& check);

/// Passes the struct of the first record of its kind in a text to `check`. Fails if there is none.
template <typename T>
void expect_record(std::string_view text,
                   const std::function<void(const T&, const Record&)>& check);

/// Returns every field of a record in words, for tests that compare or print.
std::string describe(const Record& record, const Speaker& speaker);

/// Returns describe() of each record of a text, one line each.
std::vector<std::string> described(std::string_view text);

/// A sink that calls a function.
class CallingSink : public RecordSink {
 public:
  explicit CallingSink(RecordCheck check) : check_(std::move(check)) {}
  void take(std::span<const Record> records, const SpeakerTable& speakers) override {
    for (const Record& record : records) check_(record, speakers[record.speaker]);
  }

 private:
  RecordCheck check_;
};

void fail_without_record(std::string_view text, RecordKind kind);

template <typename T>
void expect_record(std::string_view text,
                   const std::function<void(const T&, const Record&)>& check) {
  bool is_found = false;
  each_record(text, [&](const Record& record, const Speaker&) {
    if (is_found || record.kind != T::kKind) return;
    is_found = true;
    check(record.as<T>(), record);
  });
  if (!is_found) fail_without_record(text, T::kKind);
}

}  // namespace ringside::logs
