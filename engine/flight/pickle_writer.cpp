#include "engine/flight/pickle_writer.h"

#include <bit>
#include <limits>

namespace ringside {

void PickleWriter::bytes(std::uint64_t value, int count) {
  char raw[8];
  for (int i = 0; i < count; ++i) raw[i] = static_cast<char>(value >> (8 * i));
  out_.append(raw, static_cast<std::size_t>(count));
}

void PickleWriter::integer(std::int64_t value) {
  const auto raw = static_cast<std::uint64_t>(value);
  if (value >= 0 && value <= 0xff) {
    out_ += 'K';
    bytes(raw, 1);
  } else if (value >= 0 && value <= 0xffff) {
    out_ += 'M';
    bytes(raw, 2);
  } else if (value >= std::numeric_limits<std::int32_t>::min() &&
             value <= std::numeric_limits<std::int32_t>::max()) {
    out_ += 'J';
    bytes(raw, 4);
  } else {
    out_ += '\x8a';
    out_ += '\x08';
    bytes(raw, 8);
  }
}

void PickleWriter::real(double value) {
  const auto raw = std::bit_cast<std::uint64_t>(value);
  out_ += 'G';
  for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(raw >> shift);
}

void PickleWriter::string(std::string_view text) {
  const auto found = strings_.find(text);
  if (found != strings_.end()) return get(found->second);
  out_ += 'X';
  bytes(text.size(), 4);
  out_ += text;
  strings_.emplace(text, put());
}

std::uint32_t PickleWriter::put() {
  const std::uint32_t index = next_++;
  if (index <= 0xff) {
    out_ += 'q';
    bytes(index, 1);
  } else {
    out_ += 'r';
    bytes(index, 4);
  }
  return index;
}

void PickleWriter::get(std::uint32_t index) {
  if (index <= 0xff) {
    out_ += 'h';
    bytes(index, 1);
  } else {
    out_ += 'j';
    bytes(index, 4);
  }
}

}  // namespace ringside
