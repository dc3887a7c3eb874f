#include "sim/fabric/clos.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/mixed.h"
#include "base/wording.h"
#include "sim/fabric/clos_plan.h"

namespace ringside {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

enum Direction : int { Up = 0, Down = 1 };

class Clos : public Fabric {
 public:
  Clos(FabricSettings settings, std::vector<FabricHosts> hosts)
      : Fabric(std::move(settings), std::move(hosts)) {}

  /// Makes the plan, before any other use.  errors  as plan_clos()
  Status lay_out() {
    RINGSIDE_TRY(plan_, plan_clos(settings(), nhosts(), most_nics(), fastest_nic()));
    return {};
  }

  [[nodiscard]] std::vector<int> tier_starts() const override;
  [[nodiscard]] FabricShape shape() const override;
  [[nodiscard]] Wire wire(int id) const override;

 protected:
  [[nodiscard]] FabricRoute find_route(FabricPort from, FabricPort to,
                                       std::uint64_t flow) const override;
  [[nodiscard]] Trunk trunk(int id) const override;

 private:
  struct Leaf {
    int plane = 0, group = 0, rail = 0;
    bool operator==(const Leaf&) const = default;
  };

  [[nodiscard]] Leaf leaf_of(FabricPort port) const {
    const int group = port.host / plan_.hosts_per_leaf;
    if (plan_.planes > 1) return {port.nic, group, 0};
    return {0, group, plan_.rails > 1 ? port.nic : 0};
  }
  [[nodiscard]] int number(const Leaf& leaf) const {
    return (leaf.plane * plan_.groups + leaf.group) * plan_.rails + leaf.rail;
  }
  [[nodiscard]] Leaf leaf(int number) const {
    const int group = number / plan_.rails;
    return {group / plan_.groups, group % plan_.groups, number % plan_.rails};
  }
  [[nodiscard]] int pod_of(const Leaf& leaf) const { return leaf.group / plan_.groups_per_pod; }

  [[nodiscard]] FabricEnd end_of_leaf(const Leaf& leaf) const;
  [[nodiscard]] FabricEnd end_of_spine(int plane, int pod, int spine) const;
  [[nodiscard]] FabricEnd end_of_core(int plane, int core) const;

  // Link ids.
  [[nodiscard]] int first_up() const { return 2 * plan_.hosts * plan_.nics; }
  [[nodiscard]] int first_top() const { return first_up() + 2 * plan_.leaves() * plan_.ups; }
  [[nodiscard]] int first_trunk() const { return static_cast<int>(plan_.all_links()); }
  [[nodiscard]] int cable(FabricPort port, Direction direction) const {
    return 2 * (port.host * plan_.nics + port.nic) + direction;
  }
  [[nodiscard]] int up_link(const Leaf& leaf, int up, Direction direction) const {
    return first_up() + 2 * (number(leaf) * plan_.ups + up) + direction;
  }
  [[nodiscard]] int core_link(int plane, int pod, int spine, int top, Direction direction) const {
    const int spine_number = (plane * plan_.pods + pod) * plan_.spines + spine;
    return first_top() + 2 * (spine_number * plan_.tops + top) + direction;
  }
  /// Returns the number of the pair of two different groups of a plane.
  [[nodiscard]] int pair(int plane, int from, int to) const {
    return (plane * plan_.pods + from) * (plan_.pods - 1) + (to < from ? to : to - 1);
  }
  [[nodiscard]] int pair_link(int plane, int from, int to, int top) const {
    return first_top() + pair(plane, from, to) * plan_.tops + top;
  }
  [[nodiscard]] int leaf_trunk(const Leaf& leaf, Direction direction) const {
    return first_trunk() + 2 * number(leaf) + direction;
  }
  [[nodiscard]] int pod_trunk(int plane, int pod, Direction direction) const {
    return first_trunk() + 2 * plan_.leaves() + 2 * (plane * plan_.pods + pod) + direction;
  }
  [[nodiscard]] int pair_trunk(int plane, int from, int to) const {
    return first_trunk() + 2 * plan_.leaves() + pair(plane, from, to);
  }

  /// Returns the spine of group `from` that holds its cable to group `to`.
  [[nodiscard]] int spine_towards(int from, int to, int top) const {
    const int turn = (to - from - 1 + plan_.pods) % plan_.pods;
    return static_cast<int>((static_cast<std::int64_t>(turn) * plan_.tops + top) % plan_.spines);
  }
  /// Returns one of a leaf's links to a spine.
  [[nodiscard]] int up_to(int spine, std::int64_t choice) const {
    return spine + static_cast<int>(choice % plan_.ups_to(spine)) * plan_.spines;
  }

  // The parts of shape(). Each adds a tier of cables and a level of switches; those that have cables between the two
  // halves of the fabric return the rate of these cables.
  void add_leaves(FabricShape& shape) const;
  [[nodiscard]] double add_spines(FabricShape& shape) const;
  [[nodiscard]] double add_cores(FabricShape& shape) const;
  [[nodiscard]] double add_pairs(FabricShape& shape) const;
  /// Returns the rate of all links from a leaf upwards, bytes/s.
  [[nodiscard]] double above_leaf() const { return plan_.ups * plan_.up.value; }

  /// Returns the number of paths between two leaves, or one of them.
  [[nodiscard]] std::int64_t count_paths(const Leaf& from, const Leaf& to) const;
  [[nodiscard]] std::vector<int> links_of_path(const Leaf& from, const Leaf& to,
                                               std::int64_t choice) const;
  [[nodiscard]] std::vector<int> static_links(const Leaf& from, const Leaf& to,
                                              std::uint64_t flow) const;
  // Paths around links that are down; empty: no path is left.
  using LinksBySpine = std::vector<std::vector<int>>;  ///< [spine]: links of a leaf that are up
  [[nodiscard]] std::vector<int> links_left(const Leaf& from, const Leaf& to,
                                            std::uint64_t flow) const;
  [[nodiscard]] static std::vector<int> left_within_pod(const LinksBySpine& ups,
                                                        const LinksBySpine& downs,
                                                        std::uint64_t flow);
  [[nodiscard]] std::vector<int> left_between_groups(int plane, int here, int there,
                                                     const LinksBySpine& ups,
                                                     const LinksBySpine& downs,
                                                     std::uint64_t flow) const;
  [[nodiscard]] std::vector<int> left_over_cores(int plane, int here, int there,
                                                 const LinksBySpine& ups, const LinksBySpine& downs,
                                                 std::uint64_t flow) const;
  [[nodiscard]] std::vector<int> trunks_of(const Leaf& from, const Leaf& to) const;

  ClosPlan plan_;
};

/// "1 NIC", "16 links"
std::string counted(int count, const std::string& one) {
  return plural(static_cast<std::size_t>(count), one, one + "s");
}

// ---- what is there -----------------------------------------------------------------------------

FabricEnd Clos::end_of_leaf(const Leaf& leaf) const {
  const std::string_view word = plan_.has_spines ? "leaf" : "switch";
  if (settings().rails == Rails::None) return {{word, leaf.group}};
  return {{"rail", plan_.planes > 1 ? leaf.plane : leaf.rail}, {word, leaf.group}};
}

FabricEnd Clos::end_of_spine(int plane, int pod, int spine) const {
  const bool is_below_pods = plan_.top != ClosTop::None;
  const std::string_view word = plan_.top == ClosTop::Pairs ? "group" : "pod";
  if (plan_.planes == 1) {
    return is_below_pods ? FabricEnd{{word, pod}, {"spine", spine}} : FabricEnd{{"spine", spine}};
  }
  if (!is_below_pods) return {{"rail", plane}, {"spine", spine}};
  return {{"rail", plane}, {word, pod}, {"spine", spine}};
}

FabricEnd Clos::end_of_core(int plane, int core) const {
  if (plan_.planes == 1) return {{"core", core}};
  return {{"rail", plane}, {"core", core}};
}

std::vector<int> Clos::tier_starts() const {
  std::vector<int> starts{0, first_up()};
  if (plan_.has_spines) starts.push_back(first_top());
  if (plan_.top != ClosTop::None) starts.push_back(first_trunk());
  return starts;
}

Fabric::Wire Clos::wire(int id) const {
  Wire one;
  const auto joined = [&](const FabricEnd& below, const FabricEnd& above) {
    const bool is_up = id % 2 == Up;  // each tier's first id is even
    one.from = is_up ? below : above;
    one.to = is_up ? above : below;
  };
  if (id < first_up()) {
    const FabricPort port{id / 2 / plan_.nics, id / 2 % plan_.nics};
    joined({{"host", port.host}, {"nic", port.nic}}, end_of_leaf(leaf_of(port)));
    one.rate = rate_of_nic(port);
    one.is_there = port.nic < nics_of(port.host);
    return one;
  }
  if (id < first_top()) {
    const int place = (id - first_up()) / 2;
    const int up = place % plan_.ups;
    const Leaf below = leaf(place / plan_.ups);
    joined(end_of_leaf(below), end_of_spine(below.plane, pod_of(below), up % plan_.spines));
    if (plan_.ups > plan_.spines) one.number = up / plan_.spines;
    one.rate = plan_.up;
    one.tier = 1;
    return one;
  }
  one.rate = plan_.core;
  one.tier = 2;
  if (plan_.top == ClosTop::Cores) {
    const int place = (id - first_top()) / 2;
    const int top = place % plan_.tops;
    const int spine = place / plan_.tops % plan_.spines;
    const int pod = place / plan_.tops / plan_.spines;
    joined(end_of_spine(pod / plan_.pods, pod % plan_.pods, spine),
           end_of_core(pod / plan_.pods, spine * plan_.tops + top));
    return one;
  }
  const int place = id - first_top();
  const int top = place % plan_.tops;
  const int other = place / plan_.tops % (plan_.pods - 1);
  const int from = place / plan_.tops / (plan_.pods - 1) % plan_.pods;
  const int plane = place / plan_.tops / (plan_.pods - 1) / plan_.pods;
  const int to = other < from ? other : other + 1;
  one.from = end_of_spine(plane, from, spine_towards(from, to, top));
  one.to = end_of_spine(plane, to, spine_towards(to, from, top));
  if (plan_.tops > 1) one.number = top;
  return one;
}

Fabric::Trunk Clos::trunk(int id) const {
  Trunk one;
  const int place = id - first_trunk();
  if (place < 2 * plan_.leaves()) {
    const Leaf below = leaf(place / 2);
    const auto direction = static_cast<Direction>(place % 2);
    const std::string name = end_of_leaf(below).text();
    one.name = direction == Up ? name + " -> spines" : "spines -> " + name;
    one.tier = 1;
    for (int up = 0; up < plan_.ups; ++up) one.links.push_back(up_link(below, up, direction));
    return one;
  }
  one.tier = 2;
  const int rest = place - 2 * plan_.leaves();
  if (plan_.top == ClosTop::Pairs) {
    const int first = first_top() + rest * plan_.tops;
    const Wire any = wire(first);
    const auto group_of = [&](const FabricEnd& end) {
      return end.parts[end.count - 2];  // the element before the spine
    };
    one.name =
        fmt::format("group {} -> group {}", group_of(any.from).number, group_of(any.to).number);
    if (plan_.planes > 1) one.name = fmt::format("rail {} {}", any.from.parts[0].number, one.name);
    for (int top = 0; top < plan_.tops; ++top) one.links.push_back(first + top);
    return one;
  }
  const int plane = rest / 2 / plan_.pods;
  const int pod = rest / 2 % plan_.pods;
  const auto direction = static_cast<Direction>(rest % 2);
  const std::string name =
      plan_.planes > 1 ? fmt::format("rail {} pod {}", plane, pod) : fmt::format("pod {}", pod);
  one.name = direction == Up ? name + " -> cores" : "cores -> " + name;
  for (int spine = 0; spine < plan_.spines; ++spine) {
    for (int top = 0; top < plan_.tops; ++top) {
      one.links.push_back(core_link(plane, pod, spine, top, direction));
    }
  }
  return one;
}

FabricShape Clos::shape() const {
  FabricShape shape;
  shape.hosts = plan_.hosts;
  add_leaves(shape);
  double half = all_nics().value / 2;
  if (plan_.has_spines) half = std::min(half, add_spines(shape));
  if (plan_.top == ClosTop::Cores) half = std::min(half, add_cores(shape));
  if (plan_.top == ClosTop::Pairs) half = std::min(half, add_pairs(shape));
  shape.bisection = {half};
  return shape;
}

void Clos::add_leaves(FabricShape& shape) const {
  const std::string word = plan_.has_spines ? "leaf" : "switch";
  FabricTier cables{.name = "NIC - " + word, .rate = plan_.nic};
  for (int host = 0; host < plan_.hosts; ++host) cables.cables += nics_of(host);
  shape.tiers.push_back(std::move(cables));
  shape.levels.push_back({word, plan_.leaves(), counted(plan_.nics_of_leaf, "NIC")});
}

double Clos::add_spines(FabricShape& shape) const {
  const double below_leaf = plan_.nics_of_leaf * plan_.nic.value;
  shape.tiers.push_back({"leaf - spine", static_cast<std::int64_t>(plan_.leaves()) * plan_.ups,
                         plan_.up, below_leaf / above_leaf()});
  shape.levels[0].holds += fmt::format(" down, {} up", counted(plan_.ups, "link"));
  shape.levels.push_back({"spine",
                          static_cast<std::int64_t>(plan_.planes) * plan_.pods * plan_.spines,
                          counted(plan_.leaves_of_pod() * plan_.ups_to(0), "link")});
  return plan_.groups > 1 ? plan_.leaves() * above_leaf() / 2 : kNoLimit;
}

double Clos::add_cores(FabricShape& shape) const {
  const double below_pod = plan_.leaves_of_pod() * above_leaf();
  const double above_pod = static_cast<double>(plan_.spines) * plan_.tops * plan_.core.value;
  const std::int64_t cores = static_cast<std::int64_t>(plan_.planes) * plan_.spines * plan_.tops;
  shape.levels[1].holds += fmt::format(" down, {} up", plan_.tops);
  shape.tiers.push_back({"spine - core", cores * plan_.pods, plan_.core, below_pod / above_pod});
  shape.levels.push_back({"core", cores, counted(plan_.pods, "link")});
  return plan_.pods > 1 ? plan_.planes * plan_.pods * above_pod / 2 : kNoLimit;
}

double Clos::add_pairs(FabricShape& shape) const {
  const double below_group = plan_.leaves_of_pod() * above_leaf();
  const double of_pair = plan_.tops * plan_.core.value;
  const double cables_of_spine = static_cast<double>(plan_.tops) * (plan_.pods - 1) / plan_.spines;
  shape.levels[1].holds += fmt::format(" down, {:g} to other groups", cables_of_spine);
  shape.tiers.push_back({"group - group", plan_.ordered_pairs() * plan_.tops / 2, plan_.core,
                         plan_.pods > 1 ? below_group / (of_pair * (plan_.pods - 1)) : 1});
  const int first_half = plan_.pods / 2;
  if (plan_.pods == 1) return kNoLimit;
  return plan_.planes * first_half * (plan_.pods - first_half) * of_pair;
}

// ---- paths -------------------------------------------------------------------------------------

std::int64_t Clos::count_paths(const Leaf& from, const Leaf& to) const {
  const std::int64_t last = plan_.ups_to(0);
  if (pod_of(from) == pod_of(to)) return plan_.ups * last;
  if (plan_.top == ClosTop::Pairs) return plan_.tops * last * last;
  return static_cast<std::int64_t>(plan_.ups) * plan_.tops * last;
}

std::vector<int> Clos::links_of_path(const Leaf& from, const Leaf& to, std::int64_t choice) const {
  const int here = pod_of(from), there = pod_of(to);
  if (here != there && plan_.top == ClosTop::Pairs) {
    const int top = static_cast<int>(choice % plan_.tops);
    choice /= plan_.tops;
    const int last = plan_.ups_to(0);
    return {up_link(from, up_to(spine_towards(here, there, top), choice % last), Up),
            pair_link(from.plane, here, there, top),
            up_link(to, up_to(spine_towards(there, here, top), choice / last), Down)};
  }
  const int up = static_cast<int>(choice % plan_.ups);
  choice /= plan_.ups;
  const int spine = up % plan_.spines;
  if (here == there) return {up_link(from, up, Up), up_link(to, up_to(spine, choice), Down)};
  const int top = static_cast<int>(choice % plan_.tops);
  choice /= plan_.tops;
  return {up_link(from, up, Up), core_link(from.plane, here, spine, top, Up),
          core_link(from.plane, there, spine, top, Down), up_link(to, up_to(spine, choice), Down)};
}

/// Returns the path that the flow's hash selects; if one of its links is down, one of the other paths.
std::vector<int> Clos::static_links(const Leaf& from, const Leaf& to, std::uint64_t flow) const {
  const auto paths = static_cast<std::uint64_t>(count_paths(from, to));
  std::vector<int> links = links_of_path(from, to, static_cast<std::int64_t>(flow % paths));
  if (!is_any_down() || are_up(links)) return links;
  return links_left(from, to, flow);
}

/// Returns one of the values, by the flow's hash and the number of the choice on its path.
int pick(const std::vector<int>& some, std::uint64_t flow, std::uint64_t stage) {
  return some[mixed_with(flow, stage) % some.size()];
}

/// Selects switch by switch, among links that are up and have a path onwards.
std::vector<int> Clos::links_left(const Leaf& from, const Leaf& to, std::uint64_t flow) const {
  const auto nspines = static_cast<std::size_t>(plan_.spines);
  LinksBySpine ups(nspines), downs(nspines);
  for (int i = 0; i < plan_.ups; ++i) {
    const auto spine = static_cast<std::size_t>(i % plan_.spines);
    if (is_up(up_link(from, i, Up))) ups[spine].push_back(up_link(from, i, Up));
    if (is_up(up_link(to, i, Down))) downs[spine].push_back(up_link(to, i, Down));
  }
  if (pod_of(from) == pod_of(to)) return left_within_pod(ups, downs, flow);
  if (plan_.top == ClosTop::Pairs) {
    return left_between_groups(from.plane, pod_of(from), pod_of(to), ups, downs, flow);
  }
  return left_over_cores(from.plane, pod_of(from), pod_of(to), ups, downs, flow);
}

std::vector<int> Clos::left_within_pod(const LinksBySpine& ups, const LinksBySpine& downs,
                                       std::uint64_t flow) {
  std::vector<int> spines;
  for (std::size_t spine = 0; spine < ups.size(); ++spine) {
    if (!ups[spine].empty() && !downs[spine].empty()) spines.push_back(static_cast<int>(spine));
  }
  if (spines.empty()) return {};
  const auto spine = static_cast<std::size_t>(pick(spines, flow, 1));
  return {pick(ups[spine], flow, 2), pick(downs[spine], flow, 3)};
}

std::vector<int> Clos::left_between_groups(int plane, int here, int there, const LinksBySpine& ups,
                                           const LinksBySpine& downs, std::uint64_t flow) const {
  const auto ups_of = [&](int top) -> const auto& {
    return ups[static_cast<std::size_t>(spine_towards(here, there, top))];
  };
  const auto downs_of = [&](int top) -> const auto& {
    return downs[static_cast<std::size_t>(spine_towards(there, here, top))];
  };
  std::vector<int> tops;
  for (int top = 0; top < plan_.tops; ++top) {
    if (ups_of(top).empty() || downs_of(top).empty()) continue;
    if (is_up(pair_link(plane, here, there, top))) tops.push_back(top);
  }
  if (tops.empty()) return {};
  const int top = pick(tops, flow, 1);
  return {pick(ups_of(top), flow, 2), pair_link(plane, here, there, top),
          pick(downs_of(top), flow, 3)};
}

std::vector<int> Clos::left_over_cores(int plane, int here, int there, const LinksBySpine& ups,
                                       const LinksBySpine& downs, std::uint64_t flow) const {
  std::vector<int> spines;
  std::vector<std::vector<int>> tops(ups.size());  // [spine]: those whose core joins both pods
  for (std::size_t i = 0; i < ups.size(); ++i) {
    if (ups[i].empty() || downs[i].empty()) continue;
    const int spine = static_cast<int>(i);
    for (int top = 0; top < plan_.tops; ++top) {
      if (is_up(core_link(plane, here, spine, top, Up)) &&
          is_up(core_link(plane, there, spine, top, Down))) {
        tops[i].push_back(top);
      }
    }
    if (!tops[i].empty()) spines.push_back(spine);
  }
  if (spines.empty()) return {};
  const int spine = pick(spines, flow, 1);
  const auto i = static_cast<std::size_t>(spine);
  const int top = pick(tops[i], flow, 4);
  return {pick(ups[i], flow, 2), core_link(plane, here, spine, top, Up),
          core_link(plane, there, spine, top, Down), pick(downs[i], flow, 3)};
}

std::vector<int> Clos::trunks_of(const Leaf& from, const Leaf& to) const {
  const int here = pod_of(from), there = pod_of(to);
  std::vector<int> links{leaf_trunk(from, Up)};
  if (here != there && plan_.top == ClosTop::Pairs) {
    links.push_back(pair_trunk(from.plane, here, there));
  } else if (here != there) {
    links.push_back(pod_trunk(from.plane, here, Up));
    links.push_back(pod_trunk(from.plane, there, Down));
  }
  links.push_back(leaf_trunk(to, Down));
  return links;
}

FabricRoute Clos::find_route(FabricPort from, FabricPort to, std::uint64_t flow) const {
  const Leaf a = leaf_of(from), b = leaf_of(to);
  FabricRoute route;
  const int out = cable(from, Up), in = cable(to, Down);
  if (is_any_down() && !(is_up(out) && is_up(in))) return route;
  if (a == b) return {.links = {out, in}, .switches = 1};
  if (a.plane != b.plane || !plan_.has_spines) return route;
  // Combined links may also be unusable when their onward links are down.
  const bool needs_search = !is_adaptive() || is_any_down();
  const std::vector<int> found = needs_search ? static_links(a, b, flow) : std::vector<int>{};
  if (needs_search && found.empty()) return route;
  const std::vector<int> between = is_adaptive() ? trunks_of(a, b) : found;
  route.links.push_back(out);
  route.links.insert(route.links.end(), between.begin(), between.end());
  route.links.push_back(in);
  const bool is_far = pod_of(a) != pod_of(b);
  const bool has_cores = plan_.top == ClosTop::Cores;
  route.switches = !is_far ? 3 : has_cores ? 5 : 4;
  if (is_far) route.latency = (has_cores ? 2 : 1) * settings().core_latency;
  return route;
}

}  // namespace

Result<std::unique_ptr<const Fabric>> make_clos(FabricSettings settings,
                                                std::vector<FabricHosts> hosts) {
  auto fabric = std::make_unique<Clos>(std::move(settings), std::move(hosts));
  RINGSIDE_TRY(fabric->lay_out());
  return Result<std::unique_ptr<const Fabric>>{std::move(fabric)};
}

}  // namespace ringside
