#pragma once

#include <imgui.h>

#include "gui/model/picture.h"

namespace ringside::gui {

/// Colours that people with any of the usual colour deficiencies tell apart, on dark and on light.
/// source  Okabe and Ito, "Color Universal Design", 2008
ImU32 colour_of(Ink ink, bool is_dark);

/// The same with so much of it: 0 .. 1.
ImU32 colour_of(Ink ink, bool is_dark, float opacity);

/// ImGui's own parts (buttons, tables), on the same page.
void set_style(bool is_dark, float scale);

}  // namespace ringside::gui
