#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace ringside::gui {

/// Draws frames where nobody looks, by EGL without a surface, and writes the last one.
///
/// draw    called between ImGui's NewFrame and Render, a few times: sizes of ImGui's parts settle
/// errors  Unsupported: no EGL that draws without a display; System: the file cannot be written
Status write_screenshot(const std::string& path, int width, int height, float scale,
                        const std::function<void()>& draw);

}  // namespace ringside::gui
