#include "engine/runtime/watch/call_log.h"

#include <algorithm>

namespace ringside {

std::optional<CallLog::Found> CallLog::find(std::uint64_t number) const {
  Found found;
  const std::uint64_t runs = this->runs();
  const std::uint64_t oldest = runs < kRuns ? 0 : runs - kRuns + 1;
  for (std::uint64_t i = runs; i-- > oldest;) {
    const Run& run = memory_->run[i % kRuns];
    const std::uint64_t first = run.first.load(std::memory_order_acquire);
    CallWords words;
    for (std::size_t w = 0; w < words.size(); ++w) {
      words[w] = run.words[w].load(std::memory_order_acquire);
    }
    // The writer may have reused this entry meanwhile.
    if (this->runs() - i >= kRuns) return std::nullopt;
    if (first <= number) {
      const auto signature = parse_call_words(words);
      if (!signature) return std::nullopt;
      found.signature = *signature;
      return found;
    }
    found.end = first;
  }
  return std::nullopt;
}

std::uint64_t CallLog::oldest() const {
  for (;;) {
    const std::uint64_t runs = this->runs();
    const std::uint64_t i = runs < kRuns ? 0 : runs - kRuns + 1;
    const std::uint64_t first = memory_->run[i % kRuns].first.load(std::memory_order_acquire);
    if (this->runs() - i < kRuns) return first;
  }
}

bool CallLog::Writer::append(const CallSignature& signature) {
  const bool is_new = runs_ == 0 || !(signature == last_);
  if (is_new) write_run(begun_, signature);
  memory_->begun.store(++begun_, std::memory_order_release);
  order_calls(std::memory_order_release);
  return is_new;
}

void CallLog::Writer::append_at(std::uint64_t number, const CallSignature& signature) {
  if (number < begun_) return;
  write_run(number, signature);
  begun_ = number + 1;
  memory_->begun.store(begun_, std::memory_order_release);
}

void CallLog::Writer::write_run(std::uint64_t first, const CallSignature& signature) {
  Run& run = memory_->run[runs_ % kRuns];
  const CallWords words = to_words(signature);
  // Each store has release order: a reader that sees one of them sees that the previous entry was dropped.
  run.first.store(first, std::memory_order_release);
  for (std::size_t w = 0; w < words.size(); ++w) {
    run.words[w].store(words[w], std::memory_order_release);
  }
  memory_->runs.store(++runs_, std::memory_order_release);
  last_ = signature;
}

std::optional<CallDifference> CallComparison::look_closely() {
  is_settled_ = false;
  const std::uint64_t both = std::min(mine_.begun(), theirs_.begun());
  while (verified_ < both) {
    const auto mine = mine_.find(verified_);
    const auto theirs = theirs_.find(verified_);
    if (!mine || !theirs) {
      // The calls changed so often that one log has dropped entries: comparing starts at a later call.
      verified_ = std::max({verified_ + 1, mine_.oldest(), theirs_.oldest()});
      continue;
    }
    if (!(mine->signature == theirs->signature)) {
      return CallDifference{verified_, mine->signature, theirs->signature};
    }
    verified_ = std::min({mine->end, theirs->end, both});
  }
  // A rank may be ahead, and its next calls to compare be of an earlier run than its last.
  const auto mine = mine_.find(verified_);
  const auto theirs = theirs_.find(verified_);
  const bool has_nothing = my_runs_ == 0 && their_runs_ == 0;
  is_settled_ = has_nothing || (mine && theirs && mine->is_last() && theirs->is_last() &&
                                mine->signature == theirs->signature);
  return std::nullopt;
}

}  // namespace ringside
