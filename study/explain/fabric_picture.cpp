#include "study/explain/fabric_picture.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ringside::study {
namespace {

constexpr int kHostsOfLeaf = 2;  ///< shown, where not all are

bool is_host(const FabricEnd& end) { return end.parts[0].word == "host"; }

/// Returns the name of the box for one end of a cable. All NICs of a host share the host's box.
std::string name_of(const FabricEnd& end) {
  if (!is_host(end)) return end.text();
  FabricEnd host = end;
  host.count = 1;
  return host.text();
}

/// Makes a picture. It adds first the switches, then the hosts below the shown switches, then the cables between shown
/// devices.
class Painting {
 public:
  Painting(const Fabric& fabric, int most) : fabric_(fabric), most_(most) {}

  FabricPicture run() {
    const FabricShape shape = fabric_.shape();
    picture_.rows.push_back({.name = "host", .count = shape.hosts, .holds = {}, .boxes = {}});
    for (const FabricLevel& level : shape.levels) {
      picture_.rows.push_back({level.name, level.switches, level.holds, {}});
    }
    add_switches();
    add_hosts();
    add_lines();
    for (auto& [ends, line] : lines_) picture_.lines.push_back(line);
    return std::move(picture_);
  }

 private:
  using Box = FabricPicture::Box;

  [[nodiscard]] int row_of(const FabricEnd& end) const {
    if (is_host(end)) return 0;
    const std::string_view word = end.parts[end.count - 1].word;
    for (std::size_t row = 1; row < picture_.rows.size(); ++row) {
      if (picture_.rows[row].name == word) return static_cast<int>(row);
    }
    return 1;  // a torus's router is known by its place
  }

  void add(const FabricEnd& end) {
    const int row = row_of(end);
    auto& boxes = picture_.rows[static_cast<std::size_t>(row)].boxes;
    const std::string name = name_of(end);
    if (known_.try_emplace(name, Box{row, static_cast<int>(boxes.size())}).second) {
      boxes.push_back(name);
    }
  }

  [[nodiscard]] bool has_room(const FabricEnd& end) const {
    const FabricPicture::Row& row = picture_.rows[static_cast<std::size_t>(row_of(end))];
    return most_ == 0 || std::ssize(row.boxes) < most_;
  }

  /// Adds switches in the order of their cables, up to `most_` in a row, so that the shown switches are connected.
  void add_switches() {
    const std::vector<int> starts = fabric_.tier_starts();
    for (std::size_t tier = 0; tier + 1 < starts.size(); ++tier) {
      for (int id = starts[tier]; id < starts[tier + 1]; ++id) {
        const Fabric::Wire wire = fabric_.wire(id);
        if (!wire.is_there) continue;
        for (const FabricEnd* end : {&wire.from, &wire.to}) {
          if (!is_host(*end) && has_room(*end)) add(*end);
        }
      }
    }
  }

  void add_hosts() {
    const std::vector<int> starts = fabric_.tier_starts();
    std::map<std::string, int> shown;  // by switch
    for (int id = starts[0]; id < starts[1]; id += 2) {
      const Fabric::Wire wire = fabric_.wire(id);
      if (!wire.is_there || known_.contains(name_of(wire.from))) continue;
      const std::string leaf = name_of(wire.to);
      if (!known_.contains(leaf)) continue;
      if (most_ != 0 && fabric_.nhosts() > most_ && shown[leaf] == kHostsOfLeaf) continue;
      ++shown[leaf];
      add(wire.from);
    }
  }

  void add_lines() {
    for (int id = 0; id < fabric_.nlinks(); ++id) {
      const Fabric::Wire wire = fabric_.wire(id);
      if (!wire.is_there) continue;
      const auto from = known_.find(name_of(wire.from)), to = known_.find(name_of(wire.to));
      if (from == known_.end() || to == known_.end()) continue;
      if (from->second == to->second) continue;  // within a platform's zone
      const auto [low, high] = std::minmax(from->second, to->second);
      FabricPicture::Line& line = lines_[{low, high}];
      line.from = low;
      line.to = high;
      line.share = std::min(line.share, fabric_.link(id).rate.value / wire.rate.value);
      const bool is_first_direction = from->second == low;
      if (!is_first_direction) continue;
      ++line.cables;
      line.built.value += wire.rate.value;
    }
  }

  const Fabric& fabric_;
  const int most_;
  FabricPicture picture_;
  std::map<std::string, Box> known_;
  std::map<std::pair<Box, Box>, FabricPicture::Line> lines_;
};

}  // namespace

FabricPicture fabric_picture(const Fabric& fabric, int most) {
  return Painting(fabric, most).run();
}

}  // namespace ringside::study
