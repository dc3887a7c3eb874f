#include "diag/hangdetect/readers/dump_json.h"

#include <fmt/format.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>

namespace ringside::hang {
namespace {

/// Drives the builder as a pickle would: containers are opened with a mark, closed over it.
class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Events(DumpBuilder& builder) : builder_(builder) {}

  bool null() override { return builder_.push_null(), true; }
  bool boolean(bool value) override { return builder_.push_bool(value), true; }
  bool number_integer(number_integer_t value) override { return builder_.push_int(value), true; }
  bool number_unsigned(number_unsigned_t value) override {
    return builder_.push_int(static_cast<std::int64_t>(value)), true;
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return builder_.push_real(value), true;
  }
  bool string(string_t& value) override {
    builder_.push_text(kept(value));
    return true;
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool key(string_t& value) override { return string(value); }
  bool start_object(std::size_t /*count*/) override {
    builder_.push_dict();
    return opened();
  }
  bool end_object() override { return closed(builder_.set_to_mark()); }
  bool start_array(std::size_t /*count*/) override {
    builder_.push_list();
    return opened();
  }
  bool end_array() override { return closed(builder_.append_to_mark()); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*why*/) override {
    error = {ErrorCode::Corrupt, fmt::format("byte {}: broken JSON", position)};
    return false;
  }

  Error error;

 private:
  // Deeper than any dump, and bounded against hostile input.
  static constexpr int kDeepest = 64;

  bool opened() {
    builder_.push_mark();
    if (++depth_ <= kDeepest) return true;
    error = {ErrorCode::Corrupt, "JSON nested deeper than any dump"};
    return false;
  }

  bool closed(const Status& done) {
    --depth_;
    const Status size = done ? builder_.check_size() : done;
    if (size) return true;
    error = size.error();
    return false;
  }

  // The builder keeps views, the parser reuses its buffer; most texts are the same few.
  std::string_view kept(const std::string& text) {
    for (const std::string& known : recent_) {
      if (known == text) return known;
    }
    texts_.push_back(text);
    if (recent_.size() < 64) recent_.push_back(text);
    return texts_.back();
  }

  DumpBuilder& builder_;
  std::deque<std::string> texts_;
  std::deque<std::string> recent_;
  int depth_ = 0;
};

}  // namespace

Result<RankDump> parse_dump_json(std::string_view bytes, DumpBuilder& builder) {
  if (bytes.empty()) return Error{ErrorCode::Corrupt, "byte 0: the file is empty"};
  builder.begin(bytes.size());
  Events events(builder);
  const bool is_whole = nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &events);
  auto dump = builder.finish();
  if (is_whole) return dump;
  // The file was cut while it was written: the calls before the cut are useful.
  if (dump && !dump->calls.empty()) {
    dump->torn_at = bytes.size();
    return dump;
  }
  return events.error;
}

}  // namespace ringside::hang
