#include "sim/flow/link_users.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace ringside {
void LinkUsers::Before::add(const LineSpan& span, double weight) {
  if (span.last <= span.first) return;  // it shares links with no other flow
  firsts_.push_back({span.first, weight, weight * span.first});
  lasts_.push_back({span.last, weight, weight * span.last});
}

void LinkUsers::Before::sum_up(std::vector<Edge>& edges) {
  std::ranges::sort(edges, {}, &Edge::moment);
  for (std::size_t i = 1; i < edges.size(); ++i) {
    edges[i].weight += edges[i - 1].weight;
    edges[i].by_moment += edges[i - 1].by_moment;
  }
}

void LinkUsers::Before::sort() {
  sum_up(firsts_);
  sum_up(lasts_);
}

double LinkUsers::Before::passed(const std::vector<Edge>& edges, double moment) {
  const auto after = std::ranges::upper_bound(edges, moment, {}, &Edge::moment);
  if (after == edges.begin()) return 0;
  const Edge& last = *(after - 1);
  return last.weight * moment - last.by_moment;
}

double LinkUsers::Before::at(double moment) const {
  return passed(firsts_, moment) - passed(lasts_, moment);
}

LinkUsers::LinkUsers(const std::vector<LinkUser>& users, bool has_spans) : has_spans_(has_spans) {
  std::vector<const LinkUser*> sorted;
  sorted.reserve(users.size());
  for (const LinkUser& user : users) sorted.push_back(&user);
  const auto key = [](const LinkUser* user) { return std::pair{user->shape, user->kind}; };
  std::ranges::stable_sort(sorted, {}, key);
  for (const LinkUser* user : sorted) {
    if (groups_.empty() || key(user) != std::pair{groups_.back().shape, groups_.back().kind}) {
      groups_.push_back({.shape = user->shape, .kind = user->kind});
    }
    Group& group = groups_.back();
    const double active = user->count * user->active;
    group.count += user->count;
    group.active += active;
    group.use += user->count * user->use;
    active_ += active;
    use_ += user->count * user->use;
    if (!has_spans) continue;
    group.before.add(user->span, active);
    before_.add(user->span, active);
  }
  for (Group& group : groups_) group.before.sort();
  before_.sort();
}

LinkUsers::Sharing LinkUsers::sharing(int shape, int kind, const LineSpan& own) const {
  const auto mine =
      std::ranges::lower_bound(groups_, std::pair{shape, kind}, {}, [](const Group& group) {
        return std::pair{group.shape, group.kind};
      });
  RINGSIDE_ASSERT(mine != groups_.end() && mine->shape == shape && mine->kind == kind,
                  "no line of kind {} uses the link", kind);
  // Subtracting a part from a sum may give a value slightly below 0.
  Sharing sharing{.together = mine->count, .elsewhere = std::max(0.0, use_ - mine->use)};
  if (!has_spans_) {
    sharing.others = std::max(0.0, active_ - mine->active);
  } else if (own.last > own.first) {
    const auto met = [&own](const Before& all) { return all.at(own.last) - all.at(own.first); };
    sharing.others = std::max(0.0, met(before_) - met(mine->before)) / (own.last - own.first);
  }
  return sharing;
}

}  // namespace ringside
