#include "diag/logparse/unparsed.h"

#include <algorithm>
#include <tuple>

#include "diag/logparse/cursor.h"

namespace ringside::logs {
namespace {

constexpr std::size_t kMostShapes = 1000;
constexpr std::size_t kLongestExample = 300;
constexpr std::size_t kLongestShape = 120;

/// Appends the text, with each word that contains a digit replaced by `#`.
void shape_into(std::string_view text, std::string& shape) {
  shape.clear();
  for (std::size_t at = 0; at < text.size() && shape.size() < kLongestShape;) {
    std::size_t end = at;
    bool has_digit = false;
    while (end < text.size() && (is_digit(text[end]) || is_letter(text[end]))) {
      has_digit |= is_digit(text[end]);
      ++end;
    }
    if (end == at) {
      shape += text[at++];
      continue;
    }
    if (has_digit) {
      shape += '#';
    } else {
      shape += text.substr(at, end - at);
    }
    at = end;
  }
}

}  // namespace

UnparsedShape& UnparsedShapes::shape_of(std::string_view text, Place place) {
  shape_into(text, buffer_);
  auto found = shapes_.find(buffer_);
  if (found != shapes_.end()) return found->second;
  if (shapes_.size() >= kMostShapes) buffer_ = "(other shapes)";
  auto [entry, is_new] = shapes_.try_emplace(buffer_);
  if (is_new) {
    entry->second.shape = buffer_;
    entry->second.first = place;
    entry->second.example = text.substr(0, kLongestExample);
  }
  return entry->second;
}

void UnparsedShapes::add(std::string_view text, Place place) { ++shape_of(text, place).count; }

void UnparsedShapes::merge(const UnparsedShapes& later) {
  // In sorted order, so that the same shapes are kept whatever the order of the table.
  for (const UnparsedShape& shape : later.sorted()) {
    const bool is_other =
        shapes_.size() >= kMostShapes && shapes_.find(shape.shape) == shapes_.end();
    UnparsedShape& here = shapes_[is_other ? "(other shapes)" : shape.shape];
    const std::uint64_t count = here.count + shape.count;
    if (here.count == 0) here = shape;
    here.count = count;
    if (is_other) here.shape = "(other shapes)";
  }
}

std::vector<UnparsedShape> UnparsedShapes::sorted() const {
  std::vector<UnparsedShape> all;
  all.reserve(shapes_.size());
  for (const auto& [key, shape] : shapes_) all.push_back(shape);
  std::sort(all.begin(), all.end(), [](const UnparsedShape& a, const UnparsedShape& b) {
    if (a.count != b.count) return a.count > b.count;
    return std::tie(a.first, a.shape) < std::tie(b.first, b.shape);
  });
  return all;
}

}  // namespace ringside::logs
