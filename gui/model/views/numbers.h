#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gui/model/kept.h"
#include "gui/model/state.h"
#include "gui/model/transfers.h"

namespace ringside::gui {

/// The view of numbers: progress of the call, load of links, longest chain of steps, slowest rank
/// and channel.
class Numbers {
 public:
  explicit Numbers(Making making) : sums_(making, Sums::of) {}

  void prepare(const std::shared_ptr<const Document>& document, const State& state,
               const Canvas& canvas, Panel& into);
  void forget() { sums_.forget(); }

 private:
  /// Data that one rank has sent to another.
  struct PairSum {
    std::int32_t from = 0, to = 0;
    std::uint64_t bytes = 0;
    std::uint64_t timed_bytes = 0;  ///< bytes of the received messages
    std::int64_t under_way_ns = 0;
    EventId slowest = kNoEvent;
    std::int64_t slowest_ns = 0;
    [[nodiscard]] double rate() const;  ///< bytes/s
  };
  static Table pairs_table(const std::vector<PairSum>& pairs);
  static std::string common_rank(std::span<const PairSum> slow);

  /// The data that a call has sent up to a time. Moving forward adds to the sums.
  struct Sums {
    static Sums of(const Document& document, const CallFacts* const& call);
    void move_to(std::int64_t now_ns);

    Transfers transfers;
    std::vector<std::uint32_t> by_sent;  ///< indexes into transfers, by end of send
    std::vector<std::uint32_t> pair_of;  ///< by transfer: index into pairs
    std::uint64_t all_bytes = 0;
    std::int64_t moved_to_ns = INT64_MIN;
    std::size_t moved = 0;  ///< number of entries of by_sent in the sums
    std::uint64_t moved_bytes = 0;
    std::vector<PairSum> pairs;  ///< by ranks
    Table path;
  };
  Kept<Sums> sums_;
};

}  // namespace ringside::gui
