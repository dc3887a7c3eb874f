#pragma once

#include <optional>

#include "gui/model/chunk_history.h"
#include "gui/model/state.h"

namespace ringside::gui {

/// Ranks x chunks: whose input each holds at the moment, filling as time goes.
class Chunks {
 public:
  void prepare(const Document& document, const State& state, const Canvas& canvas, Panel& into);

 private:
  const Document* document_ = nullptr;
  std::uint32_t communicator_ = 0, sequence_ = 0;
  std::optional<Result<ChunkHistory>> history_;  ///< of the call that is going on
};

}  // namespace ringside::gui
