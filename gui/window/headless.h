#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace ringside::gui {

/// Number of frames until ImGui's widgets have their final sizes.
inline constexpr int kSettlingFrames = 4;

/// Starts ImGui's drawing in the current GL context.
/// errors  Unsupported: libGL.so.1, which ImGui loads, is missing
Status start_drawing();

/// Draws without a display, with surfaceless EGL.
///
/// Threads  one; only one object at a time, as ImGui has one context
class Headless {
 public:
  /// width, height  pixels
  /// errors  Unsupported: EGL cannot draw without a display; as start_drawing()
  static Result<std::unique_ptr<Headless>> make(int width, int height, float scale);
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;
  ~Headless();

  /// Draws one frame.
  /// draw     called between ImGui's NewFrame and Render
  /// returns  RGB pixels, upper row first; valid until the next frame
  std::span<const unsigned char> frame(const std::function<void()>& draw);

 private:
  struct Impl;
  explicit Headless(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Draws a few frames and writes the last one to an image file.
/// errors  as Headless::make(); System: the file cannot be written
Status write_screenshot(const std::string& path, int width, int height, float scale,
                        const std::function<void()>& draw);

}  // namespace ringside::gui
