#pragma once

#include <memory>
#include <string>

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
  /// Returns what chunks of a rank contain; empty: unknown.
  /// target  of kind Chunks
  std::string tip(const std::shared_ptr<const Document>& document, std::int64_t now_ns,
                  const Target& target);
  void forget() { history_.forget(); }

 private:
  Kept<Result<ChunkHistory>> history_;
};

}  // namespace ringside::gui
