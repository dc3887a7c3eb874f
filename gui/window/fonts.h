#pragma once

namespace ringside::gui {

/// Loads a scalable font if the system has a known one; otherwise ImGui's default font.
void load_fonts(float scale);

}  // namespace ringside::gui
