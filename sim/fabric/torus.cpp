#include "sim/fabric/torus.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/wording.h"

namespace ringside {
namespace {

constexpr int kMostRouters = 65536;
constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};
enum Direction : int { Ahead = 0, Back = 1 };

/// A torus of routers, one for each host; make_torus() describes the routes.
///
/// Router ids count along the first axis first. Link ids: two for the cable of each NIC, `Ahead` to the router and
/// `Back` from it; then, for each router and axis, two for the cable to the next router, `Ahead` to that router and
/// `Back` from it. Ids of cables that do not exist stay unused (Wire::is_there), so that ids follow from numbers
/// without a table.
class Torus : public Fabric {
 public:
  Torus(FabricSettings settings, std::vector<FabricHosts> hosts)
      : Fabric(std::move(settings), std::move(hosts)),
        dims_(this->settings().dims),
        rate_(this->settings().rate.value_or(fastest_nic())) {}

  Status check() const;

  [[nodiscard]] std::vector<int> tier_starts() const override {
    return {0, first_step(), first_step() + 2 * routers() * naxes()};
  }
  [[nodiscard]] FabricShape shape() const override;
  [[nodiscard]] Wire wire(int id) const override;

 protected:
  [[nodiscard]] FabricRoute find_route(FabricPort from, FabricPort to,
                                       std::uint64_t flow) const override;

 private:
  [[nodiscard]] int naxes() const { return static_cast<int>(dims_.size()); }
  [[nodiscard]] int size(int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] int routers() const {
    return std::accumulate(dims_.begin(), dims_.end(), 1, std::multiplies<>());
  }
  [[nodiscard]] int first_step() const { return 2 * nhosts() * most_nics(); }
  [[nodiscard]] int cable(FabricPort port, Direction direction) const {
    return 2 * (port.host * most_nics() + port.nic) + direction;
  }
  /// Returns the link from a router to the next one along an axis, or to the previous one.
  [[nodiscard]] int step(int router, int axis, Direction direction) const {
    return first_step() + 2 * (router * naxes() + axis) + direction;
  }
  /// Returns the difference of the ids of two neighbours along an axis.
  [[nodiscard]] int stride(int axis) const {
    return std::accumulate(dims_.begin(), dims_.begin() + axis, 1, std::multiplies<>());
  }
  /// Returns a router's coordinate on an axis.
  [[nodiscard]] int place(int router, int axis) const { return router / stride(axis) % size(axis); }
  /// Returns the router `by` places further along an axis, around the ring.
  [[nodiscard]] int moved(int router, int axis, int by) const {
    const int at = place(router, axis);
    const int next = (at + by + size(axis)) % size(axis);
    return router + (next - at) * stride(axis);
  }
  [[nodiscard]] FabricEnd end_of_router(int router) const;
  /// Returns the links of a route that completes one axis after the other.
  /// axes        their order
  /// directions  bit per axis: 1 means backwards
  [[nodiscard]] std::vector<int> steps(int from, int to, const std::vector<int>& axes,
                                       unsigned directions) const;
  /// Returns the shorter direction on each axis, as for steps(). A bit of `flow` decides between equal lengths.
  [[nodiscard]] unsigned shortest(int from, int to, std::uint64_t flow) const;

  std::vector<int> dims_;
  BytesPerSecond rate_;
};

Status Torus::check() const {
  const auto bad = [&](const std::string& what, const std::string& help) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", settings().where, what), help};
  };
  if (settings().routing == Routing::Adaptive) {
    return bad("a torus with adaptive routing",
               "its messages go dimension by dimension: give routing: static");
  }
  std::int64_t all = 1;
  for (const int size : dims_) all *= size;
  if (all > kMostRouters) {
    return bad(fmt::format("a torus of {} routers", all), fmt::format("at most {}", kMostRouters));
  }
  if (nhosts() > all) {
    return bad(fmt::format("{} hosts on a torus of {}", nhosts(), fmt::join(dims_, " x ")),
               fmt::format("it has {} routers, one for each host", all));
  }
  return {};
}

FabricEnd Torus::end_of_router(int router) const {
  FabricEnd end;
  for (int axis = 0; axis < naxes(); ++axis) {
    end.parts[end.count++] = {kAxes[static_cast<std::size_t>(axis)], place(router, axis)};
  }
  return end;
}

Fabric::Wire Torus::wire(int id) const {
  Wire one;
  const auto joined = [&](const FabricEnd& near, const FabricEnd& far) {
    one.from = id % 2 == Ahead ? near : far;
    one.to = id % 2 == Ahead ? far : near;
  };
  if (id < first_step()) {
    const FabricPort port{id / 2 / most_nics(), id / 2 % most_nics()};
    joined({{"host", port.host}, {"nic", port.nic}}, end_of_router(port.host));
    one.rate = rate_of_nic(port);
    one.is_there = port.nic < nics_of(port.host);
    return one;
  }
  const int number = (id - first_step()) / 2;
  const int router = number / naxes(), axis = number % naxes();
  joined(end_of_router(router), end_of_router(moved(router, axis, 1)));
  one.rate = rate_;
  one.tier = 1;
  // A ring of two has one cable.
  one.is_there = size(axis) > 2 || (size(axis) == 2 && place(router, axis) == 0);
  return one;
}

FabricShape Torus::shape() const {
  FabricShape shape;
  shape.hosts = nhosts();
  FabricTier nics{.name = "NIC - router", .rate = fastest_nic()};
  for (int host = 0; host < nhosts(); ++host) nics.cables += nics_of(host);
  std::int64_t cables = 0;
  int longest = 0;
  int links = 0;
  for (int axis = 0; axis < naxes(); ++axis) {
    if (size(axis) > size(longest)) longest = axis;
    cables += size(axis) > 2 ? routers() : size(axis) == 2 ? routers() / 2 : 0;
    links += size(axis) > 2 ? 2 : size(axis) - 1;
  }
  const double out = links * rate_.value;
  const double in = most_nics() * fastest_nic().value;
  shape.levels.push_back(
      {"router", routers(),
       fmt::format("{}, {}", plural(static_cast<std::size_t>(most_nics()), "NIC", "NICs"),
                   plural(static_cast<std::size_t>(links), "link", "links"))});
  shape.tiers.push_back(std::move(nics));
  shape.tiers.push_back({"router - router", cables, rate_, out > 0 ? in / out : 1});
  // Cutting the longest axis in half crosses each of its rings twice, or once if a ring of two has one cable.
  const int across = size(longest) > 2 ? 2 : 1;
  const double cut = static_cast<double>(routers()) / size(longest) * across * rate_.value;
  shape.bisection = {size(longest) > 1 ? std::min(cut, all_nics().value / 2)
                                       : all_nics().value / 2};
  return shape;
}

unsigned Torus::shortest(int from, int to, std::uint64_t flow) const {
  unsigned directions = 0;
  for (int axis = 0; axis < naxes(); ++axis) {
    const int ahead = (place(to, axis) - place(from, axis) + size(axis)) % size(axis);
    const bool is_tie = 2 * ahead == size(axis);
    const bool goes_back = is_tie ? (flow >> axis & 1) != 0 : 2 * ahead > size(axis);
    if (goes_back) directions |= 1U << axis;
  }
  return directions;
}

std::vector<int> Torus::steps(int from, int to, const std::vector<int>& axes,
                              unsigned directions) const {
  std::vector<int> links;
  for (const int axis : axes) {
    while (place(from, axis) != place(to, axis)) {
      const bool has_one_cable = size(axis) == 2;
      const bool goes_back =
          has_one_cable ? place(from, axis) == 1 : (directions >> axis & 1U) != 0;
      const int next = moved(from, axis, goes_back ? -1 : 1);
      links.push_back(goes_back ? step(next, axis, Back) : step(from, axis, Ahead));
      from = next;
    }
  }
  return links;
}

FabricRoute Torus::find_route(FabricPort from, FabricPort to, std::uint64_t flow) const {
  const int out = cable(from, Ahead), in = cable(to, Back);
  FabricRoute route;
  if (is_any_down() && !(is_up(out) && is_up(in))) return route;
  // Without a link that is down, the first attempt is the route: the axes in order, each in the shorter direction.
  // Otherwise all orders and directions are tried.
  std::vector<int> axes(dims_.size());
  std::iota(axes.begin(), axes.end(), 0);
  const unsigned first = shortest(from.host, to.host, flow);
  std::vector<int> between = steps(from.host, to.host, axes, first);
  if (is_any_down()) {
    bool found = are_up(between);
    for (unsigned turn = 0; !found && turn < 1U << naxes(); ++turn) {
      std::ranges::sort(axes);
      do {
        between = steps(from.host, to.host, axes, first ^ turn);
        found = are_up(between);
      } while (!found && std::next_permutation(axes.begin(), axes.end()));
    }
    if (!found) return route;
  }
  route.switches = static_cast<int>(between.size()) + 1;
  route.links.push_back(out);
  route.links.insert(route.links.end(), between.begin(), between.end());
  route.links.push_back(in);
  return route;
}

}  // namespace

Result<std::unique_ptr<const Fabric>> make_torus(FabricSettings settings,
                                                 std::vector<FabricHosts> hosts) {
  auto fabric = std::make_unique<Torus>(std::move(settings), std::move(hosts));
  RINGSIDE_TRY(fabric->check());
  return Result<std::unique_ptr<const Fabric>>{std::move(fabric)};
}

}  // namespace ringside
