#include "gui/model/views/topology_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>

#include "base/text.h"
#include "base/vocabulary.h"
#include "base/wording.h"
#include "gui/model/machine_layout.h"

namespace ringside::gui {
namespace {

constexpr int kMostDots = 600;

}  // namespace

class TopologyView::Frame {
 public:
  Frame(const Document& document, const CallFacts& call, const Traffic* traffic, const State& state,
        const Canvas& canvas, Panel& into)
      : document_(document),
        machine_(document.surround.ways.get()),
        call_(call),
        traffic_(traffic),
        state_(state),
        canvas_(canvas),
        panel_(into),
        into_(into.picture) {}

  void run() {
    std::int32_t ranks = 0;
    for (const LaneKey& lane : document_.replay->lanes()) {
      if (lane.communicator != call_.communicator) continue;
      ranks = std::max(ranks, std::min(lane.rank, kMostRanks - 1) + 1);
      is_cut_ |= lane.rank >= kMostRanks;
    }
    gpus_.resize(static_cast<std::size_t>(ranks));
    const float top = canvas_.line * 0.4F;
    if (machine_ == nullptr) {
      circle(ranks, top);
    } else {
      layout_ = lay_out(*machine_, canvas_, top);
      radius_ = layout_.radius;
      parts();
    }
    if (traffic_ != nullptr) {
      switches();
      loads();
      overlay();
      dots();
      panel_.lines.push_back(words());
      panel_.lines.push_back(limits());
    } else {
      panel_.show_preparing(title_of(document_, call_));
    }
    for (std::int32_t rank = 0; rank < ranks; ++rank) gpu(rank);
    if (is_cut_)
      panel_.lines.push_back(
          fmt::format("Only ranks 0 to {}, and the chunks between them.", kMostRanks - 1));
  }

 private:
  [[nodiscard]] std::string words() const {
    const std::int32_t channel = state_.channel.value_or(0);
    return fmt::format("{}{}: {} in flight; arrows: channel {}, {}",
                       document_.surround.machine.empty() ? "" : document_.surround.machine + ", ",
                       title_of(document_, call_),
                       plural(static_cast<std::size_t>(moving_), "chunk", "chunks"), channel,
                       has_switch_ ? "to the switch and from it" : "the rank that it sends to");
  }

  /// Returns the meaning of the lines, and the busiest of them.
  [[nodiscard]] std::string limits() const {
    const std::string last = format_time(Seconds{Nanoseconds{window()}});
    if (document_.replay->statistics().primitives == 0)
      return "The trace has whole calls without their steps: what moves is not recorded.";
    if (machine_ == nullptr) {
      return fmt::format("width: bytes in the last {}, orange the most", last);
    }
    std::string text = fmt::format("width: load in the last {}, orange above 85 %", last);
    if (fullest_) {
      text += fmt::format("; fullest: {} -> {}, {:.0f} % of {}",
                          machine_->title_of(fullest_->first), machine_->title_of(fullest_->second),
                          100 * fullest_share_, format_bandwidth({machine_->rate(*fullest_)}));
    }
    return text;
  }

  // ---- places --------------------------------------------------------------------------------

  void circle(std::int32_t ranks, float top) {
    const Point middle{canvas_.width / 2, (canvas_.height + top) / 2};
    const float radius =
        std::max(20.0F, std::min(canvas_.width, canvas_.height - top) / 2 - canvas_.line * 1.5F);
    radius_ = std::clamp(radius * 2.2F / static_cast<float>(std::max(ranks, 1)), 3.0F,
                         canvas_.line * 1.1F);
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const float angle =
          2 * std::numbers::pi_v<float> * static_cast<float>(rank) / static_cast<float>(ranks) -
          std::numbers::pi_v<float> / 2;
      gpus_[static_cast<std::size_t>(rank)] = {middle.x + radius * std::cos(angle),
                                               middle.y + radius * std::sin(angle)};
    }
  }

  void parts() {
    for (const MachineLayout::NodeBox& node : layout_.nodes) {
      Box box{node.x0, node.y0, node.x1, node.y1, Ink::Panel, Fill::Solid};
      into_.boxes.push_back(box);
      box.ink = Ink::Line;
      box.fill = Fill::Outline;
      into_.boxes.push_back(box);
      if (node.y1 - node.y0 <= canvas_.line * 5) continue;
      into_.words.push_back({.x = node.x0 + 6,
                             .y = node.is_turned ? node.y1 - canvas_.line - 3 : node.y0 + 3,
                             .width = node.x1 - node.x0 - 12,
                             .ink = Ink::Faint,
                             .text = machine_->node_title(node.node)});
    }
    const auto& places = machine_->places();
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      if (places[i].kind != MachinePlace::Kind::Gpu) {
        part(places[i], i);
      } else if (places[i].rank >= 0 && places[i].rank < std::ssize(gpus_)) {
        gpus_[static_cast<std::size_t>(places[i].rank)] = layout_.at[i];
      }
    }
  }

  void part(const MachinePlace& place, std::uint32_t number) {
    const Point at = layout_.at[number];
    const float half = layout_.half[number];
    const float tall = place.node < 0 ? canvas_.line * 0.65F : layout_.tall;
    const Ink ink =
        place.kind == MachinePlace::Kind::NvSwitch ? Ink::Nvlink
        : place.kind == MachinePlace::Kind::Nic || place.kind == MachinePlace::Kind::Fabric
            ? Ink::Network
            : Ink::Pcie;
    plate(at, half, tall, ink);
    into_.spots.push_back(
        {at.x - half, at.y - tall, at.x + half, at.y + tall, {Target::Kind::Place, number, 0, 0}});
    if (tall < canvas_.line * 0.5F) return;
    // The whole name, or the part that distinguishes it from its neighbours, or nothing.
    const auto fits = [&](std::string_view text) {
      return static_cast<float>(text.size() + 1) * canvas_.letter < 2 * half;
    };
    std::string text = place.name;
    if (!fits(text) && place.node >= 0)
      text = fmt::format("{} {}", text.substr(0, text.find(' ')), numbers_in(text, false));
    if (!fits(text)) text = numbers_in(place.name, place.kind == MachinePlace::Kind::Fabric);
    if (text.empty() || !fits(text)) return;
    into_.words.push_back({.x = at.x,
                           .y = at.y - canvas_.line * 0.5F,
                           .width = 2 * half,
                           .align = Words::Align::Middle,
                           .text = std::move(text)});
  }

  /// An opaque box: lines that lead to it do not cross its name.
  void plate(Point at, float half, float tall, Ink ink) {
    for (const Box& box :
         {Box{at.x - half, at.y - tall, at.x + half, at.y + tall, Ink::Page},
          Box{at.x - half, at.y - tall, at.x + half, at.y + tall, ink, Fill::Soft}})
      into_.plates.push_back(box);
  }

  /// Returns the numbers of `rail 5 leaf 0`: 5.0, or the last one alone.
  static std::string numbers_in(std::string_view name, bool wants_all) {
    std::string text;
    bool was_digit = false;
    for (const char letter : name) {
      const bool is_digit = letter >= '0' && letter <= '9';
      if (is_digit && !was_digit && !text.empty()) {
        if (wants_all) text += '.';
        if (!wants_all) text.clear();
      }
      if (is_digit) text += letter;
      was_digit = is_digit;
    }
    return text;
  }

  void gpu(std::int32_t rank) {
    const Point at = gpus_[static_cast<std::size_t>(rank)];
    into_.discs.push_back({at.x, at.y, radius_, Ink::Panel, Fill::Solid});
    into_.discs.push_back(
        {at.x, at.y, radius_, is_culprit(rank) ? Ink::Bad : Ink::Text, Fill::Outline});
    std::string text = fmt::format("{}", rank);
    const bool fits = static_cast<float>(text.size()) * canvas_.letter < 1.7F * radius_ &&
                      canvas_.line < 2.1F * radius_;
    if (fits) {
      into_.words.push_back({.x = at.x,
                             .y = at.y - canvas_.line / 2,
                             .align = Words::Align::Middle,
                             .text = std::move(text)});
    }
    into_.spots.push_back({at.x - radius_,
                           at.y - radius_,
                           at.x + radius_,
                           at.y + radius_,
                           {Target::Kind::Rank, static_cast<std::uint32_t>(rank), 0, 0}});
  }

  [[nodiscard]] bool is_culprit(std::int32_t rank) const {
    return std::ranges::any_of(document_.findings, [&](const Finding& finding) {
      return finding.weight == Finding::Weight::Fault &&
             std::ranges::find(finding.ranks, rank) != finding.ranks.end();
    });
  }

  // ---- ways ----------------------------------------------------------------------------------

  [[nodiscard]] bool are_placed(std::int32_t from, std::int32_t to) const {
    const auto size = static_cast<std::int32_t>(gpus_.size());
    return from >= 0 && to >= 0 && from < size && to < size;
  }

  [[nodiscard]] std::span<const std::uint32_t> way(const Transfer& one) const {
    return machine_ == nullptr ? std::span<const std::uint32_t>{}
                               : machine_->way(one.from, one.to, one.channel);
  }

  [[nodiscard]] const AtSwitch* switch_of(std::int32_t rank) const {
    const auto place = static_cast<std::size_t>(rank);
    return place < traffic_->switches.size() && traffic_->switches[place].group >= 0
               ? &traffic_->switches[place]
               : nullptr;
  }

  /// Returns the switch of a rank whose transfers went through one.
  [[nodiscard]] Point switch_point(std::int32_t rank) const {
    const AtSwitch& at = *switch_of(rank);
    if (at.hop && machine_ != nullptr) return layout_.at[at.hop->second];
    return middles_.at(at.group);
  }

  [[nodiscard]] float middle_half() const { return 5 * canvas_.letter; }
  [[nodiscard]] float middle_tall() const { return canvas_.line * 0.65F; }

  /// Returns how far the edge of a rank's switch is from its middle, in the direction of the rank.
  [[nodiscard]] float edge_of_switch(std::int32_t rank) const {
    const AtSwitch& at = *switch_of(rank);
    const bool is_place = at.hop && machine_ != nullptr;
    const float half = is_place ? layout_.half[at.hop->second] : middle_half();
    const float tall = is_place ? layout_.tall : middle_tall();
    const Point middle = switch_point(rank);
    const Point gpu = gpus_[static_cast<std::size_t>(rank)];
    const float length = std::max(std::hypot(gpu.x - middle.x, gpu.y - middle.y), 1.0F);
    const float across = std::abs(gpu.x - middle.x) / length;
    const float up = std::abs(gpu.y - middle.y) / length;
    return std::min(half / std::max(across, 1e-3F), tall / std::max(up, 1e-3F));
  }

  /// Where the machine is unknown, a switch is drawn in the middle of its ranks.
  void switches() {
    std::map<std::int32_t, std::vector<Point>> ranks;
    for (std::int32_t rank = 0; rank < std::ssize(gpus_); ++rank) {
      const AtSwitch* const at = switch_of(rank);
      if (at == nullptr) continue;
      has_switch_ = true;
      if (machine_ == nullptr || !at->hop)
        ranks[at->group].push_back(gpus_[static_cast<std::size_t>(rank)]);
    }
    for (const auto& [group, points] : ranks) {
      Point& middle = middles_[group];
      for (const Point& one : points) {
        middle.x += one.x / static_cast<float>(points.size());
        middle.y += one.y / static_cast<float>(points.size());
      }
      const float half = middle_half();
      const float tall = middle_tall();
      plate(middle, half, tall, Ink::Nvlink);
      into_.spots.push_back({middle.x - half, middle.y - tall, middle.x + half, middle.y + tall,
                             panel_.add_tip(name_of_switch(group))});
      into_.words.push_back({.x = middle.x,
                             .y = middle.y - canvas_.line / 2,
                             .width = 2 * half,
                             .align = Words::Align::Middle,
                             .text = "NVSwitch"});
    }
  }

  [[nodiscard]] std::string name_of_switch(std::int32_t group) const {
    std::vector<int> ranks;
    for (std::int32_t rank = 0; rank < std::ssize(gpus_); ++rank) {
      const AtSwitch* const at = switch_of(rank);
      if (at != nullptr && at->group == group) ranks.push_back(rank);
    }
    return fmt::format("NVSwitch of ranks {}: reduces or multicasts what they send",
                       format_ranks(ranks));
  }

  [[nodiscard]] std::vector<Point> corners(const Transfer& one) const {
    if (one.is_by_switch) {
      return {gpus_[static_cast<std::size_t>(one.from)], switch_point(one.from),
              gpus_[static_cast<std::size_t>(one.to)]};
    }
    const auto places = way(one);
    if (!places.empty()) return layout_.corners(places);
    return {gpus_[static_cast<std::size_t>(one.from)], gpus_[static_cast<std::size_t>(one.to)]};
  }

  [[nodiscard]] std::int64_t window() const {
    return std::max<std::int64_t>((call_.time.end_ns - call_.time.begin_ns) / 20, 1);
  }

  /// Returns the bytes of a chunk that crossed in the last moments, if they were spread over its time.
  [[nodiscard]] double bytes_in_window(const Transfer& one) const {
    const std::int64_t end = one.taken_ns == INT64_MAX ? state_.now_ns : one.taken_ns;
    const std::int64_t from = std::max(one.begin_ns, state_.now_ns - window());
    const std::int64_t to = std::min(end, state_.now_ns);
    if (to < from) return 0;
    const auto all = static_cast<double>(std::max<std::int64_t>(end - one.begin_ns, 1));
    const double part = static_cast<double>(std::max<std::int64_t>(to - from, 1)) / all;
    return static_cast<double>(one.bytes) * std::min(part, 1.0);
  }

  void loads() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> bytes;
    traffic_->transfers.for_each_between(
        state_.now_ns - window(), state_.now_ns, [&](const Transfer& one) {
          if (!are_placed(one.from, one.to)) return;
          const double moved = bytes_in_window(one);
          if (moved <= 0) return;
          if (one.is_by_switch) {
            if (one.enters) bytes[hop_to_switch(one.from)] += moved;
            const Machine::Hop back = hop_to_switch(one.to);
            if (one.leaves) bytes[{back.second, back.first}] += moved;
            return;
          }
          const auto places = way(one);
          for (std::size_t i = 1; i < places.size(); ++i)
            bytes[{places[i - 1], places[i]}] += moved;
          // Without a machine the ranks are the places.
          if (places.empty())
            bytes[{kRank | static_cast<std::uint32_t>(one.from),
                   kRank | static_cast<std::uint32_t>(one.to)}] += moved;
        });
    double most = 0;
    for (const auto& [hop, sum] : bytes) most = std::max(most, sum);
    const double seconds = static_cast<double>(window()) * 1e-9;
    std::vector<std::pair<float, Machine::Hop>> lines;
    for (const auto& [hop, sum] : bytes) {
      const double rate = machine_ == nullptr ? 0 : machine_->rate(hop);
      const double share = rate > 0 ? sum / (rate * seconds) : sum / most;
      if (rate > 0 && (!fullest_ || share > fullest_share_)) {
        fullest_ = hop;
        fullest_share_ = std::min(share, 1.0);
      }
      lines.emplace_back(static_cast<float>(std::min(share, 1.0)), hop);
    }
    // Drawn last, so that the busier direction is visible.
    std::ranges::sort(lines);
    for (const auto& [share, hop] : lines) stroke(hop, share, bytes.at(hop) / seconds);
  }

  /// From a rank to its switch; for a rank if the machine's places are unknown.
  [[nodiscard]] Machine::Hop hop_to_switch(std::int32_t rank) const {
    const AtSwitch& at = *switch_of(rank);
    if (at.hop && machine_ != nullptr) return *at.hop;
    return {kRank | static_cast<std::uint32_t>(rank),
            kRank | kMiddle | static_cast<std::uint32_t>(at.group)};
  }

  /// Returns the position of a place that belongs to no machine.
  [[nodiscard]] Point point_of(std::uint32_t place) const {
    const std::uint32_t number = place & ~(kRank | kMiddle);
    return (place & kMiddle) != 0 ? middles_.at(static_cast<std::int32_t>(number)) : gpus_[number];
  }

  /// Returns the name of a hop's end.
  [[nodiscard]] std::string name_of(std::uint32_t place) const {
    if ((place & kMiddle) != 0) return "NVSwitch";
    if ((place & kRank) != 0) return fmt::format("rank {}", place & ~kRank);
    return machine_->title_of(place);
  }

  /// rate  of the last moments, bytes/s
  void stroke(Machine::Hop hop, float share, double rate) {
    Point a;
    Point b;
    // A trace of ranks alone does not state what connects them. A switch that reduces is an NVSwitch.
    Ink ink = (hop.first & kMiddle) != 0 || (hop.second & kMiddle) != 0 ? Ink::Nvlink : Ink::Path;
    if ((hop.first & kRank) != 0) {
      a = point_of(hop.first);
      b = point_of(hop.second);
    } else {
      a = layout_.at[hop.first];
      b = layout_.at[hop.second];
      if (layout_.bar[hop.first]) a.x = b.x;
      if (layout_.bar[hop.second]) b.x = a.x;
      ink = ink_of(hop);
    }
    if (share > 0.85F) ink = Ink::Reduce;
    const float most = std::clamp(radius_ * 0.7F, 2.0F, 7.0F);
    std::string tip = fmt::format("{} -> {}: {}", name_of(hop.first), name_of(hop.second),
                                  format_bandwidth({rate}));
    if (machine_ != nullptr && machine_->rate(hop) > 0) {
      tip += fmt::format(", {:.0f} % of {}", 100 * share, format_bandwidth({machine_->rate(hop)}));
    }
    into_.strokes.push_back(
        {a.x, a.y, b.x, b.y, 1 + (most - 1) * share, ink, false, panel_.add_tip(std::move(tip))});
  }

  [[nodiscard]] Ink ink_of(Machine::Hop hop) const {
    const auto kind = [&](std::uint32_t place) { return machine_->places()[place].kind; };
    const auto is_either = [&](MachinePlace::Kind one) {
      return kind(hop.first) == one || kind(hop.second) == one;
    };
    if (is_either(MachinePlace::Kind::Fabric)) return Ink::Network;
    if (is_either(MachinePlace::Kind::Pci) || is_either(MachinePlace::Kind::Cpu) ||
        is_either(MachinePlace::Kind::Nic)) {
      return Ink::Pcie;
    }
    return Ink::Nvlink;
  }

  void overlay() {
    const std::int32_t channel = state_.channel.value_or(0);
    const auto edges = std::ranges::equal_range(traffic_->edges, channel, {}, &Edge::channel);
    // If each rank sends to all others, or among so many ranks, lines cannot be followed by eye.
    constexpr std::size_t kMostRanksApart = 256;
    const bool are_apart = gpus_.size() <= kMostRanksApart && edges.size() <= 3 * gpus_.size();
    for (const Edge& edge : edges) {
      const std::int32_t rank = edge.from == kSwitch ? edge.to : edge.from;
      if (edge.from != kSwitch && edge.to != kSwitch) {
        if (are_placed(edge.from, edge.to)) {
          arrow(gpus_[static_cast<std::size_t>(edge.from)],
                gpus_[static_cast<std::size_t>(edge.to)], radius_, radius_, are_apart);
        }
      } else if (are_placed(rank, rank) && switch_of(rank) != nullptr) {
        const Point gpu = gpus_[static_cast<std::size_t>(rank)];
        const Point middle = switch_point(rank);
        const float edge_px = edge_of_switch(rank);
        if (edge.from == kSwitch) {
          arrow(middle, gpu, edge_px, radius_, false);
        } else {
          arrow(gpu, middle, radius_, edge_px, false);
        }
      }
    }
  }

  /// from_a, to_b  distances from the ends at which the shapes there end
  void arrow(Point a, Point b, float from_a, float to_b, bool goes_around) {
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    if (length < from_a + to_b + 4) return;
    // Bends around others in between, as from the last rank of a row back to the first.
    const bool is_bent = goes_around && is_another_between(a, b);
    const float aside = is_bent ? std::max(0.24F * length, 4 * radius_) : 0;
    // The curve bends half as far as its control point; keep it within the canvas.
    const float off_y = (b.x - a.x) / length * aside;
    const float mean_y = (a.y + b.y) / 2;
    const Point middle{
        (a.x + b.x) / 2 - (b.y - a.y) / length * aside,
        mean_y + std::clamp(off_y, -2 * mean_y, 2 * std::max(canvas_.height - mean_y, 0.0F))};
    const auto at = [&](float part) {
      const float left = 1 - part;
      return Point{left * left * a.x + 2 * left * part * middle.x + part * part * b.x,
                   left * left * a.y + 2 * left * part * middle.y + part * part * b.y};
    };
    const float first = (from_a + 2) / length;
    const float rest = 1 - first - (to_b + 2) / length;
    const int pieces = is_bent ? 12 : 1;
    for (int i = 0; i < pieces; ++i) {
      const auto part = [&](int piece) {
        return first + rest * static_cast<float>(piece) / static_cast<float>(pieces);
      };
      const Point p = at(part(i));
      const Point q = at(part(i + 1));
      into_.strokes.push_back(
          {p.x, p.y, q.x, q.y, radius_ > 8 ? 1.5F : 0.8F, Ink::Chosen, i + 1 == pieces});
    }
  }

  [[nodiscard]] bool is_another_between(Point a, Point b) const {
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    const Point along{(b.x - a.x) / length, (b.y - a.y) / length};
    return std::ranges::any_of(gpus_, [&](Point p) {
      const float part = (p.x - a.x) * along.x + (p.y - a.y) * along.y;
      const float off = std::abs((p.y - a.y) * along.x - (p.x - a.x) * along.y);
      return off < radius_ && part > radius_ && part < length - radius_;
    });
  }

  void dots() {
    traffic_->transfers.for_each_between(
        state_.now_ns + 1, state_.now_ns, [&](const Transfer& one) {
          if (!are_placed(one.from, one.to)) return;
          const std::int64_t end = one.taken_ns == INT64_MAX ? call_.time.end_ns + 1 : one.taken_ns;
          const float part = static_cast<float>(state_.now_ns - one.begin_ns) /
                             static_cast<float>(std::max<std::int64_t>(end - one.begin_ns, 1));
          if (one.is_by_switch && !(part < 0.5F ? one.enters : one.leaves)) return;
          ++moving_;
          if (moving_ > kMostDots) return;
          const Point at = one.is_by_switch ? along_switched(one, part)
                                            : along(corners(one), std::clamp(part, 0.0F, 1.0F));
          const float radius = std::clamp(radius_ * 0.32F, 1.5F, 6.0F);
          // Its edge keeps it apart from an orange line.
          into_.discs.push_back({at.x, at.y, radius + 1.2F, Ink::Page, Fill::Solid});
          into_.discs.push_back({at.x, at.y, radius, Ink::Now, Fill::Solid});
        });
  }

  /// Half of the time to the switch, half of it from there.
  [[nodiscard]] Point along_switched(const Transfer& one, float part) const {
    const std::vector<Point> all = corners(one);
    const std::size_t leg = part < 0.5F ? 0 : 1;
    return along({all[leg], all[leg + 1]},
                 std::clamp(2 * part - static_cast<float>(leg), 0.0F, 1.0F));
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

  /// Marks a hop's end that is a rank instead of a place
  static constexpr std::uint32_t kRank = 1U << 31;
  static constexpr std::uint32_t kMiddle = 1U << 30;  ///< in addition: the switch of that group

  const Document& document_;
  const Machine* machine_;  ///< null: unknown, ranks are drawn on a circle
  const CallFacts& call_;
  const Traffic* traffic_;  ///< null: being computed, only the ranks are drawn
  const State& state_;
  const Canvas& canvas_;
  Panel& panel_;
  Picture& into_;
  MachineLayout layout_;
  std::vector<Point> gpus_;  ///< [rank]
  float radius_ = 8;
  /// [group]: position of a switch if the machine is unknown
  std::map<std::int32_t, Point> middles_;
  bool has_switch_ = false;
  bool is_cut_ = false;  ///< there are more ranks
  int moving_ = 0;
  std::optional<Machine::Hop> fullest_;
  double fullest_share_ = 0;
};

void TopologyView::prepare(const std::shared_ptr<const Document>& document, const State& state,
                           const Canvas& canvas, Panel& into) {
  const CallFacts* const call = document->call_at(state.now_ns);
  if (call == nullptr) {
    into.lines.emplace_back("The trace has no collective, so nothing moves.");
    return;
  }
  const Traffic* const traffic = traffic_.of(document, call);
  Frame(*document, *call, traffic, state, canvas, into).run();
}

}  // namespace ringside::gui
