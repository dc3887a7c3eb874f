#include "gui/window/fonts.h"

#include <imgui.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace ringside::gui {
namespace {

constexpr float kPixels = 15;
constexpr std::array kFonts{"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                            "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
                            "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
                            "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf"};

}  // namespace

void load_fonts(float scale) {
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  for (const char* const path : kFonts) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    if (io.Fonts->AddFontFromFileTTF(path, kPixels * scale) != nullptr) return;
  }
  io.Fonts->AddFontDefault();
  io.FontGlobalScale = scale;
}

}  // namespace ringside::gui
