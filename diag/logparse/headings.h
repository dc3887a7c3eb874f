#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringside::logs {

/// A line that names the process whose lines follow, as people and `tail` write it between the outputs of several
/// processes.
struct Heading {
  /// A heading ends the part of a heading of its own style, whatever it names, and of any style if it names a
  /// process.
  enum class Style : std::uint8_t {
    Tail,     ///< `==> logs/rank3.log <==`
    Hashes,   ///< `### rank 3`
    Rule,     ///< `--- node-2 ---`, `===== rank 3 =====`
    Bold,     ///< `**Rank 3:**`
    Summary,  ///< `<details><summary>rank 3</summary>`
    Plain     ///< `rank 3:`, `Output of rank 3:`, `[rank 3]`
  };
  Style style = Style::Plain;
  std::int32_t rank = -1;  ///< global; -1: none, or several
  std::string host;        ///< empty: none
  bool is_bare =
      false;  ///< `node-2:`, `node-2`: a name alone, which may be a label before an empty line

  [[nodiscard]] bool names_somebody() const { return rank >= 0 || !host.empty(); }
};

/// A plain heading is recognised only by its words, so it must name a process, and the line may contain nothing else;
/// a decorated line is a heading whatever it contains.
/// returns  nothing: the line is no heading
std::optional<Heading> heading_of(std::string_view line);

}  // namespace ringside::logs
