#pragma once

#include "gui/model/picture.h"

namespace ringside::gui {

/// A table with its title and note. returns  what was clicked on, else a target of no kind
Target draw_table(const Table& table, int number, bool is_dark);

}  // namespace ringside::gui
