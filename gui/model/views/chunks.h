#pragma once

#include "gui/model/kept.h"
#include "gui/model/state.h"
#include "gui/model/views/chunk_history.h"

namespace ringside::gui {

/// The view of ranks x chunks: the ranks whose input each chunk contains at the current time.
class Chunks {
 public:
  explicit Chunks(Making making);

  void prepare(const std::shared_ptr<const Document>& document, const State& state,
               const Canvas& canvas, Panel& into);
  void forget() { history_.forget(); }

 private:
  Kept<Result<ChunkHistory>> history_;
};

}  // namespace ringside::gui
