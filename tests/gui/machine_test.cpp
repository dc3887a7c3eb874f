#include "gui/model/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gui/model/machine_layout.h"
#include "gui/model/session/open.h"
#include "gui/model/session/session.h"

namespace ringside::gui {
namespace {

std::shared_ptr<const Document> ring_on(const std::string& on, int nodes) {
  study::SimQuestion question;
  question.calls.collective = "all_reduce";
  question.calls.sizes = "1M";
  question.job.on = on;
  question.job.nodes = nodes;
  question.algorithm = "ring";
  question.protocol = "simple";
  question.channels = 2;
  const auto opened = open_simulation(question);
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? *opened : nullptr;
}

std::vector<MachinePlace::Kind> kinds_of(const Machine& machine,
                                         std::span<const std::uint32_t> way) {
  std::vector<MachinePlace::Kind> kinds;
  for (const std::uint32_t place : way) kinds.push_back(machine.places()[place].kind);
  return kinds;
}

/// Within a node over the NVSwitch; to the next node by PCIe to a NIC, and from a NIC by PCIe.
TEST(Machine, AChunksWayIsThatOfTheSimulation) {
  using Kind = MachinePlace::Kind;
  const auto document = ring_on("dgx-h100", 2);
  ASSERT_NE(document, nullptr);
  ASSERT_NE(document->surround.ways, nullptr);
  const Machine& machine = *document->surround.ways;
  bool crosses = false;
  bool stays = false;
  for (std::int32_t from = 0; from < 16; ++from) {
    for (std::int32_t to = 0; to < 16; ++to) {
      const auto way = machine.way(from, to, 0);
      if (way.empty()) continue;
      EXPECT_EQ(machine.places()[way.front()].rank, from);
      EXPECT_EQ(machine.places()[way.back()].rank, to);
      for (std::size_t i = 1; i < way.size(); ++i)
        EXPECT_GT(machine.rate({way[i - 1], way[i]}), 1e9) << machine.title_of(way[i]);
      const auto kinds = kinds_of(machine, way);
      if (from / 8 == to / 8) {
        stays = true;
        EXPECT_EQ(kinds, (std::vector{Kind::Gpu, Kind::NvSwitch, Kind::Gpu}));
      } else {
        crosses = true;
        EXPECT_EQ(kinds, (std::vector{Kind::Gpu, Kind::Pci, Kind::Nic, Kind::Fabric, Kind::Nic,
                                      Kind::Pci, Kind::Gpu}));
      }
    }
  }
  EXPECT_TRUE(stays && crosses);
}

// The GPUs are in a row, so the ring's last arrow returns to the first GPU around all others, not through them.
TEST(Machine, NoArrowRunsThroughAnotherRank) {
  const auto document = ring_on("dgx-h100", 1);
  ASSERT_NE(document, nullptr);
  Session session;
  session.open(document);
  const Panel& panel = session.prepare(View::Topology, {.width = 1000, .height = 600});
  int arrows = 0;
  for (const Stroke& stroke : panel.picture.strokes) {
    if (stroke.ink != Ink::Chosen) continue;
    arrows += stroke.has_head ? 1 : 0;
    for (const Disc& disc : panel.picture.discs) {
      if (disc.fill != Fill::Outline) continue;
      const float off =
          std::hypot((stroke.x0 + stroke.x1) / 2 - disc.x, (stroke.y0 + stroke.y1) / 2 - disc.y);
      EXPECT_GT(off, disc.radius);
    }
  }
  EXPECT_EQ(arrows, 8);
}

TEST(Machine, ItsPlacesAreDrawnWithinTheCanvas) {
  for (const int nodes : {1, 2, 5}) {
    const auto document = ring_on("dgx-h100", nodes);
    ASSERT_NE(document, nullptr);
    const Canvas canvas{.width = 700, .height = 400};
    const MachineLayout layout = lay_out(*document->surround.ways, canvas, 10);
    EXPECT_EQ(std::ssize(layout.nodes), nodes);
    for (std::size_t i = 0; i < layout.at.size(); ++i) {
      const std::string what = document->surround.ways->title_of(static_cast<std::uint32_t>(i));
      EXPECT_GE(layout.at[i].x - layout.half[i], 0) << what;
      EXPECT_LE(layout.at[i].x + layout.half[i], 700) << what;
      EXPECT_GE(layout.at[i].y, 10) << what;
      EXPECT_LE(layout.at[i].y, 400) << what;
    }
  }
}

// 4 nodes are two lines of two: the fabric is between them, and each NIC is nearer to it than its GPUs are.
TEST(Machine, LinksToTheFabricCrossNoOtherNode) {
  const auto document = ring_on("dgx-h100", 4);
  ASSERT_NE(document, nullptr);
  const Machine& machine = *document->surround.ways;
  const MachineLayout layout = lay_out(machine, {.width = 1300, .height = 750}, 10);
  ASSERT_EQ(layout.nodes.size(), 4U);
  int links = 0;
  for (const auto& [hop, rate] : machine.hops()) {
    const auto [from, to] = hop;
    if (machine.places()[to].kind != MachinePlace::Kind::Fabric) continue;
    ++links;
    const float y0 = std::min(layout.at[from].y, layout.at[to].y);
    const float y1 = std::max(layout.at[from].y, layout.at[to].y);
    for (const MachineLayout::NodeBox& node : layout.nodes) {
      if (node.node == machine.places()[from].node) continue;
      const bool is_in_column = layout.at[from].x >= node.x0 && layout.at[from].x <= node.x1;
      EXPECT_FALSE(is_in_column && node.y0 < y1 && node.y1 > y0) << machine.title_of(from);
    }
  }
  EXPECT_GT(links, 0);
}

TEST(Machine, PartsOfPcieAreNamedAsSuch) {
  const auto document = ring_on("dgx-h100", 2);
  ASSERT_NE(document, nullptr);
  Session session;
  session.open(document);
  session.state().now_ns = moment_of_still(*document);
  const Panel& panel = session.prepare(View::Topology, {.width = 1300, .height = 750});
  const auto has = [&](std::string_view text) {
    return std::ranges::any_of(panel.picture.words,
                               [&](const Words& words) { return words.text == text; });
  };
  EXPECT_TRUE(has("PCI 0"));
  EXPECT_TRUE(has("mlx5_0"));
  const bool has_links = std::ranges::any_of(panel.tips, [](const std::string& tip) {
    return tip.find(" -> ") != std::string::npos && tip.find(" % of ") != std::string::npos;
  });
  EXPECT_TRUE(has_links);
}

}  // namespace
}  // namespace ringside::gui
