#include "gui/model/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/text.h"
#include "base/wording.h"

namespace ringside::gui {
namespace {

constexpr std::size_t kMostBoxes = 24;
constexpr int kUnplaced = -1;

/// Ranks that wait in one call for the same ranks.
struct WaitBox {
  std::vector<int> ranks;
  std::vector<std::size_t> behind;  ///< boxes that it waits for
  std::string at;
  bool is_culprit = false;
  bool is_dead = false;
  int column = kUnplaced;  ///< 0: not blocked; else one more than the box that it waits for
  float x0 = 0, y0 = 0;
};

std::vector<WaitBox> boxes_of(const std::vector<WaitingRank>& ranks) {
  std::map<std::tuple<bool, std::vector<int>, std::string, bool>, std::size_t> places;
  std::vector<WaitBox> boxes;
  std::map<int, std::size_t> box_of;
  for (const WaitingRank& one : ranks) {
    const auto [place, is_new] =
        places.try_emplace({one.is_culprit, one.for_whom, one.at, one.is_dead}, boxes.size());
    if (is_new) {
      boxes.push_back({.ranks = {},
                       .behind = {},
                       .at = one.at,
                       .is_culprit = one.is_culprit,
                       .is_dead = one.is_dead});
    }
    boxes[place->second].ranks.push_back(one.rank);
    box_of[one.rank] = place->second;
  }
  for (const auto& [key, number] : places) {
    for (const int rank : std::get<1>(key)) {
      const auto found = box_of.find(rank);
      if (found != box_of.end()) boxes[number].behind.push_back(found->second);
    }
    std::ranges::sort(boxes[number].behind);
    const auto [first, last] = std::ranges::unique(boxes[number].behind);
    boxes[number].behind.erase(first, last);
  }
  return boxes;
}

/// Places boxes that are not blocked at the right; in a cycle without such a box, the culprits, or else the first.
/// returns  the columns
int place_in_columns(std::vector<WaitBox>& boxes) {
  std::vector<std::size_t> now;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].behind.empty()) now.push_back(i);
  }
  int column = 0;
  for (std::size_t placed = 0; placed < boxes.size();) {
    if (now.empty()) {
      const auto is_free = [](const WaitBox& box) { return box.column == kUnplaced; };
      auto start = std::ranges::find_if(
          boxes, [&](const WaitBox& box) { return is_free(box) && box.is_culprit; });
      if (start == boxes.end()) start = std::ranges::find_if(boxes, is_free);
      now.push_back(static_cast<std::size_t>(start - boxes.begin()));
    }
    for (const std::size_t i : now) boxes[i].column = column;
    placed += now.size();
    now.clear();
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const auto is_placed = [&](std::size_t other) { return boxes[other].column != kUnplaced; };
      if (boxes[i].column == kUnplaced && std::ranges::any_of(boxes[i].behind, is_placed)) {
        now.push_back(i);
      }
    }
    ++column;
  }
  return column;
}

/// Where the line from the middle of a box towards a point leaves it.
struct Edge {
  float x, y;
};
Edge edge_of(const WaitBox& box, float width, float height, float to_x, float to_y) {
  const float x = box.x0 + width / 2;
  const float y = box.y0 + height / 2;
  const float across = std::abs(to_x - x) / (width / 2);
  const float up = std::abs(to_y - y) / (height / 2);
  const float share = 1 / std::max({across, up, 1e-3F});
  return {x + (to_x - x) * share, y + (to_y - y) * share};
}

}  // namespace

void draw_waits(const std::vector<WaitingRank>& ranks, const Canvas& canvas, Picture& into) {
  std::vector<WaitBox> boxes = boxes_of(ranks);
  if (std::ranges::all_of(boxes, [](const WaitBox& box) { return box.behind.empty(); })) return;
  const int columns = place_in_columns(boxes);
  const float line = canvas.line;
  const float height = 2.6F * line;
  const float space = canvas.width / static_cast<float>(columns);
  const float width = std::min(space * 0.72F, 36 * canvas.letter);
  std::vector<int> in_column(static_cast<std::size_t>(columns), 0);
  for (const WaitBox& box : boxes) ++in_column[static_cast<std::size_t>(box.column)];
  const int most = std::min<int>(std::ranges::max(in_column), kMostBoxes);
  const float top = into.height + 1.5F * line;
  const float whole = static_cast<float>(most) * 1.4F * height;
  into.words.push_back(
      {.x = 0, .y = into.height, .ink = Ink::Faint, .text = "which rank waits for which"});
  std::vector<int> taken(static_cast<std::size_t>(columns), 0);
  for (WaitBox& box : boxes) {
    const auto column = static_cast<std::size_t>(box.column);
    const int rows = std::min<int>(in_column[column], kMostBoxes);
    const float apart = whole / static_cast<float>(rows);
    box.x0 = static_cast<float>(columns - 1 - box.column) * space + (space - width) / 2;
    box.y0 = top + (static_cast<float>(taken[column]++) + 0.5F) * apart - height / 2;
  }
  const auto is_shown = [&](const WaitBox& box) { return box.y0 < top + whole; };
  std::size_t hidden = 0;
  for (const WaitBox& box : boxes) {
    if (!is_shown(box)) {
      ++hidden;
      continue;
    }
    const Ink ink = box.is_culprit ? Ink::Bad : box.behind.empty() ? Ink::Good : Ink::Waiting;
    into.boxes.push_back({box.x0, box.y0, box.x0 + width, box.y0 + height, ink, Fill::Soft});
    into.boxes.push_back({box.x0, box.y0, box.x0 + width, box.y0 + height, ink, Fill::Outline});
    const float middle = box.x0 + width / 2;
    into.words.push_back({.x = middle,
                          .y = box.y0 + 0.2F * line,
                          .width = width,
                          .align = Words::Align::Middle,
                          .text = fmt::format("rank{} {}", box.ranks.size() == 1 ? "" : "s",
                                              format_ranks(box.ranks))});
    into.words.push_back({.x = middle,
                          .y = box.y0 + 1.3F * line,
                          .width = width,
                          .align = Words::Align::Middle,
                          .ink = Ink::Faint,
                          .text = box.is_dead          ? "its process has ended"
                                  : !box.at.empty()    ? box.at
                                  : box.behind.empty() ? "is not blocked"
                                                       : "waits"});
    into.spots.push_back(
        {box.x0,
         box.y0,
         box.x0 + width,
         box.y0 + height,
         {Target::Kind::Rank, static_cast<std::uint32_t>(box.ranks.front()), 0, 0}});
    for (const std::size_t other : box.behind) {
      const WaitBox& to = boxes[other];
      if (&to == &box || !is_shown(to)) continue;
      const Edge from = edge_of(box, width, height, to.x0 + width / 2, to.y0 + height / 2);
      const Edge end = edge_of(to, width, height, box.x0 + width / 2, box.y0 + height / 2);
      into.strokes.push_back({.x0 = from.x,
                              .y0 = from.y,
                              .x1 = end.x,
                              .y1 = end.y,
                              .width = 1.5F,
                              .ink = to.is_culprit ? Ink::Bad : Ink::Text,
                              .has_head = true});
    }
  }
  into.height = top + whole;
  if (hidden > 0) {
    into.words.push_back(
        {.x = 0, .y = into.height, .ink = Ink::Faint, .text = fmt::format("{} more", hidden)});
    into.height += 1.5F * line;
  }
}

}  // namespace ringside::gui
