#pragma once

#include <imgui.h>

#include "gui/model/picture.h"

namespace ringside::gui {

/// Returns a colour that readers with common colour deficiencies can distinguish, on dark and on
/// light.
/// source  Okabe and Ito, "Color Universal Design", 2008
ImU32 colour_of(Ink ink, bool is_dark);

/// Returns the colour with an opacity of 0 .. 1.
ImU32 colour_of(Ink ink, bool is_dark, float opacity);

/// Sets the colours of ImGui's own widgets (buttons, tables).
void set_style(bool is_dark, float scale);

}  // namespace ringside::gui
