#include "diag/logparse/matcher.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/quick_text.h"

namespace ringside::logs {
namespace {

std::size_t found(std::string_view text, std::string_view next, std::size_t at) {
  return next.size() < 2 ? text.find(next, at) : find_text(text, next, at);
}

}  // namespace

const Matcher& Matcher::of_catalogue() {
  static const Matcher matcher;
  return matcher;
}

Matcher::Matcher() {
  for (const MessagePattern& row : message_patterns()) {
    Pattern pattern;
    pattern.id = row.id;
    pattern.row = static_cast<std::uint16_t>(patterns_.size());
    std::string_view rest = row.pattern;
    for (bool is_end = false; !is_end;) {
      Element element;
      const std::size_t open = rest.find('{');
      is_end = open == std::string_view::npos;
      element.literal = rest.substr(0, open);
      if (!is_end) {
        const std::size_t close = rest.find('}', open);
        RINGSIDE_ASSERT(close != std::string_view::npos, "no }} in '{}'", row.pattern);
        const std::string_view inside = rest.substr(open + 1, close - open - 1);
        const std::size_t colon = inside.find(':');
        element.name = inside.substr(0, colon);
        element.hole = Hole::Text;
        if (colon != std::string_view::npos) {
          element.hole = inside[colon + 1] == 'd' ? Hole::Number : Hole::Word;
        }
        rest = rest.substr(close + 1);
      }
      pattern.elements.push_back(element);
    }
    for (const Element& element : pattern.elements)
      pattern.specificity += static_cast<std::uint32_t>(element.literal.size());
    const Element& front = pattern.elements.front();
    if (!front.literal.empty() || front.hole != Hole::Text) pattern.specificity += 1 << 16;
    patterns_.push_back(std::move(pattern));
  }
  // In the order in which patterns are tried, so that candidates compare as numbers.
  std::ranges::stable_sort(patterns_, std::ranges::greater(), &Pattern::specificity);
  place_of_.resize(patterns_.size());
  for (std::uint16_t index = 0; index < patterns_.size(); ++index) {
    place_of_[patterns_[index].row] = index;
    if (patterns_[index].elements.front().literal.size() >= 4) {
      index_start(index);
    } else {
      index_piece(index);
    }
  }
  const auto by_key = [](const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.pattern < b.pattern;
  };
  std::sort(starts_.begin(), starts_.end(), by_key);
  pieces_.finish();
}

void Matcher::index_start(std::uint16_t pattern) {
  const std::uint32_t key = four_at(patterns_[pattern].elements.front().literal.data());
  starts_.push_back({key, pattern});
  start_filter_.add(key);
}

void Matcher::index_piece(std::uint16_t pattern) {
  std::string_view longest;
  for (const Element& element : patterns_[pattern].elements) {
    if (element.literal.size() > longest.size()) longest = element.literal;
  }
  const std::string_view first = patterns_[pattern].elements.front().literal;
  if (longest.size() < PieceIndex::kShortest) {  // indexed by its first character only
    RINGSIDE_ASSERT(!first.empty(), "'{}' is too short to be searched for", longest);
    const char key[4] = {first[0], 0, 0, 0};
    starts_.push_back({four_at(key), pattern});
    short_starts_ += first[0];
    return;
  }
  pieces_.add(PieceIndex::rarest_piece(longest), pattern);
}

void Matcher::collect(const std::vector<Entry>& entries, std::uint32_t key,
                      std::vector<std::uint16_t>& candidates) {
  auto at =
      std::lower_bound(entries.begin(), entries.end(), key,
                       [](const Entry& entry, std::uint32_t sought) { return entry.key < sought; });
  for (; at != entries.end() && at->key == key; ++at) candidates.push_back(at->pattern);
}

bool Matcher::match(std::string_view text, Message& message) const {
  text = trimmed_right(text);
  if (text.empty()) return false;
  thread_local std::vector<std::uint16_t> candidates;
  candidates.clear();
  if (text.size() >= 4) {
    const std::uint32_t key = four_at(text.data());
    if (start_filter_.may_contain(key)) collect(starts_, key, candidates);
  }
  if (contains(short_starts_, text.front())) {
    const char key[4] = {text.front(), 0, 0, 0};
    collect(starts_, four_at(key), candidates);
  }
  pieces_.search(text, candidates);
  if (candidates.empty()) return false;
  PieceIndex::sort_unique(candidates);
  for (const std::uint16_t candidate : candidates) {
    const Pattern& pattern = patterns_[candidate];
    if (!fits(pattern, text, message)) continue;
    message.id = pattern.id;
    message.pattern = pattern.row;
    return true;
  }
  return false;
}

bool Matcher::begins(std::string_view text, std::size_t least) const {
  if (text.size() < 4) return false;
  const std::uint32_t key = four_at(text.data());
  if (!start_filter_.may_contain(key)) return false;
  std::vector<std::uint16_t> candidates;
  collect(starts_, key, candidates);
  return std::any_of(candidates.begin(), candidates.end(), [&](std::uint16_t candidate) {
    const std::string_view literal = patterns_[candidate].elements.front().literal;
    return literal.size() >= least && text.starts_with(literal);
  });
}

bool Matcher::fits(const Pattern& pattern, std::string_view text, Message& message) const {
  std::size_t at = 0;
  std::uint16_t fields = 0;
  const std::vector<Element>& elements = pattern.elements;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    if (text.substr(at, element.literal.size()) != element.literal) return false;
    at += element.literal.size();
    if (element.hole == Hole::None) {
      message.fields = fields;
      return at == text.size();
    }
    std::size_t end = at;
    const std::string_view next = elements[i + 1].literal;
    const bool is_last = elements[i + 1].hole == Hole::None;
    if (element.hole == Hole::Number) {
      if (end < text.size() && text[end] == '-') ++end;
      const std::size_t digits = end;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end == digits) return false;
    } else if (next.empty()) {
      // If the next field follows at once or the pattern ends, this field matches a word, or the rest of the line.
      end = is_last ? text.size() : at;
      if (element.hole == Hole::Word) {
        end = std::min(text.find(' ', at), text.size());
        if (end == at) return false;
      }
    } else {
      end = is_last && text.ends_with(next) ? text.size() - next.size() : found(text, next, at);
      if (end == std::string_view::npos || end < at) return false;
      if (element.hole == Hole::Word &&
          (end == at || text.substr(at, end - at).find(' ') != text.npos)) {
        return false;
      }
    }
    if (!element.name.empty() && fields < Message::kFields) {
      message.slices[fields++] = {static_cast<std::uint32_t>(at),
                                  static_cast<std::uint32_t>(end - at)};
    }
    at = end;
  }
  return false;
}

int Matcher::hole(std::uint16_t pattern, std::string_view name) const {
  int index = 0;
  for (const Element& element : patterns_[place_of_[pattern]].elements) {
    if (element.name.empty()) continue;
    if (element.name == name) return index;
    ++index;
  }
  return -1;
}

bool begins_message(std::string_view text) {
  constexpr std::size_t kNoChance = 8;
  return Matcher::of_catalogue().begins(text, kNoChance);
}

Parsed parse_message(std::string_view text, Record& record) {
  Message message;
  if (!Matcher::of_catalogue().match(text, message)) return Parsed::No;
  record.make<Message>() = message;
  return Parsed::Open;
}

std::string_view message_argument(const Record& record, std::string_view name) {
  const auto& message = record.as<Message>();
  const int hole = Matcher::of_catalogue().hole(message.pattern, name);
  if (hole < 0 || hole >= message.fields) return {};
  const Message::Slice slice = message.slices[static_cast<std::size_t>(hole)];
  return record.text().substr(slice.at, slice.size);
}

std::int64_t message_number(const Record& record, std::string_view name, std::int64_t otherwise) {
  const std::string_view text = message_argument(record, name);
  Cursor cursor(text);
  if (text.starts_with("0x")) {
    std::uint64_t value = 0;
    return cursor.hex(value) ? static_cast<std::int64_t>(value) : otherwise;
  }
  std::int64_t value = 0;
  return cursor.number(value) ? value : otherwise;
}

bool is_message(const Record& record, MessageId id) {
  return record.kind == RecordKind::Message && record.as<Message>().id == id;
}

}  // namespace ringside::logs
