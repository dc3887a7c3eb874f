#pragma once

#include <string>
#include <string_view>

namespace ringside::report {

/// One page of HTML without other files, light or dark as the reader's system is: the head and the styles that all
/// pages share, then the added parts, in order.
///
///     Page page("ringside audit", "ringside audit");
///     page.begin_fields();
///     page.field("job", "8 ranks");
///     page.end_fields();
///     write(std::move(page).finish());
class Page {
 public:
  /// style  rules of this page alone, after the shared ones
  Page(std::string_view title, std::string_view heading, std::string_view style = "");

  /// Appends markup as it is: pass text from a file through escaped_markup() first.
  Page& operator+=(std::string_view markup);

  /// A list of names and texts. A field without text is omitted.
  void begin_fields() { *this += "<dl>\n"; }
  void field(std::string_view name, std::string_view text);
  void end_fields() { *this += "</dl>\n"; }

  /// Text in a box, its lines as they are; escaped.
  void box(std::string_view text);

  [[nodiscard]] std::string finish() &&;

 private:
  std::string text_;
};

}  // namespace ringside::report
