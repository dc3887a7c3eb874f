#include "gui/draw/palette.h"

#include <array>

namespace ringside::gui {
namespace {

struct Pair {
  ImU32 dark, light;
};

constexpr ImU32 rgb(unsigned hex) {
  return IM_COL32(hex >> 16 & 255U, hex >> 8 & 255U, hex & 255U, 255);
}

// By the number of the ink.
constexpr std::array<Pair, kInks> kColours{{
    {rgb(0x15181d), rgb(0xfbfbf9)},  // page
    {rgb(0x20242b), rgb(0xededea)},  // panel
    {rgb(0x3a414c), rgb(0xc9c9c4)},  // line
    {rgb(0xe8eaed), rgb(0x17191c)},  // text
    {rgb(0x98a0ac), rgb(0x62676e)},  // faint
    {rgb(0x9a6a8c), rgb(0xd9a5c6)},  // call
    {rgb(0x0b8a68), rgb(0x5fc7aa)},  // copy
    {rgb(0x1d7fc0), rgb(0x7fb9e2)},  // send
    {rgb(0x4aa3d8), rgb(0xa9d5f1)},  // receive
    {rgb(0x7a72c9), rgb(0xb9b3ec)},  // pass on
    {rgb(0xd0641c), rgb(0xf0a673)},  // reduce
    {rgb(0x767b83), rgb(0x9a9da2)},  // waiting
    {rgb(0xf0e442), rgb(0xb8860b)},  // now
    {rgb(0x56b4e9), rgb(0x0072b2)},  // chosen
    {rgb(0x2fb489), rgb(0x3fb994)},  // good
    {rgb(0xe69f00), rgb(0xb87a00)},  // warn
    {rgb(0xff5c49), rgb(0xc4301c)},  // bad
    {rgb(0x2f9f7c), rgb(0x009e73)},  // NVLink
    {rgb(0x8a9bb5), rgb(0x66799a)},  // PCIe
    {rgb(0xb287b8), rgb(0xa0609a)},  // network
    {rgb(0xaab2bd), rgb(0x70767f)},  // path
    {rgb(0x4a5260), rgb(0xc3c8cf)},  // compute
    {rgb(0x2b7fa8), rgb(0x8cc4de)},  // calls of the second group
    {rgb(0x9a7b1f), rgb(0xe0c56c)},  // third
    {rgb(0x2f8f6b), rgb(0x86cdb2)},  // fourth
    {rgb(0xa85632), rgb(0xe7ae92)},  // fifth
    {rgb(0x6a63b0), rgb(0xb7b2e4)},  // sixth
}};

}  // namespace

ImU32 colour_of(Ink ink, bool is_dark) {
  const Pair& pair = kColours[static_cast<std::size_t>(ink)];
  return is_dark ? pair.dark : pair.light;
}

ImU32 colour_of(Ink ink, bool is_dark, float opacity) {
  const auto alpha = static_cast<ImU32>(opacity * 255.0F);
  return (colour_of(ink, is_dark) & ~IM_COL32_A_MASK) | (alpha << IM_COL32_A_SHIFT);
}

void set_style(bool is_dark, float scale) {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  if (is_dark) {
    ImGui::StyleColorsDark(&style);
  } else {
    ImGui::StyleColorsLight(&style);
  }
  const auto set = [&](ImGuiCol which, Ink ink) {
    style.Colors[which] = ImGui::ColorConvertU32ToFloat4(colour_of(ink, is_dark));
  };
  set(ImGuiCol_WindowBg, Ink::Page);
  set(ImGuiCol_PopupBg, Ink::Panel);
  set(ImGuiCol_Text, Ink::Text);
  set(ImGuiCol_TextDisabled, Ink::Faint);
  set(ImGuiCol_Border, Ink::Line);
  set(ImGuiCol_FrameBg, Ink::Panel);
  set(ImGuiCol_Button, Ink::Panel);
  set(ImGuiCol_TableHeaderBg, Ink::Panel);
  set(ImGuiCol_TableBorderLight, Ink::Line);
  style.WindowBorderSize = 0;
  style.WindowRounding = 0;
  style.FrameRounding = 3;
  style.ScaleAllSizes(scale);
}

}  // namespace ringside::gui
