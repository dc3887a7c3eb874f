#pragma once

namespace ringside::gui {

/// A font that scales, where the system has one of those that are known; else ImGui's own.
void load_fonts(float scale);

}  // namespace ringside::gui
