#include "gui/draw/draw_picture.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "gui/draw/palette.h"

namespace ringside::gui {
namespace {

class Pen {
 public:
  Pen(ImDrawList& list, ImVec2 origin, bool is_dark)
      : list_(list), origin_(origin), is_dark_(is_dark) {}

  void draw(const Box& box) const {
    const ImVec2 from = at(box.x0, box.y0);
    const ImVec2 to = at(box.x1, box.y1);
    switch (box.fill) {
      case Fill::Solid:
        list_.AddRectFilled(from, to, colour_of(box.ink, is_dark_));
        return;
      case Fill::Soft:
        list_.AddRectFilled(from, to, colour_of(box.ink, is_dark_, 0.5F));
        return;
      case Fill::Outline:
        list_.AddRect(from, to, colour_of(box.ink, is_dark_), 0, 0,
                      box.ink == Ink::Chosen ? 2.0F : 1.0F);
        return;
      case Fill::Hatched:
        hatch(from, to, box.ink);
        return;
    }
  }

  void draw(const Stroke& stroke) const {
    const ImVec2 from = at(stroke.x0, stroke.y0);
    const ImVec2 to = at(stroke.x1, stroke.y1);
    const ImU32 colour = colour_of(stroke.ink, is_dark_);
    list_.AddLine(from, to, colour, stroke.width);
    if (!stroke.has_head) return;
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    if (length < 2) return;
    const float size = std::min(length, 5 + 2 * stroke.width);
    const ImVec2 along{(to.x - from.x) / length * size, (to.y - from.y) / length * size};
    const ImVec2 base{to.x - along.x, to.y - along.y};
    list_.AddTriangleFilled(to, {base.x - along.y * 0.45F, base.y + along.x * 0.45F},
                            {base.x + along.y * 0.45F, base.y - along.x * 0.45F}, colour);
  }

  void draw(const Disc& disc) const {
    const ImU32 colour = colour_of(disc.ink, is_dark_, disc.fill == Fill::Soft ? 0.5F : 1.0F);
    if (disc.fill == Fill::Outline) {
      list_.AddCircle(at(disc.x, disc.y), disc.radius, colour, 0, 1.5F);
    } else {
      list_.AddCircleFilled(at(disc.x, disc.y), disc.radius, colour);
    }
  }

  void draw(const Words& words) const {
    const char* const first = words.text.data();
    const char* last = first + words.text.size();
    ImVec2 size = ImGui::CalcTextSize(first, last);
    ImVec2 place = at(words.x, words.y);
    const bool is_cut = words.width > 0 && size.x > words.width;
    if (words.align == Words::Align::Middle && !is_cut) place.x -= size.x / 2;
    if (words.align == Words::Align::Middle && is_cut) place.x -= words.width / 2;
    if (words.align == Words::Align::Right) place.x -= is_cut ? words.width : size.x;
    if (!is_cut) {
      list_.AddText(place, colour_of(words.ink, is_dark_), first, last);
      return;
    }
    // As many letters as fit before the dots; without room for the dots, no text.
    constexpr const char* kDots = "...";
    const float room = words.width - ImGui::CalcTextSize(kDots).x;
    if (room <= 0) return;
    ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), room, 0, first, last, &last);
    const std::string cut = std::string(first, last) + kDots;
    list_.AddText(place, colour_of(words.ink, is_dark_), cut.data(), cut.data() + cut.size());
  }

 private:
  [[nodiscard]] ImVec2 at(float x, float y) const { return {origin_.x + x, origin_.y + y}; }

  /// Slanted lines, clipped to the box by arithmetic: clip rectangles would cost a draw call each.
  void hatch(ImVec2 from, ImVec2 to, Ink ink) const {
    list_.AddRectFilled(from, to, colour_of(ink, is_dark_, 0.25F));
    constexpr float kApart = 5;
    const ImU32 colour = colour_of(ink, is_dark_, 0.8F);
    const float height = to.y - from.y;
    // On one grid for the whole window: the pattern does not move when boxes do.
    const float first = std::floor((from.x - height) / kApart) * kApart;
    constexpr float kMost = 4000;
    const float last = std::min(to.x, first + kMost * kApart);
    for (float x = first; x < last; x += kApart) {
      const float left = std::max(x, from.x);
      const float right = std::min(x + height, to.x);
      if (left >= right) continue;
      list_.AddLine({left, to.y - (left - x)}, {right, to.y - (right - x)}, colour);
    }
  }

  ImDrawList& list_;
  ImVec2 origin_;
  bool is_dark_;
};

}  // namespace

void draw_picture(ImDrawList& list, const Picture& picture, ImVec2 origin, bool is_dark) {
  const Pen pen(list, origin, is_dark);
  for (const Box& box : picture.boxes) pen.draw(box);
  for (const Stroke& stroke : picture.strokes) pen.draw(stroke);
  for (const Box& plate : picture.plates) pen.draw(plate);
  for (const Disc& disc : picture.discs) pen.draw(disc);
  for (const Words& words : picture.words) pen.draw(words);
}

}  // namespace ringside::gui
