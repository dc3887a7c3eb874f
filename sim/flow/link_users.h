#pragma once

#include <vector>

#include "sim/event/event_engine.h"

namespace ringside {

struct FlowShape;

/// The lines over a link, each with its present use of the link.
struct LinkUser {
  const FlowShape* shape = nullptr;
  int kind = 0;
  double count = 0;
  double use = 0;     ///< bytes/s
  double active = 0;  ///< of the time: of all, through empty pipes of its span
  LineSpan span = {};
};

/// All users of one link, summed up so that asking for each of them what the others do takes no look at each other: on
/// the links of a fabric there may be hundreds.
class LinkUsers {
 public:
  /// has_spans  lines meet as far as their spans do; else all the time
  LinkUsers(const std::vector<LinkUser>& users, bool has_spans);

  /// What one of the users finds on the link.  shape  of the constructor's users
  struct Company {
    double together = 0;   ///< lines that are alike, itself among them
    double others = 0;     ///< lines of other kinds, on the average while it is in use
    double elsewhere = 0;  ///< bytes/s of those
  };
  [[nodiscard]] Company company(const FlowShape* shape, int kind, const LineSpan& own) const;

 private:
  /// Users with weights: how much of them lies before a moment, summed over all.
  class Before {
   public:
    void add(const LineSpan& span, double weight);
    void sort();
    [[nodiscard]] double at(double moment) const;

   private:
    struct Edge {
      double moment = 0;
      double weight = 0;     ///< of the spans that begin (or end) here and before
      double by_moment = 0;  ///< the same, each times its moment
    };
    static void sum_up(std::vector<Edge>& edges);
    static double passed(const std::vector<Edge>& edges, double moment);
    std::vector<Edge> firsts_, lasts_;
  };

  /// Users that are alike.
  struct Group {
    const FlowShape* shape = nullptr;
    int kind = 0;
    double count = 0, active = 0, use = 0;
    Before before = {};
  };

  const bool has_spans_;
  std::vector<Group> groups_;  ///< sorted by shape and kind
  double active_ = 0, use_ = 0;
  Before before_;
};

}  // namespace ringside
