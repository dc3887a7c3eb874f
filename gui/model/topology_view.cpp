#include "gui/model/topology_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "base/text.h"
#include "base/vocabulary.h"
#include "base/wording.h"

namespace ringside::gui {
namespace {

constexpr int kMostDots = 600;
constexpr std::int32_t kMostRanks = 2048;

}  // namespace

class TopologyView::Frame {
  struct Point {
    float x = 0, y = 0;
    friend auto operator<=>(const Point&, const Point&) = default;
  };

  struct Place {
    Point gpu;
    Point hub;  ///< its node's NVSwitch, or the middle of its node
    Point nic;
    std::int32_t node = -1;  ///< -1: on a circle, among no nodes
  };

 public:
  Frame(const Document& document, const CallFacts& call, const Transfers& transfers,
        const State& state, const Canvas& canvas, Panel& into)
      : document_(document),
        call_(call),
        transfers_(transfers),
        state_(state),
        canvas_(canvas),
        panel_(into),
        into_(into.picture) {}

  void run() {
    std::int32_t ranks = 0;
    for (const LaneKey& lane : document_.replay->lanes()) {
      if (lane.communicator == call_.communicator)
        ranks = std::max(ranks, std::min(lane.rank, kMostRanks - 1) + 1);
    }
    ranks = std::min(ranks, kMostRanks);
    top_ = canvas_.line * 2.2F;
    if (document_.surround.node_of.empty()) {
      circle(ranks);
    } else {
      nodes(ranks);
    }
    loads();
    overlay();
    dots();
    for (std::int32_t rank = 0; rank < ranks; ++rank) gpu(rank);
    panel_.lines.push_back(words());
  }

 private:
  [[nodiscard]] std::string words() const {
    const std::int32_t channel = state_.channel.value_or(0);
    return fmt::format(
        "{}{}: {} on the way; blue arrows: channel {}; width: bytes in the last {}, orange the "
        "most",
        document_.surround.machine.empty() ? "" : document_.surround.machine + ", ",
        title_of(call_), plural(static_cast<std::size_t>(moving_), "chunk", "chunks"), channel,
        format_time(Seconds{Nanoseconds{window()}}));
  }

  // ---- places --------------------------------------------------------------------------------

  void circle(std::int32_t ranks) {
    const Point middle{canvas_.width / 2, (canvas_.height + top_) / 2};
    const float radius =
        std::max(20.0F, std::min(canvas_.width, canvas_.height - top_) / 2 - canvas_.line * 2);
    radius_ = std::clamp(radius * 2.2F / static_cast<float>(std::max(ranks, 1)), 3.0F,
                         canvas_.line * 1.1F);
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const float angle =
          2 * std::numbers::pi_v<float> * static_cast<float>(rank) / static_cast<float>(ranks) -
          std::numbers::pi_v<float> / 2;
      const Point at{middle.x + radius * std::cos(angle), middle.y + radius * std::sin(angle)};
      places_.push_back({.gpu = at, .hub = middle, .nic = at});
    }
  }

  void nodes(std::int32_t ranks) {
    const Surround& surround = document_.surround;
    std::map<std::int32_t, std::vector<std::int32_t>> members;
    places_.resize(static_cast<std::size_t>(ranks));
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      members[i < surround.node_of.size() ? surround.node_of[i] : 0].push_back(rank);
    }
    const auto count = static_cast<float>(members.size());
    const float net = members.size() > 1 ? canvas_.line * 2.5F : 0;
    const float height = canvas_.height - top_ - net;
    const float columns = std::clamp(
        std::ceil(std::sqrt(count * canvas_.width / std::max(height, 1.0F))), 1.0F, count);
    const float rows = std::ceil(count / columns);
    const float width = canvas_.width / columns;
    const float each = height / rows;
    net_y_ = canvas_.height - net * 0.6F;
    std::size_t number = 0;
    for (const auto& [node, own] : members) {
      const float x = width * static_cast<float>(number % static_cast<std::size_t>(columns));
      const float y = top_ + each * static_cast<float>(number / static_cast<std::size_t>(columns));
      lay_node(node, own, {x + 8, y + 4, x + width - 8, y + each - 10}, members.size() > 1);
      ++number;
    }
    if (members.size() > 1) {
      into_.boxes.push_back(
          {16, net_y_, canvas_.width - 16, net_y_ + canvas_.line * 1.2F, Ink::Panel, Fill::Solid});
      into_.boxes.push_back({16, net_y_, canvas_.width - 16, net_y_ + canvas_.line * 1.2F,
                             Ink::Network, Fill::Outline});
      into_.words.push_back({.x = canvas_.width / 2,
                             .y = net_y_ + 2,
                             .align = Words::Align::Middle,
                             .text = "network"});
    }
  }

  void lay_node(std::int32_t node, const std::vector<std::int32_t>& own, Box box,
                bool has_network) {
    box.ink = Ink::Panel;
    into_.boxes.push_back(box);
    box.ink = Ink::Line;
    box.fill = Fill::Outline;
    into_.boxes.push_back(box);
    into_.words.push_back({.x = box.x0 + 6,
                           .y = box.y0 + 3,
                           .width = box.x1 - box.x0 - 12,
                           .ink = Ink::Faint,
                           .text = fmt::format("node {}", node)});
    const float width = box.x1 - box.x0;
    const float height = box.y1 - box.y0;
    const auto gpus = static_cast<float>(own.size());
    const Point hub{(box.x0 + box.x1) / 2, box.y0 + height * 0.22F};
    const float step = width / gpus;
    radius_ = std::clamp(step * 0.3F, 2.0F, canvas_.line * 1.1F);
    if (document_.surround.has_nvswitch) {
      const float half = std::min(width * 0.35F, canvas_.letter * 16);
      into_.boxes.push_back({hub.x - half, hub.y - canvas_.line * 0.7F, hub.x + half,
                             hub.y + canvas_.line * 0.7F, Ink::Nvlink, Fill::Soft});
      into_.words.push_back({.x = hub.x,
                             .y = hub.y - canvas_.line * 0.5F,
                             .width = 2 * half,
                             .align = Words::Align::Middle,
                             .text = "NVSwitch"});
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      const float x = box.x0 + step * (static_cast<float>(i) + 0.5F);
      const Point gpu{x, box.y0 + height * 0.65F};
      const Point nic{x, box.y1 - std::min(canvas_.line, height * 0.1F)};
      places_[static_cast<std::size_t>(own[i])] = {gpu, hub, nic, node};
      if (!has_network) continue;
      const float half = std::min(step * 0.3F, canvas_.letter * 2.2F);
      into_.boxes.push_back({nic.x - half, nic.y - canvas_.line * 0.6F, nic.x + half,
                             nic.y + canvas_.line * 0.6F, Ink::Network, Fill::Soft});
      if (half > canvas_.letter * 1.6F) {
        into_.words.push_back({.x = nic.x,
                               .y = nic.y - canvas_.line * 0.5F,
                               .width = 2 * half,
                               .align = Words::Align::Middle,
                               .ink = Ink::Faint,
                               .text = "NIC"});
      }
    }
  }

  void gpu(std::int32_t rank) {
    const Point at = places_[static_cast<std::size_t>(rank)].gpu;
    into_.discs.push_back({at.x, at.y, radius_, Ink::Panel, Fill::Solid});
    into_.discs.push_back(
        {at.x, at.y, radius_, is_accused(rank) ? Ink::Bad : Ink::Text, Fill::Outline});
    if (radius_ > canvas_.letter) {
      into_.words.push_back({.x = at.x,
                             .y = at.y - canvas_.line / 2,
                             .align = Words::Align::Middle,
                             .text = fmt::format("{}", rank)});
    }
    into_.spots.push_back({at.x - radius_,
                           at.y - radius_,
                           at.x + radius_,
                           at.y + radius_,
                           {Target::Kind::Rank, static_cast<std::uint32_t>(rank), 0, 0}});
  }

  [[nodiscard]] bool is_accused(std::int32_t rank) const {
    return std::ranges::any_of(document_.findings, [&](const Finding& finding) {
      return finding.weight == Finding::Weight::Fault &&
             std::ranges::find(finding.ranks, rank) != finding.ranks.end();
    });
  }

  // ---- ways ----------------------------------------------------------------------------------

  [[nodiscard]] bool are_placed(const Transfer& one) const {
    const auto size = static_cast<std::int32_t>(places_.size());
    return one.from >= 0 && one.to >= 0 && one.from < size && one.to < size;
  }

  /// The corners of a chunk's way.
  [[nodiscard]] std::vector<Point> way(std::int32_t from, std::int32_t to) const {
    const Place& a = places_[static_cast<std::size_t>(from)];
    const Place& b = places_[static_cast<std::size_t>(to)];
    if (a.node < 0) return {a.gpu, b.gpu};
    if (a.node == b.node) return {a.gpu, a.hub, b.gpu};
    return {a.gpu, a.nic, {a.nic.x, net_y_}, {b.nic.x, net_y_}, b.nic, b.gpu};
  }

  [[nodiscard]] std::int64_t window() const {
    return std::max<std::int64_t>((call_.time.end_ns - call_.time.begin_ns) / 20, 1);
  }

  [[nodiscard]] bool is_nic(Point at) const {
    return net_y_ > 0 && std::ranges::any_of(places_, [&](const Place& place) {
             return place.node >= 0 && place.nic == at;
           });
  }

  void loads() {
    std::map<std::pair<Point, Point>, double> bytes;
    double most = 0;
    for (const Transfer& one : transfers_.all) {
      if (one.begin_ns > state_.now_ns) break;
      const std::int64_t end = one.taken_ns == INT64_MAX ? state_.now_ns : one.taken_ns;
      if (!are_placed(one) || end < state_.now_ns - window()) continue;
      const std::vector<Point> corners = way(one.from, one.to);
      for (std::size_t i = 1; i < corners.size(); ++i) {
        double& sum = bytes[std::minmax(corners[i - 1], corners[i])];
        sum += static_cast<double>(one.bytes);
        most = std::max(most, sum);
      }
    }
    for (const auto& [ends, sum] : bytes) {
      const auto& [a, b] = ends;
      const auto share = static_cast<float>(sum / most);
      const bool is_network =
          is_nic(a) || is_nic(b) || (net_y_ > 0 && a.y == net_y_ && b.y == net_y_);
      const Ink ink = share > 0.85F ? Ink::Reduce : is_network ? Ink::Network : Ink::Nvlink;
      into_.strokes.push_back({a.x, a.y, b.x, b.y, 1 + 6 * share, ink, false});
    }
  }

  void overlay() {
    const std::int32_t channel = state_.channel.value_or(0);
    std::set<std::pair<std::int32_t, std::int32_t>> drawn;
    for (const Transfer& one : transfers_.all) {
      if (one.channel != channel || !are_placed(one) || !drawn.insert({one.from, one.to}).second)
        continue;
      const Point a = places_[static_cast<std::size_t>(one.from)].gpu;
      const Point b = places_[static_cast<std::size_t>(one.to)].gpu;
      const float length = std::hypot(b.x - a.x, b.y - a.y);
      if (length < 2 * radius_ + 2) continue;
      const float cut = (radius_ + 2) / length;
      into_.strokes.push_back({a.x + (b.x - a.x) * cut, a.y + (b.y - a.y) * cut,
                               b.x - (b.x - a.x) * cut, b.y - (b.y - a.y) * cut, 1.5F, Ink::Chosen,
                               true});
    }
  }

  void dots() {
    for (const Transfer& one : transfers_.all) {
      if (one.begin_ns > state_.now_ns) break;
      if (!are_placed(one) || one.taken_ns <= state_.now_ns) continue;
      ++moving_;
      if (moving_ > kMostDots) continue;
      const std::int64_t end = one.taken_ns == INT64_MAX ? call_.time.end_ns + 1 : one.taken_ns;
      const float part = static_cast<float>(state_.now_ns - one.begin_ns) /
                         static_cast<float>(std::max<std::int64_t>(end - one.begin_ns, 1));
      const Point at = along(way(one.from, one.to), std::clamp(part, 0.0F, 1.0F));
      into_.discs.push_back(
          {at.x, at.y, std::clamp(radius_ * 0.45F, 2.5F, 7.0F), Ink::Now, Fill::Solid});
    }
  }

  static Point along(const std::vector<Point>& corners, float part) {
    float all = 0;
    for (std::size_t i = 1; i < corners.size(); ++i)
      all += std::hypot(corners[i].x - corners[i - 1].x, corners[i].y - corners[i - 1].y);
    float left = all * part;
    for (std::size_t i = 1; i < corners.size(); ++i) {
      const Point a = corners[i - 1];
      const Point b = corners[i];
      const float length = std::hypot(b.x - a.x, b.y - a.y);
      if (left <= length && length > 0)
        return {a.x + (b.x - a.x) * left / length, a.y + (b.y - a.y) * left / length};
      left -= length;
    }
    return corners.back();
  }

  const Document& document_;
  const CallFacts& call_;
  const Transfers& transfers_;
  const State& state_;
  const Canvas& canvas_;
  Panel& panel_;
  Picture& into_;
  std::vector<Place> places_;  ///< [rank]
  float radius_ = 8;
  float net_y_ = 0;
  float top_ = 0;
  int moving_ = 0;
};

void TopologyView::prepare(const Document& document, const State& state, const Canvas& canvas,
                           Panel& into) {
  const CallFacts* const call = document.call_at(state.now_ns);
  if (call == nullptr) {
    into.lines.emplace_back("The trace has no collective, so nothing moves.");
    return;
  }
  if (document_ != &document || !has_call_ || communicator_ != call->communicator ||
      sequence_ != call->sequence) {
    document_ = &document;
    has_call_ = true;
    communicator_ = call->communicator;
    sequence_ = call->sequence;
    transfers_ = transfers_of(document, *call);
  }
  Frame(document, *call, transfers_, state, canvas, into).run();
}

}  // namespace ringside::gui
