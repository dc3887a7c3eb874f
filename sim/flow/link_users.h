#pragma once

#include <vector>

#include "sim/event/event_engine.h"

namespace ringside {

/// The lines of one kind that use a link, with their current rate on it.
struct LinkUser {
  int shape =
      0;  ///< number of its FlowShape; not its address, since sums over users follow its order
  int kind = 0;
  /// Number of lines.
  double count = 0;
  double use = 0;  ///< current rate, bytes/s
  /// Share of the time in which it carries messages; of its span if pipes are empty.
  double active = 0;
  LineSpan span = {};
};

/// The users of one link, as prefix sums: sharing() takes logarithmic time. A link of a fabric may
/// have hundreds of users.
class LinkUsers {
 public:
  /// has_spans  true: lines meet only while their spans overlap; false: lines may meet at any time
  LinkUsers(const std::vector<LinkUser>& users, bool has_spans);

  /// The lines that a user meets on the link.
  struct Sharing {
    double together = 0;   ///< lines of its own kind, itself included
    double others = 0;     ///< mean number of lines of other kinds while it uses the link
    double elsewhere = 0;  ///< rate of the lines of other kinds, bytes/s
  };
  /// shape  the link has users of that shape and kind
  [[nodiscard]] Sharing sharing(int shape, int kind, const LineSpan& own) const;

 private:
  /// Weighted spans, with the sum of the parts that lie before a moment.
  class Before {
   public:
    void add(const LineSpan& span, double weight);
    void sort();
    [[nodiscard]] double at(double moment) const;

   private:
    struct Edge {
      double moment = 0;     ///< s
      double weight = 0;     ///< of the spans that begin (or end) at this edge or before
      double by_moment = 0;  ///< sum of weight times moment over the same spans
    };
    static void sum_up(std::vector<Edge>& edges);
    static double passed(const std::vector<Edge>& edges, double moment);
    std::vector<Edge> firsts_, lasts_;
  };

  /// Sums over the users of one kind: lines; lines times their share of active time; rate, bytes/s.
  struct Group {
    int shape = 0;
    int kind = 0;
    double count = 0, active = 0, use = 0;
    Before before = {};
  };

  const bool has_spans_;
  std::vector<Group> groups_;    ///< sorted by shape and kind
  double active_ = 0, use_ = 0;  ///< the same sums over all groups
  Before before_;
};

}  // namespace ringside
