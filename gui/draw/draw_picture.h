#pragma once

#include <imgui.h>

#include "gui/model/picture.h"

namespace ringside::gui {

/// Draws the shapes of a picture, with its upper left corner at `origin`.
void draw_picture(ImDrawList& list, const Picture& picture, ImVec2 origin, bool is_dark);

}  // namespace ringside::gui
