#pragma once

#include <imgui.h>

#include "gui/model/picture.h"

namespace ringside::gui {

/// Colours that readers with any of the usual colour deficiencies can distinguish, on dark and on light.
/// source  Okabe and Ito, "Color Universal Design", 2008
ImU32 colour_of(Ink ink, bool is_dark);

/// The colour with an opacity of 0 .. 1.
ImU32 colour_of(Ink ink, bool is_dark, float opacity);

/// Sets the colours of ImGui's own parts (buttons, tables).
void set_style(bool is_dark, float scale);

}  // namespace ringside::gui
