#pragma once

namespace ringside::gui {

/// Loads a scalable font, if the system has a known one; else ImGui's own.
void load_fonts(float scale);

}  // namespace ringside::gui
