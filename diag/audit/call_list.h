#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "diag/audit/process_parts.h"

namespace ringside::audit {

/// A compact list of millions of calls in the order of their log lines. Most calls take eight bytes. The list can be
/// appended to and read from front to back. Its memory blocks never move.
class CallList {
 public:
  CallList() = default;
  CallList(const CallList& other);
  CallList(CallList&&) = default;
  CallList& operator=(const CallList&) = delete;
  CallList& operator=(CallList&&) = default;

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Returns the short number of a signature, which push_back() needs.
  std::uint16_t id_of(std::uint32_t signature);

  /// Appends a call.
  /// id      id_of(call.signature)
  /// before  op_count of the previous call of the same part; set to that of this call
  void push_back(const CallMark& call, std::uint16_t id, std::uint32_t& before) {
    const std::uint32_t lines = call.place.line - last_.line;
    const std::uint32_t steps = call.op_count - before;
    const bool is_short = call.place.piece == last_.piece && lines < kFar && steps < kFar &&
                          call.part < kAnyPart && id != kAnyId;
    before = call.op_count;
    last_ = call.place;
    ++size_;
    if (!is_short) return push_long(call);
    push(std::uint64_t{call.part} << 40 | std::uint64_t{id} << 24 | steps << 12 | lines);
  }

  /// Calls take(const CallMark&) for each call.
  template <typename F>
  void for_each(F&& take) const {
    Reader reader(*this);
    for (std::size_t i = 0; i < size_; ++i) take(reader.next());
  }

 private:
  // From the highest bit on: part 24, signature's number 16, steps of op_count 12, lines 12. If all bits of the first
  // two are ones, the call follows in four words of its own.
  static constexpr std::uint32_t kFar = 1 << 12;
  static constexpr std::uint32_t kAnyPart = 0xffffff;
  static constexpr std::uint16_t kAnyId = 0xffff;

  static constexpr std::size_t kBlock = 8192;  ///< words

  class Reader {
   public:
    explicit Reader(const CallList& list) : list_(&list) {}
    const CallMark& next();

   private:
    std::uint64_t word();

    const CallList* list_;
    std::size_t at_ = 0;  ///< in words
    CallMark call_ = {};
    std::vector<std::uint32_t> before_ = {};  ///< op_count by part
  };

  void push(std::uint64_t word) {
    if (next_ == end_) add_block();
    *next_++ = word;
  }
  void push_long(const CallMark& call);
  void add_block();

  std::vector<std::unique_ptr<std::uint64_t[]>> blocks_ = {};
  std::uint64_t* next_ = nullptr;
  std::uint64_t* end_ = nullptr;
  std::size_t size_ = 0;
  logs::Place last_ = {};
  std::vector<std::uint32_t> signatures_ = {};  ///< by short number
  std::unordered_map<std::uint32_t, std::uint16_t> ids_ = {};
};

}  // namespace ringside::audit
