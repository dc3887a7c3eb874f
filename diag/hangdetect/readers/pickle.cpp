#include "diag/hangdetect/readers/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace ringside::hang {
namespace {

/// What a refused opcode would have done, for the message.
const char* danger_of(unsigned char opcode) {
  switch (opcode) {
    case 'c':
      return "GLOBAL, which imports a name";
    case 0x93:
      return "STACK_GLOBAL, which imports a name";
    case 'R':
      return "REDUCE, which calls a function";
    case 'b':
      return "BUILD, which sets an object's state";
    case 'i':
      return "INST, which calls a class";
    case 'o':
      return "OBJ, which calls a class";
    case 0x81:
      return "NEWOBJ, which calls a class";
    case 0x92:
      return "NEWOBJ_EX, which calls a class";
    case 'P':
    case 'Q':
      return "PERSID, which asks the program for an object";
    case 0x82:
    case 0x83:
    case 0x84:
      return "EXT, which imports a registered name";
    case 0x97:
    case 0x98:
      return "a buffer outside the file";
    default:
      return nullptr;
  }
}

class PickleReader {
 public:
  PickleReader(std::string_view bytes, DumpBuilder& builder) : bytes_(bytes), builder_(builder) {}

  Result<RankDump> run() {
    builder_.begin(bytes_.size());
    while (true) {
      if (at_ >= bytes_.size()) return torn();
      opcode_at_ = at_;
      const auto opcode = static_cast<unsigned char>(bytes_[at_++]);
      if (opcode == '.') return finished();
      if (is_done_quickly(opcode)) continue;
      const Status done = step(opcode);
      if (is_cut_) return torn();
      if (!done) return located(done.error());
      // Checked now and then: the bound is generous, the check is not free.
      if ((steps_ & 0xFFFU) == 0) {
        if (const Status size = builder_.check_size(); !size) return located(size.error());
      }
    }
  }

 private:
  using Value = DumpBuilder::Value;

  template <typename T>
  bool peek(T& value) const {
    if (bytes_.size() - at_ < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    return true;
  }

  template <typename T>
  bool push_whole() {
    T value{};
    if (!peek(value)) return false;
    at_ += sizeof(T);
    builder_.push_int(value);
    return true;
  }

  template <typename T>
  bool push_kept() {
    T index{};
    if (!peek(index) || index >= memo_.size()) return false;
    at_ += sizeof(T);
    builder_.push(memo_[index]);
    return true;
  }

  /// Handles the opcodes that nine tenths of a dump consist of, where nothing is wrong with them: they need no
  /// Status. Leaves all others to step(), untouched.
  bool is_done_quickly(unsigned char opcode) {
    if ((++steps_ & 0xFFFU) == 0) return false;  // the size is looked at there
    switch (opcode) {
      case 'h':
        return push_kept<std::uint8_t>();
      case 'j':
        return push_kept<std::uint32_t>();
      case 'K':
        return push_whole<std::uint8_t>();
      case 'M':
        return push_whole<std::uint16_t>();
      case 'J':
        return push_whole<std::int32_t>();
      case 0x8A: {
        if (bytes_.size() - at_ < 9 || bytes_[at_] != 8) return false;
        ++at_;
        return push_whole<std::int64_t>();
      }
      case '(':
        return builder_.push_mark(), true;
      case ']':
        return builder_.push_list(), true;
      case '}':
        return builder_.push_dict(), true;
      case 'N':
        return builder_.push_null(), true;
      case 0x88:
        return builder_.push_bool(true), true;
      case 0x89:
        return builder_.push_bool(false), true;
      default:
        return false;
    }
  }

  Error located(Error error) const {
    error.message = fmt::format("byte {}: {}", opcode_at_, error.message);
    return error;
  }

  Result<RankDump> torn() {
    auto dump = finished();
    if (dump) dump->torn_at = bytes_.size();
    return dump;
  }

  Result<RankDump> finished() {
    if (const Status size = builder_.check_size(); !size) return located(size.error());
    auto dump = builder_.finish();
    if (!dump) return located(dump.error());
    return dump;
  }

  // A payload that reaches beyond the end: the file was cut there.
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) {
      is_cut_ = true;
      return {};
    }
    const std::string_view part = bytes_.substr(at_, size);
    at_ += size;
    return part;
  }

  template <typename T>
  T number() {
    const std::string_view part = take(sizeof(T));
    T value{};
    if (!is_cut_) std::memcpy(&value, part.data(), sizeof value);
    return value;  // little-endian, as every supported machine
  }

  Status put(std::uint64_t index) {
    // Writers number the values that they keep one by one, and each value is a byte or more before this one.
    // Optimisers leave gaps in the numbers but keep the values. So the table stays in proportion to the file.
    if (index >= opcode_at_) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("value {} is kept: so many do not fit before this byte", index)};
    }
    RINGSIDE_TRY(const Value value, builder_.top());
    if (index >= memo_.size()) memo_.resize(index + 1);
    memo_[index] = value;
    return {};
  }

  Status get(std::uint64_t index) {
    if (index >= memo_.size()) {
      return Error{ErrorCode::Corrupt, fmt::format("value {} is used before it is kept", index)};
    }
    builder_.push(memo_[index]);
    return {};
  }

  Status long_number(std::size_t size) {
    const std::string_view part = take(size);
    if (is_cut_) return {};
    if (size > 8) {
      return Error{ErrorCode::Corrupt, fmt::format("a whole number of {} bytes", size)};
    }
    std::uint64_t value = 0;
    std::memcpy(&value, part.data(), size);
    const bool is_negative = size > 0 && (static_cast<unsigned char>(part.back()) & 0x80U) != 0;
    if (is_negative && size < 8) value |= ~std::uint64_t{0} << (8 * size);
    builder_.push_int(static_cast<std::int64_t>(value));
    return {};
  }

  Status real() {
    auto bits = number<std::uint64_t>();
    bits = __builtin_bswap64(bits);  // the one big-endian payload
    if (!is_cut_) builder_.push_real(std::bit_cast<double>(bits));
    return {};
  }

  Status text(std::uint64_t size) {
    const std::string_view part = take(size);
    if (!is_cut_) builder_.push_text(part);
    return {};
  }

  template <typename T>
  Status whole() {
    const T value = number<T>();
    if (!is_cut_) builder_.push_int(value);
    return {};
  }

  Status step(unsigned char opcode) {
    switch (opcode) {
      case 'h':
        return get(number<std::uint8_t>());  // BINGET
      case 'j':
        return get(number<std::uint32_t>());  // LONG_BINGET
      case 'K':
        return whole<std::uint8_t>();  // BININT1
      case 'M':
        return whole<std::uint16_t>();  // BININT2
      case 'J':
        return whole<std::int32_t>();  // BININT
      case 0x8A:
        return long_number(number<std::uint8_t>());  // LONG1
      case 0x8B:
        return long_number(number<std::uint32_t>());  // LONG4
      case '(':
        return builder_.push_mark(), Status{};  // MARK
      case ']':
        return builder_.push_list(), Status{};  // EMPTY_LIST
      case ')':
        return builder_.push_list(), Status{};  // EMPTY_TUPLE
      case '}':
        return builder_.push_dict(), Status{};  // EMPTY_DICT
      case 0x8F:
        return builder_.push_list(), Status{};  // EMPTY_SET
      case 'e':
        return builder_.append_to_mark();  // APPENDS
      case 0x90:
        return builder_.append_to_mark();  // ADDITEMS
      case 'a':
        return builder_.append_last();  // APPEND
      case 'u':
        return builder_.set_to_mark();  // SETITEMS
      case 's':
        return builder_.set_last();  // SETITEM
      case 't':
        return builder_.list_of_mark();  // TUPLE
      case 0x85:
        return builder_.list_of_last(1);  // TUPLE1
      case 0x86:
        return builder_.list_of_last(2);  // TUPLE2
      case 0x87:
        return builder_.list_of_last(3);  // TUPLE3
      case 'N':
        return builder_.push_null(), Status{};  // NONE
      case 0x88:
        return builder_.push_bool(true), Status{};  // NEWTRUE
      case 0x89:
        return builder_.push_bool(false), Status{};  // NEWFALSE
      case 'G':
        return real();  // BINFLOAT
      case 'X':
        return text(number<std::uint32_t>());  // BINUNICODE
      case 0x8C:
        return text(number<std::uint8_t>());  // SHORT_BINUNICODE
      case 0x8D:
        return text(number<std::uint64_t>());  // BINUNICODE8
      case 'B':
        return text(number<std::uint32_t>());  // BINBYTES
      case 'C':
        return text(number<std::uint8_t>());  // SHORT_BINBYTES
      case 0x8E:
        return text(number<std::uint64_t>());  // BINBYTES8
      case 'q':
        return put(number<std::uint8_t>());  // BINPUT
      case 'r':
        return put(number<std::uint32_t>());  // LONG_BINPUT
      case 0x94:
        return put(memo_.size());  // MEMOIZE
      case 0x80:
        return protocol(number<std::uint8_t>());  // PROTO
      case 0x95:
        return static_cast<void>(number<std::uint64_t>()), Status{};  // FRAME
      default:
        return refused(opcode);
    }
  }

  Status protocol(std::uint8_t version) const {
    if (version <= 5) return {};
    return Error{ErrorCode::Corrupt, fmt::format("pickle protocol {}; known are 2 to 5", version)};
  }

  static Status refused(unsigned char opcode) {
    constexpr const char* kHelp =
        "a Flight Recorder dump is plain data; do not load this file with anything else";
    if (const char* danger = danger_of(opcode)) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("opcode 0x{:02X} is {}: refused, nothing was run", opcode, danger),
                   kHelp};
    }
    return Error{ErrorCode::Corrupt,
                 fmt::format("unknown opcode 0x{:02X}: refused, nothing was run", opcode), kHelp};
  }

  std::string_view bytes_;
  DumpBuilder& builder_;
  std::vector<Value> memo_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  std::uint64_t steps_ = 0;
  bool is_cut_ = false;
};

}  // namespace

Result<RankDump> parse_pickle(std::string_view bytes, DumpBuilder& builder) {
  auto dump = PickleReader(bytes, builder).run();
  if (!dump) static_cast<void>(builder.finish());  // empties it
  return dump;
}

bool looks_like_pickle(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

}  // namespace ringside::hang
