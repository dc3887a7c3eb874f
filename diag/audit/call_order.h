#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "diag/audit/shard.h"

namespace ringside::audit {

/// The calls of one rank of a communicator.
struct CallsOfRank {
  std::int32_t rank = -1;
  std::uint32_t process = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;  ///< shard, part
};

/// The calls of each part, in order: created when the first communicator needs them, which few jobs do.
///
/// Threads  any, at the same time
class CallOrder {
 public:
  void make(const std::vector<std::unique_ptr<Shard>>& shards);

  [[nodiscard]] std::span<const CallMark> of_part(std::uint32_t shard, std::uint32_t part) const;

 private:
  void make_once(const std::vector<std::unique_ptr<Shard>>& shards);

  struct OfShard {
    std::vector<std::uint32_t> first = {};  ///< by part, in calls
    std::vector<CallMark> calls = {};
  };
  std::once_flag once_ = {};
  std::vector<OfShard> shards_ = {};
};

/// A rank's calls, one after the other, over the pieces of its part.
///
/// Ownership  points to the objects that it was made from
class CallWalk {
 public:
  CallWalk(const CallsOfRank& calls, const CallOrder& order) : calls_(&calls), order_(&order) {
    settle();
  }

  /// The current call; nullptr: there are no more.
  [[nodiscard]] const CallMark* now() const { return left_.empty() ? nullptr : &left_.front(); }
  /// shape  now() is a call
  void advance() {
    left_ = left_.subspan(1);
    if (!left_.empty()) return;
    ++piece_;
    settle();
  }

 private:
  void settle() {
    for (left_ = {}; piece_ < calls_->pieces.size(); ++piece_) {
      const auto [shard, part] = calls_->pieces[piece_];
      left_ = order_->of_part(shard, part);
      if (!left_.empty()) return;
    }
  }
  const CallsOfRank* calls_;
  const CallOrder* order_;
  std::size_t piece_ = 0;
  std::span<const CallMark> left_ = {};  ///< of the piece's calls
};

/// A hash of all calls of a rank, in order.
CallSum sum_of(const CallsOfRank& calls, const std::vector<std::unique_ptr<Shard>>& shards);

}  // namespace ringside::audit
