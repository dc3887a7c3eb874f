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

/// Flows over links whose bandwidth they share max-min fairly, on a clock of their own.
///
/// Flows of one path get one rate, so a path's work so far, of one flow on it, is all that there is to
/// follow: a flow is through when the path's work has grown by its bytes. Only paths that share links with
/// one that changed are looked at again.
///
/// source    Bertsekas and Gallager, Data Networks, 6.5.2: filling the narrowest links first
/// Ordering  time does not go back; flows that end at one time do so in the order of their starts
class FairShare {
 public:
  /// rates   of the links
  /// routes  of the paths: links, each once, at least one; a flow counts there as often as its kind crosses it
  FairShare(std::vector<BytesPerSecond> rates, std::span<const std::vector<LinkUse>> routes);

  /// At the clock's time.  bytes  0 is through at once
  void start(int path, double bytes, std::uint32_t tag);

  /// When the next flow is through; infinity: none is under way.
  [[nodiscard]] double next();

  /// Sets the clock, at most to next(), and calls done(tag) for each flow that is through by then.
  void advance(double time, const std::function<void(std::uint32_t)>& done);

 private:
  struct Flow {
    double target;  ///< the path's work when it is through
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
    double work = 0;   ///< bytes, of a flow that has been there all the time, at `since`
    double since = 0;  ///< on the clock
    double rate = 0;   ///< of each flow
    std::uint32_t version = 0;
    double foreseen_rate = 0;  ///< for which ends_ holds its next end; 0: it holds none
    std::uint64_t foreseen_flow = 0;
    bool is_marked = false;
    bool is_open = false;  ///< while rates are shared out: it has none yet
  };
  struct Link {
    double rate;
    std::vector<int> paths = {};
    bool is_marked = false;
    double left = 0;           ///< while rates are shared out
    std::int64_t sharers = 0;  ///< while rates are shared out: flows without a rate
  };
  struct End {
    double time;
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
  std::vector<int> marked_, marked_links_;  ///< what those share links with
  std::priority_queue<End> ends_;           ///< some of them outdated
};

}  // namespace ringside
