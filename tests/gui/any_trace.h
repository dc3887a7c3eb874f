#pragma once

#include <algorithm>
#include <memory>

#include "gui/model/session/session.h"

namespace ringside::gui {

/// Opens the trace, presses every key, draws every view, and clicks on everything.
inline void show_all(Replay replay) {
  auto document = std::make_shared<const Document>(make_document("any", std::move(replay)));
  Session session;
  session.open(document);
  session.compare_with(document);
  const Canvas canvas{.width = 600, .height = 300};
  for (const CommandRow& row : commands()) {
    session.press(row.command);
    const Panel& panel = session.prepare(canvas);
    if (panel.picture.spots.empty()) continue;
    const Target target = panel.picture.spots[panel.picture.spots.size() / 2].target;
    static_cast<void>(session.tip(target));
    session.click(target, session.state().now_ns);
  }
}

}  // namespace ringside::gui
