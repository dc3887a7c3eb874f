#include "sim/event/fair_share.h"

#include <algorithm>

#include "base/assert.h"

namespace ringside {
namespace {

// Relative difference below which two ends of flows, or two link rates, count as equal.
constexpr double kRounding = 1e-12;

}  // namespace

FairShare::FairShare(std::vector<BytesPerSecond> rates,
                     std::span<const std::vector<LinkUse>> routes) {
  links_.reserve(rates.size());
  for (const BytesPerSecond rate : rates) links_.push_back({.rate = rate.value});
  paths_.reserve(routes.size());
  for (const std::vector<LinkUse>& route : routes) {
    const int number = static_cast<int>(paths_.size());
    for (const LinkUse& use : route) link_at(use.link).paths.push_back(number);
    paths_.push_back({.links = route});
  }
}

void FairShare::start(int path, double bytes, std::uint32_t tag) {
  Path& one = path_at(path);
  one.work += one.rate * (clock_ - one.since);
  one.since = clock_;
  one.flows.push({one.work + bytes, started_++, tag});
  changed_.push_back(path);
}

double FairShare::next() {
  if (!changed_.empty()) share_out();
  while (!ends_.empty() && ends_.top().version != path_at(ends_.top().path).version) ends_.pop();
  return ends_.empty() ? std::numeric_limits<double>::infinity() : ends_.top().time;
}

void FairShare::advance(double time, const std::function<void(std::uint32_t)>& done) {
  RINGSIDE_ASSERT(clock_ <= time && time <= next(), "the clock goes from {} to {}", clock_, time);
  clock_ = time;
  // Flows that start when others end start now: up to this time the known rates applied.
  while (!ends_.empty() && ends_.top().time <= time) {
    const End end = ends_.top();
    ends_.pop();
    Path& one = path_at(end.path);
    if (end.version != one.version) continue;
    const double through = one.flows.top().target;
    one.work = through;
    one.since = time;
    ++one.version;
    one.foreseen_rate = 0;
    changed_.push_back(end.path);
    while (!one.flows.empty() && one.flows.top().target - through <= kRounding * through) {
      const std::uint32_t tag = one.flows.top().tag;
      one.flows.pop();
      done(tag);
    }
    if (one.flows.empty()) one.work = one.rate = 0;  // starting from 0 keeps the sums exact
  }
}

/// Marks the path, and all paths that share links with it, directly or through other used links.
void FairShare::mark(int path) {
  if (path_at(path).is_marked) return;
  path_at(path).is_marked = true;
  std::size_t at = marked_.size();
  marked_.push_back(path);
  for (; at < marked_.size(); ++at) {
    for (const LinkUse& use : path_at(marked_[at]).links) {
      Link& link = link_at(use.link);
      if (link.is_marked) continue;
      link.is_marked = true;
      marked_links_.push_back(use.link);
      for (const int sharing : link.paths) {
        Path& other = path_at(sharing);
        if (other.is_marked || other.flows.empty()) continue;
        other.is_marked = true;
        marked_.push_back(sharing);
      }
    }
  }
}

void FairShare::share_out() {
  for (const int path : changed_) mark(path);
  changed_.clear();
  for (const int number : marked_) {
    Path& one = path_at(number);
    one.work += one.rate * (clock_ - one.since);
    one.since = clock_;
    one.rate = 0;
  }
  fill();
  for (const int number : marked_) foresee(number);
  for (const int number : marked_) path_at(number).is_marked = false;
  for (const int number : marked_links_) link_at(number).is_marked = false;
  marked_.clear();
  marked_links_.clear();
}

/// Max-min fair sharing: the links with the smallest share per flow determine the rates of their flows; then the same
/// for the remaining links and rates.
void FairShare::fill() {
  for (const int number : marked_links_) {
    link_at(number).left = link_at(number).rate;
    link_at(number).sharers = 0;
  }
  for (const int number : marked_) {
    Path& one = path_at(number);
    one.is_open = !one.flows.empty();
    if (!one.is_open) continue;
    for (const LinkUse& use : one.links) {
      link_at(use.link).sharers += use.lines * static_cast<std::int64_t>(one.flows.size());
    }
  }
  for (;;) {
    double least = std::numeric_limits<double>::infinity();
    for (const int number : marked_links_) {
      const Link& link = link_at(number);
      if (link.sharers > 0) least = std::min(least, link.left / static_cast<double>(link.sharers));
    }
    if (least == std::numeric_limits<double>::infinity()) return;
    const double most = least * (1 + kRounding);
    for (const int number : marked_links_) {
      const Link& narrow = link_at(number);
      if (narrow.sharers == 0 || narrow.left > most * static_cast<double>(narrow.sharers)) continue;
      for (const int settled : narrow.paths) {
        Path& one = path_at(settled);
        if (!one.is_open) continue;
        one.is_open = false;
        one.rate = least;
        const auto flows = static_cast<std::int64_t>(one.flows.size());
        for (const LinkUse& use : one.links) {
          Link& link = link_at(use.link);
          const std::int64_t all = use.lines * flows;
          link.left = std::max(0.0, link.left - least * static_cast<double>(all));
          link.sharers -= all;
        }
      }
    }
  }
}

/// Computes when the path's flow ends, unless its rate is unchanged.
void FairShare::foresee(int path) {
  Path& one = path_at(path);
  const bool is_as_it_was = !one.flows.empty() && one.foreseen_rate == one.rate &&
                            one.foreseen_flow == one.flows.top().number;
  if (is_as_it_was) return;
  ++one.version;
  one.foreseen_rate = 0;
  if (one.flows.empty()) return;
  RINGSIDE_ASSERT(one.rate > 0, "path {} has no bandwidth", path);
  const double left = std::max(0.0, one.flows.top().target - one.work);
  ends_.push({clock_ + left / one.rate, path, one.version});
  one.foreseen_rate = one.rate;
  one.foreseen_flow = one.flows.top().number;
}

}  // namespace ringside
