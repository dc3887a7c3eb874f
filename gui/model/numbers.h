#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gui/model/state.h"
#include "gui/model/transfers.h"

namespace ringside::gui {

/// What the call has done so far, which links carried what, the longest chain of steps, the slowest rank and channel.
class Numbers {
 public:
  void prepare(const Document& document, const State& state, const Canvas& canvas, Panel& into);

 private:
  /// What one rank has sent to another.
  struct PairSum {
    std::int32_t from = 0, to = 0;
    std::uint64_t bytes = 0;
    std::uint64_t timed_bytes = 0;  ///< of those that have come
    std::int64_t under_way_ns = 0;
    EventId slowest = kNoEvent;
    std::int64_t slowest_ns = 0;
    [[nodiscard]] double rate() const;  ///< bytes/s
  };
  static Table pairs_table(const std::vector<PairSum>& pairs);
  static std::string common_rank(std::span<const PairSum> slow);
  void take(const Document& document, const CallFacts& call);
  void move_to(std::int64_t now_ns);

  const Document* document_ = nullptr;
  std::uint32_t communicator_ = 0, sequence_ = 0;
  bool has_call_ = false;
  Transfers transfers_;
  std::vector<std::uint32_t> by_sent_;  ///< places in transfers_, by the end of their sends
  std::vector<std::uint32_t> pair_of_;  ///< [transfer]: place in pairs_
  std::uint64_t all_bytes_ = 0;
  // What has been sent up to a moment: the sums go on from there.
  std::int64_t moved_to_ns_ = 0;
  std::size_t moved_ = 0;  ///< of by_sent_
  std::uint64_t moved_bytes_ = 0;
  std::vector<PairSum> pairs_;  ///< by their ranks
  Table path_;
};

}  // namespace ringside::gui
