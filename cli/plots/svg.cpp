#include "cli/plots/svg.h"

#include <fmt/format.h>

#include "base/markup.h"

namespace ringside::cli {

void Svg::box(const Box& box, const std::string& fill, const std::string& stroke, double rounding) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:g}\" fill=\"{}\" "
      "stroke=\"{}\"/>\n",
      box.x, box.y, box.width, box.height, rounding, fill, stroke);
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& colour, double width,
               const std::string& dashes) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
      "stroke-width=\"{:g}\"{}/>\n",
      x1, y1, x2, y2, colour, width,
      dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

void Svg::arc(double x1, double x2, double y, double depth, const std::string& colour,
              double width) {
  body_ += fmt::format(
      "<path d=\"M {:.1f} {:.1f} C {:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" "
      "stroke=\"{}\" stroke-width=\"{:g}\"/>\n",
      x1, y, x1, y + depth, x2, y + depth, x2, y, colour, width);
}

void Svg::circle(double x, double y, double radius, const std::string& fill,
                 const std::string& stroke) {
  body_ +=
      fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" fill=\"{}\" stroke=\"{}\"/>\n", x,
                  y, radius, fill, stroke);
}

void Svg::text(double x, double y, const std::string& text, double size, const std::string& anchor,
               const std::string& colour) {
  body_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" text-anchor=\"{}\" "
      "fill=\"{}\">{}</text>\n",
      x, y, size, anchor, colour, escaped_markup(text));
}

std::string Svg::in_page(double width, double height, const std::string& label) const {
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" style=\"width:100%;max-width:{0:.0f}px;height:auto\" "
      "role=\"img\" aria-label=\"{2}\" font-family=\"system-ui,sans-serif\">\n{3}</svg>\n",
      width, height, escaped_markup(label), body_);
}

std::string Svg::finish(double width, double height) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
      width, height, body_);
}

}  // namespace ringside::cli
