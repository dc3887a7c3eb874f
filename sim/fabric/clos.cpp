#include "sim/fabric/clos.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/mixed.h"
#include "base/wording.h"

namespace ringside {
namespace {

constexpr int kMostPorts = 1024;              // of a switch, in one direction
constexpr std::int64_t kMostLinks = 1 << 28;  // ids are int
constexpr double kRounding = 1e-9;            // of quotients that are whole numbers
enum class Top : std::uint8_t { None, Cores, Pairs };
enum Direction : int { Up = 0, Down = 1 };

/// The counts of the fabric, from which all numbers of switches and links are computed.
struct Plan {
  Top top = Top::None;
  bool has_spines = false;
  int hosts = 0, nics = 0;  ///< nics: of the host with the most NICs
  int hosts_per_leaf = 1;
  int groups = 1;  ///< groups of hosts that share leaves
  int rails = 1;   ///< leaves of a group in one plane
  int planes = 1;
  int groups_per_pod = 1;
  int pods = 1;
  int ups = 0;     ///< links from a leaf upwards
  int spines = 0;  ///< spines of a pod in a plane
  int tops = 0;    ///< links from a spine upwards; with pairs: cables from one group to another
  int nics_of_leaf = 0;
  BytesPerSecond nic, up, core;

  [[nodiscard]] int leaves() const { return planes * groups * rails; }
  [[nodiscard]] int leaves_of_pod() const { return groups_per_pod * rails; }
  /// Returns the number of links from a leaf to one of its spines.
  [[nodiscard]] int ups_to(int spine) const { return (ups - spine + spines - 1) / spines; }
  [[nodiscard]] std::int64_t ordered_pairs() const {
    return static_cast<std::int64_t>(planes) * pods * (pods - 1);
  }
  [[nodiscard]] std::int64_t top_links() const {
    if (top == Top::Pairs) return ordered_pairs() * tops;
    return 2LL * planes * pods * spines * tops;
  }
  [[nodiscard]] std::int64_t all_links() const {
    return 2LL * hosts * nics + 2LL * leaves() * ups + top_links();
  }
  [[nodiscard]] std::int64_t trunks() const {
    return 2LL * leaves() + (top == Top::Pairs ? ordered_pairs() : 2LL * planes * pods);
  }
};

class Clos : public Fabric {
 public:
  Clos(FabricSettings settings, std::vector<FabricHosts> hosts)
      : Fabric(std::move(settings), std::move(hosts)) {}

  Status lay_out();

  [[nodiscard]] std::vector<int> tier_starts() const override;
  [[nodiscard]] FabricShape shape() const override;
  [[nodiscard]] Wire wire(int id) const override;

 protected:
  [[nodiscard]] FabricWay find_way(FabricPort from, FabricPort to,
                                   std::uint64_t flow) const override;
  [[nodiscard]] Trunk trunk(int id) const override;

 private:
  struct Leaf {
    int plane = 0, group = 0, rail = 0;
    bool operator==(const Leaf&) const = default;
  };

  [[nodiscard]] Error bad(const std::string& what, const std::string& help) const {
    return {ErrorCode::Corrupt, fmt::format("{}: {}", settings().where, what), help};
  }
  Status count_leaves();
  Status count_spines();
  Status count_tops();

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
  [[nodiscard]] int cable(FabricPort port, Direction way) const {
    return 2 * (port.host * plan_.nics + port.nic) + way;
  }
  [[nodiscard]] int up_link(const Leaf& leaf, int up, Direction way) const {
    return first_up() + 2 * (number(leaf) * plan_.ups + up) + way;
  }
  [[nodiscard]] int core_link(int plane, int pod, int spine, int top, Direction way) const {
    const int spine_number = (plane * plan_.pods + pod) * plan_.spines + spine;
    return first_top() + 2 * (spine_number * plan_.tops + top) + way;
  }
  /// Returns the number of the pair of two different groups of a plane.
  [[nodiscard]] int pair(int plane, int from, int to) const {
    return (plane * plan_.pods + from) * (plan_.pods - 1) + (to < from ? to : to - 1);
  }
  [[nodiscard]] int pair_link(int plane, int from, int to, int top) const {
    return first_top() + pair(plane, from, to) * plan_.tops + top;
  }
  [[nodiscard]] int leaf_trunk(const Leaf& leaf, Direction way) const {
    return first_trunk() + 2 * number(leaf) + way;
  }
  [[nodiscard]] int pod_trunk(int plane, int pod, Direction way) const {
    return first_trunk() + 2 * plan_.leaves() + 2 * (plane * plan_.pods + pod) + way;
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

  /// Returns the number of paths between two leaves, or one of them.
  [[nodiscard]] std::int64_t count_ways(const Leaf& from, const Leaf& to) const;
  [[nodiscard]] std::vector<int> links_of_way(const Leaf& from, const Leaf& to,
                                              std::int64_t choice) const;
  [[nodiscard]] std::vector<int> static_links(const Leaf& from, const Leaf& to,
                                              std::uint64_t flow) const;
  [[nodiscard]] std::vector<int> links_left(const Leaf& from, const Leaf& to,
                                            std::uint64_t flow) const;
  [[nodiscard]] std::vector<int> trunks_of(const Leaf& from, const Leaf& to) const;

  Plan plan_;
};

/// "1 NIC", "16 links"
std::string counted(int count, const std::string& one) {
  return plural(static_cast<std::size_t>(count), one, one + "s");
}

// ---- counts ------------------------------------------------------------------------------------

int quotient_up(double value) { return static_cast<int>(std::ceil(value - kRounding)); }

Status Clos::lay_out() {
  const FabricSettings& asked = settings();
  plan_.hosts = nhosts();
  plan_.nics = most_nics();
  plan_.nic = fastest_nic();
  plan_.up = asked.rate.value_or(plan_.nic);
  plan_.core = asked.core_rate.value_or(plan_.up);
  RINGSIDE_TRY(count_leaves());
  if (asked.kind != FabricKind::Switch) {
    plan_.has_spines = true;
    RINGSIDE_TRY(count_spines());
  }
  if (asked.kind == FabricKind::FatTree) plan_.top = Top::Cores;
  if (asked.kind == FabricKind::DragonflyPlus) plan_.top = Top::Pairs;
  if (plan_.top != Top::None) {
    RINGSIDE_TRY(count_tops());
  }
  if (plan_.all_links() + plan_.trunks() > kMostLinks) {
    return bad(fmt::format("{} links", plan_.all_links()),
               fmt::format("a fabric here has at most {}", kMostLinks));
  }
  return {};
}

Status Clos::count_leaves() {
  const FabricSettings& asked = settings();
  const bool is_one = asked.kind == FabricKind::Switch;
  plan_.hosts_per_leaf = is_one ? plan_.hosts : std::min(asked.hosts_per_leaf, plan_.hosts);
  plan_.groups = (plan_.hosts + plan_.hosts_per_leaf - 1) / plan_.hosts_per_leaf;
  plan_.groups_per_pod = plan_.groups;
  if (asked.rails == Rails::Only) plan_.planes = plan_.nics;
  if (asked.rails == Rails::Optimised) plan_.rails = plan_.nics;
  plan_.nics_of_leaf = plan_.hosts_per_leaf * (asked.rails == Rails::None ? plan_.nics : 1);
  return {};
}

Status Clos::count_spines() {
  const FabricSettings& asked = settings();
  const double ups =
      plan_.nics_of_leaf * plan_.nic.value / (asked.oversubscription * plan_.up.value);
  if (ups > kMostPorts) {
    return bad(fmt::format("a leaf with {:.4g} links up", ups),
               fmt::format("at most {}: give a larger oversubscription or rate, or fewer "
                           "hosts_per_leaf",
                           kMostPorts));
  }
  plan_.ups = std::max(1, quotient_up(ups));
  plan_.spines = asked.spines > 0 ? asked.spines : plan_.ups;
  if (plan_.spines > plan_.ups) {
    return bad(fmt::format("{} spines for leaves with {} links up", plan_.spines, plan_.ups),
               fmt::format("give spines: {} or fewer", plan_.ups));
  }
  return {};
}

Status Clos::count_tops() {
  const FabricSettings& asked = settings();
  if (asked.hosts_per_pod % asked.hosts_per_leaf != 0) {
    return bad(
        fmt::format("{} hosts of a pod on leaves of {}", asked.hosts_per_pod, asked.hosts_per_leaf),
        "give a multiple of hosts_per_leaf");
  }
  plan_.groups_per_pod = std::min(asked.hosts_per_pod / asked.hosts_per_leaf, plan_.groups);
  plan_.pods = (plan_.groups + plan_.groups_per_pod - 1) / plan_.groups_per_pod;
  const double downs = static_cast<double>(plan_.leaves_of_pod()) * plan_.ups / plan_.spines;
  const double tops = downs * plan_.up.value / (asked.spine_oversubscription * plan_.core.value);
  if (tops > kMostPorts || asked.global_links > kMostPorts) {
    return bad(
        fmt::format("a spine with {:.4g} links up", std::max<double>(tops, asked.global_links)),
        fmt::format("at most {}: give a larger oversubscription, or smaller pods", kMostPorts));
  }
  plan_.tops = asked.global_links > 0 ? asked.global_links : std::max(1, quotient_up(tops));
  if (plan_.top == Top::Cores || plan_.pods == 1) {
    if (plan_.top == Top::Pairs) plan_.tops = 0;
    return {};
  }
  const int of_group = plan_.spines * plan_.tops;
  plan_.tops = of_group / (plan_.pods - 1);
  if (plan_.tops == 0) {
    return bad(fmt::format("{} groups, each with {} cables to the {} others", plan_.pods, of_group,
                           plan_.pods - 1),
               "give more global_links, or larger groups");
  }
  return {};
}

// ---- what is there -----------------------------------------------------------------------------

FabricEnd Clos::end_of_leaf(const Leaf& leaf) const {
  const std::string_view word = plan_.has_spines ? "leaf" : "switch";
  if (settings().rails == Rails::None) return {{word, leaf.group}};
  return {{"rail", plan_.planes > 1 ? leaf.plane : leaf.rail}, {word, leaf.group}};
}

FabricEnd Clos::end_of_spine(int plane, int pod, int spine) const {
  const bool is_below_pods = plan_.top != Top::None;
  const std::string_view word = plan_.top == Top::Pairs ? "group" : "pod";
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
  if (plan_.top != Top::None) starts.push_back(first_trunk());
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
  if (plan_.top == Top::Cores) {
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
    const auto way = static_cast<Direction>(place % 2);
    const std::string name = end_of_leaf(below).text();
    one.name = way == Up ? name + " -> spines" : "spines -> " + name;
    one.tier = 1;
    for (int up = 0; up < plan_.ups; ++up) one.links.push_back(up_link(below, up, way));
    return one;
  }
  one.tier = 2;
  const int rest = place - 2 * plan_.leaves();
  if (plan_.top == Top::Pairs) {
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
  const auto way = static_cast<Direction>(rest % 2);
  const std::string name =
      plan_.planes > 1 ? fmt::format("rail {} pod {}", plane, pod) : fmt::format("pod {}", pod);
  one.name = way == Up ? name + " -> cores" : "cores -> " + name;
  for (int spine = 0; spine < plan_.spines; ++spine) {
    for (int top = 0; top < plan_.tops; ++top) {
      one.links.push_back(core_link(plane, pod, spine, top, way));
    }
  }
  return one;
}

FabricShape Clos::shape() const {
  const double below_leaf = plan_.nics_of_leaf * plan_.nic.value;
  const double above_leaf = plan_.ups * plan_.up.value;
  FabricShape shape;
  shape.hosts = plan_.hosts;
  double half = all_nics().value / 2;

  FabricTier cables{.name = "NIC", .rate = plan_.nic};
  for (int host = 0; host < plan_.hosts; ++host) cables.cables += nics_of(host);
  const std::string leaf_word = plan_.has_spines ? "leaf" : "switch";
  cables.name = "NIC - " + leaf_word;
  shape.tiers.push_back(std::move(cables));
  shape.levels.push_back({leaf_word, plan_.leaves(), counted(plan_.nics_of_leaf, "NIC")});
  if (plan_.has_spines) {
    shape.tiers.push_back({"leaf - spine", static_cast<std::int64_t>(plan_.leaves()) * plan_.ups,
                           plan_.up, below_leaf / above_leaf});
    shape.levels[0].holds += fmt::format(" down, {} up", counted(plan_.ups, "link"));
    const int most = plan_.leaves_of_pod() * plan_.ups_to(0);
    shape.levels.push_back({"spine",
                            static_cast<std::int64_t>(plan_.planes) * plan_.pods * plan_.spines,
                            counted(most, "link")});
    if (plan_.groups > 1) half = std::min(half, plan_.leaves() * above_leaf / 2);
  }
  if (plan_.top == Top::None) {
    shape.bisection = {half};
    return shape;
  }
  const double below_pod = plan_.leaves_of_pod() * above_leaf;
  if (plan_.top == Top::Cores) {
    const double above_pod = static_cast<double>(plan_.spines) * plan_.tops * plan_.core.value;
    shape.levels[1].holds += fmt::format(" down, {} up", plan_.tops);
    shape.tiers.push_back(
        {"spine - core",
         static_cast<std::int64_t>(plan_.planes) * plan_.pods * plan_.spines * plan_.tops,
         plan_.core, below_pod / above_pod});
    shape.levels.push_back({"core",
                            static_cast<std::int64_t>(plan_.planes) * plan_.spines * plan_.tops,
                            counted(plan_.pods, "link")});
    if (plan_.pods > 1) half = std::min(half, plan_.planes * plan_.pods * above_pod / 2);
  } else {
    const double of_pair = plan_.tops * plan_.core.value;
    const int others = std::max(plan_.pods - 1, 1);
    shape.levels[1].holds +=
        fmt::format(" down, {:g} to other groups",
                    static_cast<double>(plan_.tops) * (plan_.pods - 1) / plan_.spines);
    shape.tiers.push_back({"group - group", plan_.ordered_pairs() * plan_.tops / 2, plan_.core,
                           plan_.pods > 1 ? below_pod / (of_pair * others) : 1});
    const int first_half = plan_.pods / 2;
    if (plan_.pods > 1) {
      half = std::min(half, plan_.planes * first_half * (plan_.pods - first_half) * of_pair);
    }
  }
  shape.bisection = {half};
  return shape;
}

// ---- ways --------------------------------------------------------------------------------------

std::int64_t Clos::count_ways(const Leaf& from, const Leaf& to) const {
  const std::int64_t last = plan_.ups_to(0);
  if (pod_of(from) == pod_of(to)) return plan_.ups * last;
  if (plan_.top == Top::Pairs) return plan_.tops * last * last;
  return static_cast<std::int64_t>(plan_.ups) * plan_.tops * last;
}

std::vector<int> Clos::links_of_way(const Leaf& from, const Leaf& to, std::int64_t choice) const {
  const int here = pod_of(from), there = pod_of(to);
  if (here != there && plan_.top == Top::Pairs) {
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
  const auto ways = static_cast<std::uint64_t>(count_ways(from, to));
  std::vector<int> links = links_of_way(from, to, static_cast<std::int64_t>(flow % ways));
  if (!is_any_down() || are_up(links)) return links;
  return links_left(from, to, flow);
}

/// Selects switch by switch, among links that are up and have a path onwards.
std::vector<int> Clos::links_left(const Leaf& from, const Leaf& to, std::uint64_t flow) const {
  const auto of = [flow](const std::vector<int>& some, std::uint64_t stage) {
    return some[mixed_with(flow, stage) % some.size()];
  };
  const auto nspines = static_cast<std::size_t>(plan_.spines);
  std::vector<std::vector<int>> ups(nspines), downs(nspines);  // [spine]
  for (int i = 0; i < plan_.ups; ++i) {
    const auto spine = static_cast<std::size_t>(i % plan_.spines);
    if (is_up(up_link(from, i, Up))) ups[spine].push_back(up_link(from, i, Up));
    if (is_up(up_link(to, i, Down))) downs[spine].push_back(up_link(to, i, Down));
  }
  const int here = pod_of(from), there = pod_of(to);
  if (here != there && plan_.top == Top::Pairs) {
    std::vector<int> left;
    const auto ups_of = [&](int top) -> const auto& {
      return ups[static_cast<std::size_t>(spine_towards(here, there, top))];
    };
    const auto downs_of = [&](int top) -> const auto& {
      return downs[static_cast<std::size_t>(spine_towards(there, here, top))];
    };
    for (int top = 0; top < plan_.tops; ++top) {
      if (ups_of(top).empty() || downs_of(top).empty()) continue;
      if (is_up(pair_link(from.plane, here, there, top))) left.push_back(top);
    }
    if (left.empty()) return {};
    const int top = of(left, 1);
    return {of(ups_of(top), 2), pair_link(from.plane, here, there, top), of(downs_of(top), 3)};
  }
  std::vector<int> left;
  std::vector<std::vector<int>> tops(nspines);
  for (int spine = 0; spine < plan_.spines; ++spine) {
    const auto index = static_cast<std::size_t>(spine);
    if (ups[index].empty() || downs[index].empty()) continue;
    for (int top = 0; here != there && top < plan_.tops; ++top) {
      if (is_up(core_link(from.plane, here, spine, top, Up)) &&
          is_up(core_link(from.plane, there, spine, top, Down))) {
        tops[index].push_back(top);
      }
    }
    if (here == there || !tops[index].empty()) left.push_back(spine);
  }
  if (left.empty()) return {};
  const int spine = of(left, 1);
  const auto index = static_cast<std::size_t>(spine);
  if (here == there) return {of(ups[index], 2), of(downs[index], 3)};
  const int top = of(tops[index], 4);
  return {of(ups[index], 2), core_link(from.plane, here, spine, top, Up),
          core_link(from.plane, there, spine, top, Down), of(downs[index], 3)};
}

std::vector<int> Clos::trunks_of(const Leaf& from, const Leaf& to) const {
  const int here = pod_of(from), there = pod_of(to);
  std::vector<int> links{leaf_trunk(from, Up)};
  if (here != there && plan_.top == Top::Pairs) {
    links.push_back(pair_trunk(from.plane, here, there));
  } else if (here != there) {
    links.push_back(pod_trunk(from.plane, here, Up));
    links.push_back(pod_trunk(from.plane, there, Down));
  }
  links.push_back(leaf_trunk(to, Down));
  return links;
}

FabricWay Clos::find_way(FabricPort from, FabricPort to, std::uint64_t flow) const {
  const Leaf a = leaf_of(from), b = leaf_of(to);
  FabricWay way;
  const int out = cable(from, Up), in = cable(to, Down);
  if (is_any_down() && !(is_up(out) && is_up(in))) return way;
  if (a == b) return {.links = {out, in}, .switches = 1};
  if (a.plane != b.plane || !plan_.has_spines) return way;
  // Combined links may also be unusable when their onward links are down.
  const bool needs_search = !is_adaptive() || is_any_down();
  const std::vector<int> found = needs_search ? static_links(a, b, flow) : std::vector<int>{};
  if (needs_search && found.empty()) return way;
  const std::vector<int> between = is_adaptive() ? trunks_of(a, b) : found;
  way.links.push_back(out);
  way.links.insert(way.links.end(), between.begin(), between.end());
  way.links.push_back(in);
  const bool is_far = pod_of(a) != pod_of(b);
  const bool has_cores = plan_.top == Top::Cores;
  way.switches = !is_far ? 3 : has_cores ? 5 : 4;
  if (is_far) way.latency = (has_cores ? 2 : 1) * settings().core_latency;
  return way;
}

}  // namespace

Result<std::unique_ptr<const Fabric>> make_clos(FabricSettings settings,
                                                std::vector<FabricHosts> hosts) {
  auto fabric = std::make_unique<Clos>(std::move(settings), std::move(hosts));
  RINGSIDE_TRY(fabric->lay_out());
  return Result<std::unique_ptr<const Fabric>>{std::move(fabric)};
}

}  // namespace ringside
