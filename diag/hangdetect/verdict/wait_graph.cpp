#include "diag/hangdetect/verdict/wait_graph.h"

#include <algorithm>
#include <cstddef>
#include <deque>

namespace ringside::hang {
namespace {

using Graph = std::vector<std::vector<int>>;

const std::vector<int>& edges(const Graph& graph, int from) {
  return graph[static_cast<std::size_t>(from)];
}

/// Returns the number of the strongly connected component of each rank. Not recursive, because jobs can be long
/// chains.
std::vector<int> components(const Graph& graph) {
  const std::size_t size = graph.size();
  std::vector<int> component(size, -1);
  std::vector<int> low(size, 0);
  std::vector<int> order(size, -1);
  std::vector<bool> is_open(size, false);
  std::vector<int> open;
  struct Visit {
    int rank;
    std::size_t next;
  };
  int count = 0;
  int found = 0;
  for (std::size_t start = 0; start < size; ++start) {
    if (order[start] >= 0) continue;
    std::vector<Visit> path{{static_cast<int>(start), 0}};
    while (!path.empty()) {
      Visit& visit = path.back();
      const auto at = static_cast<std::size_t>(visit.rank);
      if (visit.next == 0 && order[at] < 0) {
        order[at] = low[at] = count++;
        open.push_back(visit.rank);
        is_open[at] = true;
      }
      if (visit.next < graph[at].size()) {
        const int target = graph[at][visit.next++];
        const auto to = static_cast<std::size_t>(target);
        if (to >= size) continue;
        if (order[to] < 0) {
          path.push_back({target, 0});
        } else if (is_open[to]) {
          low[at] = std::min(low[at], order[to]);
        }
        continue;
      }
      if (low[at] == order[at]) {
        int member = -1;
        do {
          member = open.back();
          open.pop_back();
          is_open[static_cast<std::size_t>(member)] = false;
          component[static_cast<std::size_t>(member)] = found;
        } while (member != visit.rank);
        ++found;
      }
      const int done = low[at];
      path.pop_back();
      if (!path.empty()) {
        auto& above = low[static_cast<std::size_t>(path.back().rank)];
        above = std::min(above, done);
      }
    }
  }
  return component;
}

/// Returns whether the ranks still contain a cycle without rank `without`: removes ranks that wait for none of the
/// rest, until none is left or none can be removed.
bool has_cycle(const Graph& graph, const std::vector<int>& ranks, int without) {
  std::vector<int> pending(graph.size(), -1);
  std::vector<std::vector<int>> waiters(graph.size());
  for (const int rank : ranks) {
    if (rank != without) pending[static_cast<std::size_t>(rank)] = 0;
  }
  std::vector<int> free;
  for (const int rank : ranks) {
    if (rank == without) continue;
    for (const int target : edges(graph, rank)) {
      if (static_cast<std::size_t>(target) >= graph.size() ||
          pending[static_cast<std::size_t>(target)] < 0) {
        continue;
      }
      ++pending[static_cast<std::size_t>(rank)];
      waiters[static_cast<std::size_t>(target)].push_back(rank);
    }
  }
  std::size_t left = 0;
  for (const int rank : ranks) {
    if (rank == without) continue;
    ++left;
    if (pending[static_cast<std::size_t>(rank)] == 0) free.push_back(rank);
  }
  while (!free.empty()) {
    const int rank = free.back();
    free.pop_back();
    --left;
    for (const int waiter : waiters[static_cast<std::size_t>(rank)]) {
      if (--pending[static_cast<std::size_t>(waiter)] == 0) free.push_back(waiter);
    }
  }
  return left > 0;
}

/// Returns the shortest of the cycles through one of the component's first kTries ranks, each of which is in a cycle.
std::vector<int> shortest_cycle(const Graph& graph, const std::vector<int>& ranks) {
  std::vector<int> best;
  constexpr std::size_t kTries = 16;  // each visits the whole component
  const std::size_t tries = std::min(ranks.size(), kTries);
  for (std::size_t i = 0; i < tries; ++i) {
    const int start = ranks[i];
    std::vector<int> before(graph.size(), -1);
    std::deque<int> queue{start};
    bool is_closed = false;
    while (!queue.empty() && !is_closed) {
      const int rank = queue.front();
      queue.pop_front();
      for (const int target : edges(graph, rank)) {
        if (!std::binary_search(ranks.begin(), ranks.end(), target)) continue;
        if (target == start) {
          std::vector<int> cycle;
          for (int at = rank; at != -1; at = before[static_cast<std::size_t>(at)])
            cycle.push_back(at);
          std::reverse(cycle.begin(), cycle.end());
          if (best.empty() || cycle.size() < best.size()) best = std::move(cycle);
          is_closed = true;
          break;
        }
        if (before[static_cast<std::size_t>(target)] >= 0 || target == start) continue;
        before[static_cast<std::size_t>(target)] = rank;
        queue.push_back(target);
      }
    }
    if (best.size() == 2) break;
  }
  return best;
}

}  // namespace

std::vector<WaitCycle> wait_cycles(const Graph& waits) {
  const std::vector<int> component = components(waits);
  std::vector<std::vector<int>> members(waits.size());
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    members[static_cast<std::size_t>(component[rank])].push_back(static_cast<int>(rank));
  }
  std::vector<bool> is_cyclic(waits.size(), false);
  for (std::size_t i = 0; i < members.size(); ++i) is_cyclic[i] = members[i].size() > 1;
  std::vector<WaitCycle> cycles;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!is_cyclic[i]) continue;
    // Tarjan's algorithm numbers a component after those that it leads to: a component that leads to another is not
    // the cause.
    std::vector<bool> seen(waits.size(), false);
    std::vector<int> path = members[i];
    bool leads_to_cyclic = false;
    while (!path.empty() && !leads_to_cyclic) {
      const int rank = path.back();
      path.pop_back();
      for (const int target : edges(waits, rank)) {
        const auto to = static_cast<std::size_t>(target);
        if (to >= waits.size() || seen[to] || component[to] == static_cast<int>(i)) continue;
        seen[to] = true;
        if (is_cyclic[static_cast<std::size_t>(component[to])]) leads_to_cyclic = true;
        path.push_back(target);
      }
    }
    if (leads_to_cyclic) continue;
    WaitCycle cycle{members[i], {}, {}};
    cycle.shortest = shortest_cycle(waits, cycle.ranks);
    // A rank that is in every cycle is in this one.
    for (const int rank : cycle.shortest) {
      if (!has_cycle(waits, cycle.ranks, rank)) cycle.breakers.push_back(rank);
    }
    std::sort(cycle.breakers.begin(), cycle.breakers.end());
    cycles.push_back(std::move(cycle));
  }
  std::sort(cycles.begin(), cycles.end(),
            [](const WaitCycle& a, const WaitCycle& b) { return a.ranks < b.ranks; });
  return cycles;
}

std::vector<int> heads_of(const Graph& waits, const std::vector<int>& from) {
  std::vector<bool> seen(waits.size(), false);
  std::vector<int> path = from;
  std::vector<int> heads;
  while (!path.empty()) {
    const int rank = path.back();
    path.pop_back();
    const auto at = static_cast<std::size_t>(rank);
    if (at >= waits.size() || seen[at]) continue;
    seen[at] = true;
    if (waits[at].empty()) heads.push_back(rank);
    path.insert(path.end(), waits[at].begin(), waits[at].end());
  }
  std::sort(heads.begin(), heads.end());
  return heads;
}

}  // namespace ringside::hang
