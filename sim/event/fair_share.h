#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "ringside/units.h"
#include "sim/event/lines.h"

namespace ringside {

/// Simulates flows that share the bandwidth of links max-min fairly. The object has a clock of its
/// own.
///
/// All flows on one path have the same rate. So the object tracks one number per path, its work:
/// the bytes that a flow present from the start would have transferred. A flow ends when the path's
/// work has grown by the flow's bytes. After a change the object recomputes only paths that share
/// links with the changed path.
///
/// source    Bertsekas and Gallager, Data Networks, 6.5.2: filling the narrowest links first
/// Ordering  time never goes back; flows that end at the same time end in the order of their starts
class FairShare {
 public:
  /// rates   rate of each link
  /// routes  links of each path: each link once, at least one; LinkUse::lines is the flow's weight
  ///         on the link
  FairShare(std::vector<BytesPerSecond> rates, std::span<const std::vector<LinkUse>> routes);

  /// Starts a flow at the current time of the clock.  bytes  0: the flow ends at once
  void start(int path, double bytes, std::uint32_t tag);

  /// Returns the time at which the next flow ends, or infinity if there is no flow.
  [[nodiscard]] double next();

  /// Sets the clock to `time`, which must not exceed next(). Calls done(tag) for each flow that has
  /// ended by then.
  void advance(double time, const std::function<void(std::uint32_t)>& done);

 private:
  struct Flow {
    double target;  ///< value of the path's work at which the flow ends
    std::uint64_t number;
    std::uint32_t tag;
    /// The flow that ends first is on top of a heap.
    friend bool operator<(const Flow& a, const Flow& b) {
      return a.target != b.target ? a.target > b.target : a.number > b.number;
    }
  };
  struct Path {
    std::vector<LinkUse> links;
    std::priority_queue<Flow> flows = {};
    double work = 0;   ///< bytes per flow that was present all the time, at `since`
    double since = 0;  ///< time of the clock
    double rate = 0;   ///< of each flow
    std::uint32_t version = 0;
    /// Rate for which ends_ holds the path's next end; 0: ends_ holds none.
    double foreseen_rate = 0;
    std::uint64_t foreseen_flow = 0;
    bool is_marked = false;
    bool is_open = false;  ///< only in share_out(): the path has no rate yet
  };
  struct Link {
    double rate;  ///< bytes/s
    std::vector<int> paths = {};
    bool is_marked = false;
    double left = 0;           ///< only in share_out(): rate not yet assigned
    std::int64_t sharers = 0;  ///< only in share_out(): flows without a rate
  };
  struct End {
    double time;  ///< s, of the object's clock
    int path;
    std::uint32_t version;
    friend bool operator<(const End& a, const End& b) {
      return a.time != b.time ? a.time > b.time : a.path > b.path;
    }
  };

  Path& path_at(int number) { return paths_[static_cast<std::size_t>(number)]; }
  Link& link_at(int number) { return links_[static_cast<std::size_t>(number)]; }
  void mark(int path);
  void share_out();
  void fill();
  void foresee(int path);

  double clock_ = 0;
  std::uint64_t started_ = 0;
  std::vector<Path> paths_;
  std::vector<Link> links_;
  std::vector<int> changed_;                ///< paths whose number of flows has changed
  std::vector<int> marked_, marked_links_;  ///< paths and links affected by the changed paths
  std::priority_queue<End> ends_;           ///< next end of each path; may hold outdated entries
};

}  // namespace ringside
