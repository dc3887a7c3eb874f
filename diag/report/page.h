#pragma once

#include <string>
#include <string_view>

namespace ringside::report {

/// Builds an HTML page without external files, in the light or dark scheme of the reader's system: first the head with
/// the shared styles, then the added parts in order.
///
///     Page page("ringside audit", "ringside audit");
///     page.begin_fields();
///     page.field("job", "8 ranks");
///     page.end_fields();
///     write(std::move(page).finish());
class Page {
 public:
  /// style  CSS rules of this page, after the shared ones
  Page(std::string_view title, std::string_view heading, std::string_view style = "");

  /// Appends markup without escaping it. Pass text from a file through escaped_markup() first.
  Page& operator+=(std::string_view markup);

  /// Begins a list of names and texts. field() appends one pair, both escaped; it omits a pair without text.
  void begin_fields() { *this += "<dl>\n"; }
  void field(std::string_view name, std::string_view text);
  void end_fields() { *this += "</dl>\n"; }

  /// Appends a box with escaped text, whose line breaks are kept.
  void box(std::string_view text);

  /// Returns the complete page.
  [[nodiscard]] std::string finish() &&;

 private:
  std::string text_;
};

}  // namespace ringside::report
