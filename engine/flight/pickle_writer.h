#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ringside {

/// Writes the opcodes of PyTorch's C++ pickler into a string. Each string is written once and then
/// fetched from the memo.
///
/// Ownership  the text of a string given to string() must outlive the writer
class PickleWriter {
 public:
  explicit PickleWriter(std::string& out) : out_(out) { out_ += "\x80\x02"; }

  void finish() { out_ += '.'; }

  void begin_dict() { out_ += "}("; }
  void end_dict() { out_ += 'u'; }
  void begin_list() { out_ += "]("; }
  void end_list() { out_ += 'e'; }
  void pair() { out_ += '\x86'; }  ///< the two values before it, as a tuple
  void none() { out_ += 'N'; }
  void boolean(bool value) { out_ += value ? '\x88' : '\x89'; }
  void integer(std::int64_t value);
  void real(double value);
  void string(std::string_view text);

  /// Stores the last written value in the memo.  returns  its number, for get()
  std::uint32_t put();
  void get(std::uint32_t index);

 private:
  void bytes(std::uint64_t value, int count);

  std::string& out_;
  std::unordered_map<std::string_view, std::uint32_t> strings_;
  std::uint32_t next_ = 0;
};

}  // namespace ringside
