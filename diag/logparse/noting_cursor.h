#pragma once

#include <array>
#include <cstdint>

#include "diag/logparse/cursor.h"

namespace ringside::logs {

/// The fields of a text: the characters that a parser reads as numbers, and where it stores them. With these, another
/// text that differs only in its fields can be read without the parser.
struct TextFields {
  struct Field {
    std::uint8_t at = 0, size = 0;  ///< in the text
    std::uint8_t base = 0;          ///< 10, 16; 0: a word that is skipped
    std::uint8_t width = 0;         ///< bytes of the number
    const void* to = nullptr;
  };
  static constexpr std::size_t kMost = 12;
  std::array<Field, kMost> fields{};
  std::size_t count = 0;
};

/// A cursor that records the fields it reads. Assigning an older cursor, to go back, drops the fields recorded since. A
/// parser must call is_done() last, which stores the number of fields.
///
/// shape  texts of at most 255 characters; a field beyond TextFields::kMost makes is_done() false
class NotingCursor : public Cursor {
 public:
  NotingCursor(std::string_view text, TextFields& fields)
      : Cursor(text), begin_(text.data()), fields_(&fields) {}

  template <typename T>
  bool number(T& value) {
    const char* const from = at();
    if (!Cursor::number(value)) return false;
    note(from, 10, sizeof(T), &value);
    return true;
  }
  bool hex(std::uint64_t& value) {
    if (peek() == '0' && left() > 1 && (at()[1] | 0x20) == 'x') skip(2);
    const char* const from = at();
    if (!Cursor::hex(value)) return false;
    note(from, 16, sizeof(value), &value);
    return true;
  }
  void skip_word() {
    const char* const from = at();
    Cursor::skip_word();
    note(from, 0, 0, nullptr);
  }
  [[nodiscard]] bool is_done() const {
    fields_->count = count_;
    return Cursor::is_done() && count_ <= TextFields::kMost;
  }

 private:
  void note(const char* from, std::uint8_t base, std::size_t width, const void* to) {
    if (count_ < TextFields::kMost) {
      fields_->fields[count_] = {static_cast<std::uint8_t>(from - begin_),
                                 static_cast<std::uint8_t>(at() - from), base,
                                 static_cast<std::uint8_t>(width), to};
    }
    ++count_;
  }

  const char* begin_;
  TextFields* fields_;
  std::size_t count_ = 0;
};

}  // namespace ringside::logs
