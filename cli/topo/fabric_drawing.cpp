#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/plots/svg.h"
#include "cli/topo/drawing_labels.h"
#include "cli/topo/fabric_text.h"
#include "study/explain/fabric_picture.h"

namespace ringside::cli {
namespace {

using study::FabricPicture;

constexpr int kFewSwitches = 8;  ///< switches shown per row without --all
constexpr double kMargin = 24, kTitle = 40, kNames = 170;
constexpr double kBox = 88, kGap = 12, kHeight = 30, kRowHeight = 130;
constexpr const char* kSwitchFill = "#D6E6F5";
constexpr const char* kHostFill = "#DCEBC8";
constexpr const char* kWire = "#777777";
constexpr const char* kLess = "#D55E00";  ///< source  Okabe and Ito's palette

std::string title_of(const study::AskedFabric& asked) {
  const FabricSettings& settings = asked.fabric->settings();
  std::string text = fmt::format("{}: {}", asked.cluster.file.name, to_string(settings.kind));
  if (settings.rails != Rails::None) text += fmt::format(", rails {}", to_string(settings.rails));
  return text + fmt::format(", bisection {}", format_bandwidth(asked.fabric->shape().bisection));
}

/// "8 x 400 Gbit/s", and the share that is left of it.
std::string label_of(const FabricPicture::Line& line) {
  std::string text = fmt::format("{} x {}", line.cables, gbits({line.built.value / line.cables}));
  if (line.share < 1)
    text += line.share > 0 ? fmt::format(", {:g} % left", 100 * line.share) : ", down";
  return text;
}

std::string draw_dot(const study::AskedFabric& asked, const FabricPicture& picture) {
  std::string text = fmt::format(
      "graph fabric {{\n  label={};\n  labelloc=t;\n  node [shape=box, style=filled, "
      "fontsize=10];\n"
      "  edge [fontsize=8];\n",
      dot_quoted(title_of(asked)));
  for (std::size_t row = picture.rows.size(); row-- > 0;) {
    const FabricPicture::Row& one = picture.rows[row];
    text += "  { rank=same;\n";
    for (std::size_t i = 0; i < one.boxes.size(); ++i) {
      text += fmt::format("    r{}_{} [label={}, fillcolor=\"{}\"];\n", row, i,
                          dot_quoted(one.boxes[i]), row == 0 ? kHostFill : kSwitchFill);
    }
    const std::int64_t hidden = one.count - std::ssize(one.boxes);
    if (hidden > 0) {
      text += fmt::format("    r{}_more [label=\"{} more\", shape=plaintext, style=\"\"];\n", row,
                          hidden);
    }
    text += "  }\n";
  }
  for (const FabricPicture::Line& line : picture.lines) {
    // The upper row first: Graphviz puts it above.
    text += fmt::format("  r{}_{} -- r{}_{} [label={}{}];\n", line.to.row, line.to.index,
                        line.from.row, line.from.index, dot_quoted(label_of(line)),
                        line.share < 1 ? fmt::format(", color=\"{}\", style=dashed", kLess) : "");
  }
  return text + "}\n";
}

class SvgPicture {
 public:
  explicit SvgPicture(const FabricPicture& picture) : picture_(picture) {
    for (const FabricPicture::Row& row : picture.rows) {
      widest_ = std::max(widest_, static_cast<double>(row.boxes.size() + (is_cut(row) ? 1 : 0)));
    }
  }

  std::string run(const std::string& title) {
    svg_.text(kMargin, kMargin, title, 14, "start");
    for (const FabricPicture::Line& line : picture_.lines) draw(line);
    for (std::size_t row = 0; row < picture_.rows.size(); ++row) draw_row(static_cast<int>(row));
    const bool is_any_less = std::ranges::any_of(
        picture_.lines, [](const FabricPicture::Line& line) { return line.share < 1; });
    const double bottom = top_of(0) + kHeight;
    if (is_any_less)
      svg_.text(kMargin, bottom + 24, "dashed: degraded, or down", 11, "start", kLess);
    return svg_.finish(left() + widest_ * (kBox + kGap) + kMargin, bottom + kMargin + 16);
  }

 private:
  static bool is_cut(const FabricPicture::Row& row) { return row.count > std::ssize(row.boxes); }
  static double left() { return kMargin + kNames; }

  [[nodiscard]] double top_of(int row) const {
    const auto above = static_cast<double>(std::ssize(picture_.rows) - 1 - row);
    return kMargin + kTitle + above * kRowHeight;
  }

  [[nodiscard]] Svg::Box box_of(const FabricPicture::Box& place) const {
    const FabricPicture::Row& row = picture_.rows[static_cast<std::size_t>(place.row)];
    const double boxes = static_cast<double>(row.boxes.size()) + (is_cut(row) ? 1 : 0);
    const double each = widest_ * (kBox + kGap) / boxes;
    return {left() + each * place.index + (each - kBox) / 2, top_of(place.row), kBox, kHeight};
  }

  void draw_row(int number) {
    const FabricPicture::Row& row = picture_.rows[static_cast<std::size_t>(number)];
    const double y = top_of(number);
    svg_.text(kMargin, y + 12, fmt::format("{} x {}", row.count, row.name), 12, "start");
    if (!row.holds.empty()) svg_.text(kMargin, y + 28, row.holds, 10, "start", "#555");
    for (std::size_t i = 0; i < row.boxes.size(); ++i) {
      const Svg::Box box = box_of({number, static_cast<int>(i)});
      svg_.box(box, number == 0 ? kHostFill : kSwitchFill);
      svg_.text(box.centre(), y + 19, row.boxes[i], row.boxes[i].size() > 14 ? 8 : 10, "middle");
    }
    if (!is_cut(row)) return;
    const Svg::Box box = box_of({number, static_cast<int>(row.boxes.size())});
    svg_.text(box.centre(), y + 19, fmt::format("{} more", row.count - std::ssize(row.boxes)), 10,
              "middle", "#555");
  }

  void draw(const FabricPicture::Line& line) {
    const Svg::Box from = box_of(line.from), to = box_of(line.to);
    const bool is_less = line.share < 1;
    const double width = std::min(1 + 0.5 * (line.cables - 1), 4.0);
    if (line.from.row == line.to.row) {
      const double apart = std::abs(to.centre() - from.centre());
      const double depth = std::min(14 + apart / 12, kRowHeight - kHeight - 10);
      svg_.arc(from.centre(), to.centre(), from.bottom(), depth, is_less ? kLess : kWire, width);
      return;
    }
    svg_.line(from.centre(), from.y, to.centre(), to.bottom(), is_less ? kLess : kWire, width,
              is_less ? "6 4" : "");
  }

  const FabricPicture& picture_;
  Svg svg_;
  double widest_ = 1;
};

}  // namespace

Result<std::string> draw_fabric(const std::string& format, const study::AskedFabric& asked,
                                bool all) {
  constexpr std::string_view kFormats[] = {"ascii", "dot", "svg"};
  if (format != kFormats[1] && format != kFormats[2]) {
    return Error{ErrorCode::InvalidArgument, fmt::format("unknown drawing '{}'", format),
                 suggestion(format, kFormats)};
  }
  const FabricPicture picture = study::fabric_picture(*asked.fabric, all ? 0 : kFewSwitches);
  if (format == kFormats[1]) return draw_dot(asked, picture);
  return SvgPicture(picture).run(title_of(asked));
}

}  // namespace ringside::cli
