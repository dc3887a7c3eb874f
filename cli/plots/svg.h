#pragma once

#include <string>

namespace ringside::cli {

/// An SVG drawing. Coordinates are pixels from the upper left corner; text is escaped.
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
  /// Draws an arc below the two points, `depth` px deep.
  void arc(double x1, double x2, double y, double depth, const std::string& colour, double width);
  void circle(double x, double y, double radius, const std::string& fill,
              const std::string& stroke);
  /// anchor  start, middle or end
  void text(double x, double y, const std::string& text, double size, const std::string& anchor,
            const std::string& colour = "#222");

  /// Returns the drawing for inclusion in an HTML page: at most as wide as the page, on its
  /// background. Colours may be variables of the page: var(--ink).
  /// label  description for users who cannot see it
  [[nodiscard]] std::string in_page(double width, double height, const std::string& label) const;

  /// Returns the whole document, with a white background.
  [[nodiscard]] std::string finish(double width, double height) const;

 private:
  std::string body_;
};

}  // namespace ringside::cli
