#pragma once

#include "gui/model/picture.h"

namespace ringside::gui {

/// Draws a table with its title and note. returns  the target that was clicked, else a target of no kind
Target draw_table(const Table& table, int number, bool is_dark);

}  // namespace ringside::gui
