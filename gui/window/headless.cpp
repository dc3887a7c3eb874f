#include "gui/window/headless.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_impl_opengl3.h>
#include <stb/stb_image_write.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/write_file.h"
#include "gui/window/fonts.h"

namespace ringside::gui {
namespace {

Error no_egl(const char* what) {
  return {
      ErrorCode::Unsupported,
      fmt::format("no picture without a display: {} (EGL error 0x{:x})", what, eglGetError()),
      "Mesa's EGL draws anywhere (libegl1, libgl1-mesa-dri); ringside gui --print shows what is "
      "seen as text"};
}

/// A GL context that needs no display.
class Offscreen {
 public:
  static Result<std::unique_ptr<Offscreen>> make(int width, int height) {
    std::unique_ptr<Offscreen> made(new Offscreen);
    const auto get_display = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
        eglGetProcAddress("eglGetPlatformDisplayEXT"));
    if (get_display == nullptr) return no_egl("no platforms");
    made->display_ = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (made->display_ == EGL_NO_DISPLAY ||
        eglInitialize(made->display_, nullptr, nullptr) == EGL_FALSE) {
      return no_egl("no surfaceless platform");
    }
    constexpr std::array<EGLint, 13> kConfig{EGL_SURFACE_TYPE,
                                             EGL_PBUFFER_BIT,
                                             EGL_RENDERABLE_TYPE,
                                             EGL_OPENGL_BIT,
                                             EGL_RED_SIZE,
                                             8,
                                             EGL_GREEN_SIZE,
                                             8,
                                             EGL_BLUE_SIZE,
                                             8,
                                             EGL_ALPHA_SIZE,
                                             8,
                                             EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    if (eglChooseConfig(made->display_, kConfig.data(), &config, 1, &count) == EGL_FALSE ||
        count < 1)
      return no_egl("no such pixels");
    const std::array<EGLint, 5> size{EGL_WIDTH, width, EGL_HEIGHT, height, EGL_NONE};
    made->surface_ = eglCreatePbufferSurface(made->display_, config, size.data());
    eglBindAPI(EGL_OPENGL_API);
    constexpr std::array<EGLint, 7> kContext{EGL_CONTEXT_MAJOR_VERSION,
                                             3,
                                             EGL_CONTEXT_MINOR_VERSION,
                                             3,
                                             EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                             EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                             EGL_NONE};
    made->context_ = eglCreateContext(made->display_, config, EGL_NO_CONTEXT, kContext.data());
    if (made->context_ == EGL_NO_CONTEXT) return no_egl("no OpenGL 3.3");
    if (eglMakeCurrent(made->display_, made->surface_, made->surface_, made->context_) == EGL_FALSE)
      return no_egl("no context");
    return made;
  }
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;
  ~Offscreen() {
    if (display_ == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
    if (surface_ != EGL_NO_SURFACE) eglDestroySurface(display_, surface_);
    eglTerminate(display_);
  }

 private:
  Offscreen() = default;
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLSurface surface_ = EGL_NO_SURFACE;
  EGLContext context_ = EGL_NO_CONTEXT;
};

/// RGB, the uppermost row first.
void read_pixels(int width, int height, std::vector<unsigned char>& below,
                 std::vector<unsigned char>& pixels) {
  const auto row = static_cast<std::size_t>(width) * 3;
  below.resize(row * static_cast<std::size_t>(height));
  pixels.resize(below.size());
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, below.data());
  // GL counts rows from below.
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
    std::memcpy(&pixels[y * row], &below[(static_cast<std::size_t>(height) - 1 - y) * row], row);
  }
}

/// In memory first: the library's own writer does not notice a full disk.
std::string png_of(std::span<const unsigned char> pixels, int width, int height) {
  std::string png;
  const auto append = [](void* text, void* bytes, int size) {
    static_cast<std::string*>(text)->append(static_cast<const char*>(bytes),
                                            static_cast<std::size_t>(size));
  };
  const int made = stbi_write_png_to_func(append, &png, width, height, 3, pixels.data(), width * 3);
  RINGSIDE_ASSERT(made != 0, "a picture of {} x {} pixels", width, height);
  return png;
}

}  // namespace

Status start_drawing() {
  if (ImGui_ImplOpenGL3_Init("#version 330")) return {};
  return Error{ErrorCode::Unsupported, "nothing can be drawn: libGL.so.1 cannot be loaded",
               "install it (Debian: libgl1); ringside gui --print shows what is seen as text"};
}

struct Headless::Impl {
  int width = 0, height = 0;
  std::unique_ptr<Offscreen> offscreen;
  std::vector<unsigned char> below, pixels;
};

Headless::Headless(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Headless>> Headless::make(int width, int height, float scale) {
  auto impl = std::make_unique<Impl>();
  impl->width = width;
  impl->height = height;
  RINGSIDE_TRY(impl->offscreen, Offscreen::make(width, height));
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  io.MousePos = {-1, -1};
  load_fonts(scale);
  if (Status started = start_drawing(); !started) {
    ImGui::DestroyContext();
    return started.error();
  }
  return std::unique_ptr<Headless>(new Headless(std::move(impl)));
}

Headless::~Headless() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
}

std::span<const unsigned char> Headless::frame(const std::function<void()>& draw) {
  ImGui::GetIO().DeltaTime = 1.0F / 60;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  draw();
  ImGui::Render();
  glViewport(0, 0, impl_->width, impl_->height);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glFinish();
  read_pixels(impl_->width, impl_->height, impl_->below, impl_->pixels);
  return impl_->pixels;
}

Status write_screenshot(const std::string& path, int width, int height, float scale,
                        const std::function<void()>& draw) {
  RINGSIDE_TRY(const auto headless, Headless::make(width, height, scale));
  for (int i = 1; i < kSettlingFrames; ++i) headless->frame(draw);
  const std::span<const unsigned char> pixels = headless->frame(draw);
  return write_file(path, png_of(pixels, width, height));
}

}  // namespace ringside::gui
