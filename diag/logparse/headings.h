#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringside::logs {

/// A heading: a line that names the process whose lines follow, written by people or `tail` between the outputs of
/// several processes.
struct Heading {
  /// A heading ends the part of a previous heading with the same style. If it names a process, it ends the part of a
  /// previous heading with any style.
  enum class Style : std::uint8_t {
    Tail,     ///< `==> logs/rank3.log <==`
    Hashes,   ///< `### rank 3`
    Rule,     ///< `--- node-2 ---`, `===== rank 3 =====`
    Bold,     ///< `**Rank 3:**`
    Summary,  ///< `<details><summary>rank 3</summary>`
    Plain     ///< `rank 3:`, `Output of rank 3:`, `[rank 3]`
  };
  Style style = Style::Plain;
  std::int32_t rank = -1;  ///< global rank; -1: the heading names none or several
  std::string host;        ///< empty: the heading names none
  bool is_bare = false;  ///< only a name, `node-2:`, which may also be a label before an empty line

  /// Returns whether the heading names a rank or a host.
  [[nodiscard]] bool names_somebody() const { return rank >= 0 || !host.empty(); }
};

/// Returns the heading in a line, or nothing. A plain heading must consist only of the name of a process. A decorated
/// line is a heading with any content.
std::optional<Heading> heading_of(std::string_view line);

}  // namespace ringside::logs
