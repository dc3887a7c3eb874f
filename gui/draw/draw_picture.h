#pragma once

#include <imgui.h>

#include "gui/model/picture.h"

namespace ringside::gui {

/// The shapes of a picture, with its corner at `origin`.
void draw_picture(ImDrawList& list, const Picture& picture, ImVec2 origin, bool is_dark);

}  // namespace ringside::gui
