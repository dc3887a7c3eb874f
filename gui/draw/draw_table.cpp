#include "gui/draw/draw_table.h"

#include <imgui.h>

#include <algorithm>

#include "gui/draw/palette.h"

namespace ringside::gui {
namespace {

void draw_cell(const Cell& cell, bool is_dark) {
  if (cell.bar > 0) {
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x * std::min(cell.bar, 1.0F);
    ImGui::GetWindowDrawList()->AddRectFilled(from,
                                              {from.x + width, from.y + ImGui::GetTextLineHeight()},
                                              colour_of(cell.bar_ink, is_dark, 0.4F));
  }
  ImGui::PushStyleColor(ImGuiCol_Text, colour_of(cell.ink, is_dark));
  ImGui::TextWrapped("%s", cell.text.c_str());
  ImGui::PopStyleColor();
}

}  // namespace

Target draw_table(const Table& table, int number, bool is_dark) {
  Target clicked;
  std::size_t columns = table.head.size();
  for (const Table::Row& row : table.rows) columns = std::max(columns, row.cells.size());
  ImGui::Spacing();
  ImGui::PushStyleColor(ImGuiCol_Text, colour_of(Ink::Chosen, is_dark));
  ImGui::TextUnformatted(table.title.c_str());
  ImGui::PopStyleColor();
  ImGui::PushID(number);
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp;
  if (columns > 0 && ImGui::BeginTable("table", static_cast<int>(columns), kFlags)) {
    const bool has_head =
        std::ranges::any_of(table.head, [](const std::string& name) { return !name.empty(); });
    for (const std::string& name : table.head) ImGui::TableSetupColumn(name.c_str());
    if (has_head) ImGui::TableHeadersRow();
    int line = 0;
    for (const Table::Row& row : table.rows) {
      ImGui::TableNextRow();
      ImGui::PushID(line++);
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        ImGui::TableNextColumn();
        if (i == 0 && row.target.kind != Target::Kind::None) {
          constexpr ImGuiSelectableFlags kWhole =
              ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap;
          if (ImGui::Selectable("##row", false, kWhole)) clicked = row.target;
          ImGui::SameLine(0, 0);
        }
        draw_cell(row.cells[i], is_dark);
      }
      ImGui::PopID();
    }
    ImGui::EndTable();
  }
  if (!table.note.empty()) ImGui::TextDisabled("%s", table.note.c_str());
  ImGui::PopID();
  return clicked;
}

}  // namespace ringside::gui
