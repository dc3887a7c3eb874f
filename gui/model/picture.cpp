#include "gui/model/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "base/append.h"

namespace ringside::gui {
namespace {

constexpr std::array<std::string_view, kInks> kInkNames{
    "page",    "panel",   "line",    "text",    "faint",  "call",   "copy",   "send",   "receive",
    "pass_on", "reduce",  "waiting", "now",     "chosen", "good",   "warn",   "bad",    "nvlink",
    "pcie",    "network", "path",    "compute", "group1", "group2", "group3", "group4", "group5"};
constexpr std::array<std::string_view, 4> kFillNames{"solid", "soft", "hatched", "outline"};

std::string_view name_of(Ink ink) { return kInkNames[static_cast<std::size_t>(ink)]; }
std::string_view name_of(Fill fill) { return kFillNames[static_cast<std::size_t>(fill)]; }

}  // namespace

void Picture::clear() {
  boxes.clear();
  strokes.clear();
  plates.clear();
  discs.clear();
  words.clear();
  spots.clear();
  height = 0;
}

void Panel::clear() {
  lines.clear();
  picture.clear();
  tables.clear();
  tips.clear();
  is_being_prepared = false;
}

void Panel::show_preparing(std::string_view title) {
  is_being_prepared = true;
  lines.push_back(std::string(title) + ": being prepared");
}

Target Panel::add_tip(std::string text) {
  tips.push_back(std::move(text));
  return {Target::Kind::Tip, static_cast<std::uint32_t>(tips.size() - 1), 0, 0};
}

namespace {

bool is_near(const Stroke& stroke, float x, float y) {
  constexpr float kNear = 4;  // px in addition to half of the width
  const float along_x = stroke.x1 - stroke.x0;
  const float along_y = stroke.y1 - stroke.y0;
  const float square = along_x * along_x + along_y * along_y;
  const float part =
      square > 0
          ? std::clamp(((x - stroke.x0) * along_x + (y - stroke.y0) * along_y) / square, 0.0F, 1.0F)
          : 0;
  return std::hypot(x - stroke.x0 - part * along_x, y - stroke.y0 - part * along_y) <=
         stroke.width / 2 + kNear;
}

}  // namespace

Target target_at(const Picture& picture, float x, float y) {
  for (auto spot = picture.spots.rbegin(); spot != picture.spots.rend(); ++spot) {
    if (x >= spot->x0 && x < spot->x1 && y >= spot->y0 && y < spot->y1) return spot->target;
  }
  for (auto stroke = picture.strokes.rbegin(); stroke != picture.strokes.rend(); ++stroke) {
    if (stroke->target.kind != Target::Kind::None && is_near(*stroke, x, y)) return stroke->target;
  }
  return {};
}

std::string to_text(const Panel& panel) {
  std::string text;
  for (const std::string& line : panel.lines) append(text, "line    {}\n", line);
  for (const Box& box : panel.picture.boxes) {
    append(text, "box     {:.1f} {:.1f} {:.1f} {:.1f} {} {}\n", box.x0, box.y0, box.x1, box.y1,
           name_of(box.ink), name_of(box.fill));
  }
  for (const Stroke& one : panel.picture.strokes) {
    append(text, "{} {:.1f} {:.1f} {:.1f} {:.1f} {} {:.1f}\n", one.has_head ? "arrow  " : "stroke ",
           one.x0, one.y0, one.x1, one.y1, name_of(one.ink), one.width);
  }
  for (const Box& plate : panel.picture.plates) {
    append(text, "plate   {:.1f} {:.1f} {:.1f} {:.1f} {} {}\n", plate.x0, plate.y0, plate.x1,
           plate.y1, name_of(plate.ink), name_of(plate.fill));
  }
  for (const Disc& disc : panel.picture.discs) {
    append(text, "disc    {:.1f} {:.1f} {:.1f} {} {}\n", disc.x, disc.y, disc.radius,
           name_of(disc.ink), name_of(disc.fill));
  }
  for (const Words& words : panel.picture.words) {
    append(text, "words   {:.1f} {:.1f} {} {}\n", words.x, words.y, name_of(words.ink), words.text);
  }
  for (const Table& table : panel.tables) {
    append(text, "table   {}\n", table.title);
    std::string head;
    for (const std::string& name : table.head) append(head, " {} |", name);
    append(text, "head   {}\n", head);
    for (const Table::Row& row : table.rows) {
      std::string cells;
      for (const Cell& cell : row.cells) append(cells, " {} |", cell.text);
      append(text, "row    {}\n", cells);
    }
    if (!table.note.empty()) append(text, "note    {}\n", table.note);
  }
  return text;
}

}  // namespace ringside::gui
