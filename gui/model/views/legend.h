#pragma once

#include <string>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/state.h"

namespace ringside::gui {

/// A colour of a view, and its meaning.
struct LegendEntry {
  Ink ink = Ink::Text;
  std::string text;
  std::string meaning;  ///< a sentence, shown at the pointer
  Fill fill = Fill::Solid;
};

/// Returns the colours that a view of the document uses; empty: the view needs no legend.
std::vector<LegendEntry> legend_of(const Document& document, View view);

}  // namespace ringside::gui
