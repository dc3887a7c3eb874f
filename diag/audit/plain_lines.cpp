#include "diag/audit/plain_lines.h"

#include "base/text_parts.h"
#include "diag/audit/needles.h"

namespace ringside::audit {
namespace {

struct Row {
  PlainLine line;
  std::string_view needle;
  std::string_view and_also;  ///< another text that the line needs; empty: none
};

constexpr Row kRows[] = {
#define RINGSIDE_WORDS(name, words, also) {PlainLine::name, words, also},
#include "diag/audit/reasons/words.def"
#define RINGSIDE_WORDS(name, words, also) Row{PlainLine::name, words, also},
#include "diag/audit/reasons/all.def"
};

const Needles& needles() {
  static const Needles kNeedles = [] {
    std::array<std::string_view, std::size(kRows)> texts;
    for (std::size_t i = 0; i < std::size(kRows); ++i) texts[i] = kRows[i].needle;
    return Needles(texts);
  }();
  return kNeedles;
}

}  // namespace

PlainSet plain_set(std::initializer_list<PlainLine> lines) {
  PlainSet set;
  for (const PlainLine line : lines) set.set(static_cast<std::size_t>(line));
  return set;
}

const PlainSet& words_of_anybody() {
  static const PlainSet kWords = plain_set({
      PlainLine::Crash,
      PlainLine::BusError,
      PlainLine::Occupied,
      PlainLine::GpuName,
      PlainLine::NameWithoutAddress,
      PlainLine::LastError,
      PlainLine::WorldSize,
      PlainLine::IommuFault,
      PlainLine::StackWord,
      PlainLine::AmdWord,
      PlainLine::RayRelease,
      PlainLine::ToolLine,
      PlainLine::Harmless,
#define RINGSIDE_OF_ANYBODY(name) PlainLine::name,
#include "diag/audit/reasons/all.def"
  });
  return kWords;
}

PlainSet plain_lines_of(std::string_view line) {
  static const Needles& known = needles();
  PlainSet lines;
  known.each_in(line, [&](std::size_t i) {
    const Row& row = kRows[i];
    if (!row.and_also.empty() && !contains(line, row.and_also)) return;
    lines.set(static_cast<std::size_t>(row.line));
  });
  return lines;
}

}  // namespace ringside::audit
