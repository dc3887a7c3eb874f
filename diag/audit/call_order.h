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
  /// Index of the shard, and of the part in it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;
};

/// The calls of each part in order. Built on first use, because few jobs need it.
///
/// Threads  any number of threads at the same time
class CallOrder {
 public:
  /// Builds the order, once; later calls do nothing.
  void make(const std::vector<std::unique_ptr<Shard>>& shards);

  /// Returns the calls of a part.  shape  after make()
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

/// Iterates over a rank's calls, over all pieces of its log.
///
/// Ownership  `calls` and `order` must outlive it
class CallWalk {
 public:
  CallWalk(const CallsOfRank& calls, const CallOrder& order) : calls_(&calls), order_(&order) {
    find_piece();
  }

  /// Returns the current call, or nullptr at the end.
  [[nodiscard]] const CallMark* now() const { return left_.empty() ? nullptr : &left_.front(); }
  /// Goes to the next call.  shape  now() is not nullptr
  void advance() {
    left_ = left_.subspan(1);
    if (!left_.empty()) return;
    ++piece_;
    find_piece();
  }

 private:
  /// Goes to the next piece with calls, from piece_ on.
  void find_piece() {
    for (left_ = {}; piece_ < calls_->pieces.size(); ++piece_) {
      const auto [shard, part] = calls_->pieces[piece_];
      left_ = order_->of_part(shard, part);
      if (!left_.empty()) return;
    }
  }
  const CallsOfRank* calls_;
  const CallOrder* order_;
  std::size_t piece_ = 0;
  std::span<const CallMark> left_ = {};  ///< calls of the current piece that are left
};

/// Returns a hash of all calls of a rank, which depends on their order.
CallSum sum_of(const CallsOfRank& calls, const std::vector<std::unique_ptr<Shard>>& shards);

}  // namespace ringside::audit
