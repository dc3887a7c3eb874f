#pragma once

#include <string>

namespace ringside::cli {

/// Shapes of a drawing, in pixels from the upper left corner; text is escaped.
class Svg {
 public:
  struct Box {
    double x = 0, y = 0, width = 0, height = 0;
    [[nodiscard]] double centre() const { return x + width / 2; }
    [[nodiscard]] double bottom() const { return y + height; }
  };

  void box(const Box& box, const std::string& fill, const std::string& stroke = "#555",
           double rounding = 4);
  void line(double x1, double y1, double x2, double y2, const std::string& colour, double width,
            const std::string& dashes = "");
  /// A bow below the two points, `depth` deep.
  void arc(double x1, double x2, double y, double depth, const std::string& colour, double width);
  void circle(double x, double y, double radius, const std::string& fill,
              const std::string& stroke);
  /// anchor  start, middle or end
  void text(double x, double y, const std::string& text, double size, const std::string& anchor,
            const std::string& colour = "#222");

  /// For an HTML page that contains it: no wider than the page, on its background; colours may be the page's,
  /// var(--ink).
  /// label  describes it for users who cannot see it
  [[nodiscard]] std::string in_page(double width, double height, const std::string& label) const;

  /// The document, on white.
  [[nodiscard]] std::string finish(double width, double height) const;

 private:
  std::string body_;
};

}  // namespace ringside::cli
