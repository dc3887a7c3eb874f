#include "diag/audit/call_list.h"

namespace ringside::audit {

CallList::CallList(const CallList& other)
    : size_(other.size_), last_(other.last_), signatures_(other.signatures_), ids_(other.ids_) {
  for (const auto& block : other.blocks_) {
    const bool is_last = &block == &other.blocks_.back();
    const std::uint64_t* const end = is_last ? other.next_ : block.get() + kBlock;
    for (const std::uint64_t* word = block.get(); word != end; ++word) push(*word);
  }
}

std::uint16_t CallList::id_of(std::uint32_t signature) {
  if (const auto known = ids_.find(signature); known != ids_.end()) return known->second;
  if (signatures_.size() == kAnyId) return kAnyId;
  signatures_.push_back(signature);
  return ids_[signature] = static_cast<std::uint16_t>(signatures_.size() - 1);
}

void CallList::push_long(const CallMark& call) {
  push(~std::uint64_t{0});
  push(std::uint64_t{call.part} << 32 | call.signature);
  push(call.op_count);
  push(std::uint64_t{call.place.piece} << 32 | call.place.line);
}

void CallList::add_block() {
  blocks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(kBlock));
  next_ = blocks_.back().get();
  end_ = next_ + kBlock;
}

std::uint64_t CallList::Reader::word() {
  const std::uint64_t word = list_->blocks_[at_ / kBlock][at_ % kBlock];
  ++at_;
  return word;
}

const CallMark& CallList::Reader::next() {
  const std::uint64_t first = word();
  const bool is_long = first >> 24 == ~std::uint64_t{0} >> 24;
  if (is_long) {
    const std::uint64_t what = word();
    call_.part = static_cast<std::uint32_t>(what >> 32);
    call_.signature = static_cast<std::uint32_t>(what);
    call_.op_count = static_cast<std::uint32_t>(word());
    const std::uint64_t where = word();
    call_.place = {static_cast<std::uint32_t>(where >> 32), static_cast<std::uint32_t>(where)};
  } else {
    call_.part = static_cast<std::uint32_t>(first >> 40);
    call_.signature = list_->signatures_[first >> 24 & kAnyId];
    call_.place.line += static_cast<std::uint32_t>(first & (kFar - 1));
  }
  if (call_.part >= before_.size()) before_.resize(call_.part + std::size_t{1});
  std::uint32_t& before = before_[call_.part];
  if (!is_long) call_.op_count = before + static_cast<std::uint32_t>(first >> 12 & (kFar - 1));
  before = call_.op_count;
  return call_;
}

}  // namespace ringside::audit
