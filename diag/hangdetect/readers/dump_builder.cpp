#include "diag/hangdetect/readers/dump_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "diag/hangdetect/readers/dump_keys.h"

namespace ringside::hang {
namespace {

/// Far beyond any dump: a buffer of 20,000 calls with stacks has about 1 M.
constexpr std::size_t kMostValues = 16U << 20U;

Error corrupt(const char* what) { return {ErrorCode::Corrupt, what}; }

}  // namespace

// A pickle names a value that it has kept by a number, and a dictionary copies it: without a limit one text of half the
// file, named in each of thousands of dictionaries, takes memory by the square of the file's size. A recorder's dump, where
// calls share their stacks and names, uses up to about twice its size.
void DumpBuilder::begin(std::size_t size) {
  constexpr std::uint64_t kTimes = 16;
  constexpr std::uint64_t kFloor = 1U << 20U;
  used_ = 0;
  allowance_ = kFloor + kTimes * size;
}

bool DumpBuilder::use(std::size_t size) {
  used_ += size;
  return used_ <= allowance_;
}

void DumpBuilder::push_real(double value) {
  // Only durations are real, and nothing is decided from them.
  const double whole = std::isnan(value) ? 0 : std::clamp(value, -9e15, 9e15);
  push({static_cast<std::int64_t>(whole), Kind::Real});
}

void DumpBuilder::push_text(std::string_view text) {
  push({static_cast<std::int64_t>(texts_.size()), Kind::Text});
  texts_.push_back({text, hash_text(text), static_cast<std::uint8_t>(key_of(text))});
}

void DumpBuilder::push_list() {
  push({static_cast<std::int64_t>(lists_.size()), Kind::List});
  lists_.emplace_back();
}

void DumpBuilder::push_dict() {
  push({static_cast<std::int64_t>(dicts_.size()), Kind::Dict});
  dicts_.emplace_back();
}

Result<DumpBuilder::Value> DumpBuilder::top() const {
  if (stack_.empty()) return corrupt("a value is used that was never given");
  return stack_.back();
}

Result<std::size_t> DumpBuilder::find_mark() const {
  for (std::size_t at = stack_.size(); at-- > 0;) {
    if (stack_[at].kind == Kind::Mark) return at;
  }
  return corrupt("items without the mark that opens them");
}

// Items of one container lie together. The one that grew last grows in place; another is moved after it. A hostile
// file could make that slow, so moves are counted.
Status DumpBuilder::extend(Range& range, std::size_t first) {
  const std::size_t added = stack_.size() - first;
  if (range.count > 0 && range.begin + range.count != items_.size()) {
    copied_ += range.count;
    if (copied_ > kMostValues) return corrupt("containers grow alternately without end");
    const auto begin = static_cast<std::uint32_t>(items_.size());
    items_.reserve(items_.size() + range.count + added);
    for (std::uint32_t i = 0; i < range.count; ++i) items_.push_back(items_[range.begin + i]);
    range.begin = begin;
  }
  if (range.count == 0) range.begin = static_cast<std::uint32_t>(items_.size());
  items_.insert(items_.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
  range.count += static_cast<std::uint32_t>(added);
  stack_.resize(first);
  return {};
}

Status DumpBuilder::append_to_mark() {
  RINGSIDE_TRY(const std::size_t mark, find_mark());
  if (mark == 0 || stack_[mark - 1].kind != Kind::List) return corrupt("items for what is no list");
  Range& range = lists_[static_cast<std::size_t>(stack_[mark - 1].at)];
  // Calls are in dump_.calls already, in this order.
  const bool are_calls = mark + 1 < stack_.size() && resolved(stack_[mark + 1]).kind == Kind::Call;
  if (are_calls) {
    stack_.resize(mark);
    return {};
  }
  RINGSIDE_TRY(extend(range, mark + 1));
  stack_.pop_back();
  return {};
}

Status DumpBuilder::append_last() {
  if (stack_.size() < 2 || stack_[stack_.size() - 2].kind != Kind::List) {
    return corrupt("an item for what is no list");
  }
  if (resolved(stack_.back()).kind == Kind::Call) {
    stack_.pop_back();
    return {};
  }
  return extend(lists_[static_cast<std::size_t>(stack_[stack_.size() - 2].at)], stack_.size() - 1);
}

Status DumpBuilder::list_of_last(std::size_t count) {
  if (stack_.size() < count) return corrupt("a tuple of values that were never given");
  Range range;
  RINGSIDE_TRY(extend(range, stack_.size() - count));
  push({static_cast<std::int64_t>(lists_.size()), Kind::List});
  lists_.push_back(range);
  return {};
}

Status DumpBuilder::list_of_mark() {
  RINGSIDE_TRY(const std::size_t mark, find_mark());
  Range range;
  RINGSIDE_TRY(extend(range, mark + 1));
  stack_.back() = {static_cast<std::int64_t>(lists_.size()), Kind::List};
  lists_.push_back(range);
  return {};
}

Status DumpBuilder::set_to_mark() {
  RINGSIDE_TRY(const std::size_t mark, find_mark());
  if (mark == 0 || stack_[mark - 1].kind != Kind::Dict) {
    return corrupt("keys for what is no dictionary");
  }
  RINGSIDE_TRY(fill(static_cast<std::size_t>(stack_[mark - 1].at), mark + 1));
  stack_.pop_back();
  return {};
}

Status DumpBuilder::set_last() {
  if (stack_.size() < 3 || stack_[stack_.size() - 3].kind != Kind::Dict) {
    return corrupt("a key for what is no dictionary");
  }
  return fill(static_cast<std::size_t>(stack_[stack_.size() - 3].at), stack_.size() - 2);
}

Status DumpBuilder::fill(std::size_t dict, std::size_t first) {
  const std::size_t count = stack_.size() - first;
  if (count % 2 != 0) return corrupt("a key without its value");
  Made& made = dicts_[dict];
  if (made.kind != Kind::Dict) return corrupt("a call is written to again");
  if (made.items.count == 0 && count > 0 && understand(made, &stack_[first], count)) {
    stack_.resize(first);
    return {};
  }
  take_parent(stack_.data() + first, count);
  return extend(dicts_[dict].items, first);
}

Status DumpBuilder::check_size() const {
  if (stack_.size() + items_.size() + lists_.size() + dicts_.size() + texts_.size() > kMostValues) {
    return corrupt("more values than any recorder keeps");
  }
  if (used_ > allowance_) return corrupt("values are used again more often than by any recorder");
  return {};
}

DumpBuilder::Value DumpBuilder::resolved(Value value) const {
  if (value.kind != Kind::Dict) return value;
  const Made& made = dicts_[static_cast<std::size_t>(value.at)];
  return made.kind == Kind::Dict ? value : Value{made.number, made.kind};
}

std::string_view DumpBuilder::text_of(const Value& value) {
  if (value.kind != Kind::Text) return {};
  const std::string_view text = texts_[static_cast<std::size_t>(value.at)].text;
  return use(text.size()) ? text : std::string_view{};
}

std::uint64_t DumpBuilder::hash_of(const Value& value) const {
  return value.kind == Kind::Text ? texts_[static_cast<std::size_t>(value.at)].hash : 0;
}

std::int64_t DumpBuilder::int_of(const Value& value, std::int64_t otherwise) {
  if (value.kind == Kind::Int || value.kind == Kind::Bool || value.kind == Kind::Real) {
    return value.at;
  }
  // JSON's pg_status has its numbers as text.
  return value.kind == Kind::Text ? parse_whole(text_of(value)).value_or(otherwise) : otherwise;
}

const DumpBuilder::Value* DumpBuilder::items_of(const Value& value, std::size_t& count) {
  count = 0;
  Range range;
  if (value.kind == Kind::List) range = lists_[static_cast<std::size_t>(value.at)];
  if (value.kind == Kind::Dict) range = dicts_[static_cast<std::size_t>(value.at)].items;
  if (!use(range.count)) return nullptr;
  count = range.count;
  return range.count == 0 ? nullptr : &items_[range.begin];
}

Result<RankDump> DumpBuilder::finish() {
  const bool is_dump =
      is_dump_ || !dump_.calls.empty() || !dump_.groups.empty() || !statuses_.empty();
  for (const GroupStatus& status : statuses_) {
    if (status.pg >= 0) dump_.statuses.push_back(status);
  }
  // Also clears what a refused document left: its texts are about to be freed.
  stack_.clear();
  items_.clear();
  lists_.clear();
  dicts_.clear();
  texts_.clear();
  frames_.clear();
  frame_hashes_.clear();
  statuses_.clear();
  copied_ = 0;
  is_dump_ = false;
  mark_issued_calls();
  RankDump dump = std::exchange(dump_, {});
  if (!is_dump) return corrupt("no Flight Recorder dump: neither entries nor a version");
  return dump;
}

}  // namespace ringside::hang
