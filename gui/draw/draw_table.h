#pragma once

#include "gui/model/picture.h"

namespace ringside::gui {

/// Draws a table with its title and note. returns  the clicked target, or one of kind None
Target draw_table(const Table& table, int number, bool is_dark);

}  // namespace ringside::gui
