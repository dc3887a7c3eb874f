#include "gui/model/views/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/vocabulary.h"

namespace ringside::gui {
namespace {

constexpr int kMostSlices = 16;  // contributions that a cell shows one by one

struct Grid {
  float left, top, cell_width, cell_height;
  std::size_t each;  ///< chunks in a column
  std::size_t columns;
  std::int32_t rows;
};

Grid grid_of(const ChunkHistory& history, const Canvas& canvas) {
  Grid grid{};
  grid.left = canvas.letter * 9;
  grid.top = canvas.line * 2.6F;
  constexpr float kNarrowest = 10;
  const float width = std::max(canvas.width - grid.left - 8, kNarrowest);
  const auto most = static_cast<std::size_t>(width / kNarrowest);
  const std::size_t chunks = history.chunks().size();
  grid.each = (chunks + most - 1) / most;
  grid.columns = (chunks + grid.each - 1) / grid.each;
  const float height = std::max(canvas.height - grid.top - canvas.line * 1.2F, canvas.line);
  grid.rows = std::min(history.ranks(), static_cast<std::int32_t>(height / (canvas.line * 0.6F)));
  grid.cell_width = std::min(width / static_cast<float>(grid.columns), canvas.letter * 26);
  grid.cell_height =
      std::min(height / static_cast<float>(std::max(grid.rows, 1)), canvas.line * 14);
  return grid;
}

class ChunksFrame {
 public:
  ChunksFrame(const ChunkHistory& history, const State& state, const Canvas& canvas, Picture& into)
      : history_(history),
        state_(state),
        canvas_(canvas),
        into_(into),
        grid_(grid_of(history, canvas)) {}

  void run() {
    head();
    for (std::int32_t rank = 0; rank < grid_.rows; ++rank) {
      const float y = grid_.top + static_cast<float>(rank) * grid_.cell_height;
      if (rank % labels_apart() == 0) {
        into_.words.push_back({.x = grid_.left - 8,
                               .y = y + (grid_.cell_height - 2 - canvas_.line) / 2,
                               .align = Words::Align::Right,
                               .text = fmt::format("rank {}", rank)});
      }
      for (std::size_t column = 0; column < grid_.columns; ++column) cell(rank, column, y);
    }
    if (grid_.each == 1) flights();
    if (grid_.rows < history_.ranks()) {
      into_.words.push_back(
          {.x = grid_.left,
           .y = canvas_.height - canvas_.line,
           .ink = Ink::Faint,
           .text = fmt::format("ranks {} to {} are below", grid_.rows, history_.ranks() - 1)});
    }
  }

 private:
  [[nodiscard]] float x_of(std::size_t column) const {
    return grid_.left + static_cast<float>(column) * grid_.cell_width;
  }

  /// Ranks between two labels: as many as are lower than a line together.
  [[nodiscard]] std::int32_t labels_apart() const {
    return std::max(1, static_cast<std::int32_t>(std::ceil(canvas_.line / grid_.cell_height)));
  }

  void head() {
    const std::size_t apart = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::ceil(canvas_.letter * 7 / grid_.cell_width)));
    for (std::size_t column = 0; column < grid_.columns; column += apart) {
      into_.words.push_back({.x = x_of(column),
                             .y = grid_.top - canvas_.line * 1.1F,
                             .ink = Ink::Faint,
                             .text = fmt::format("{}", column * grid_.each)});
    }
    into_.words.push_back({.x = grid_.left,
                           .y = grid_.top - canvas_.line * 2.3F,
                           .ink = Ink::Faint,
                           .text = grid_.each == 1
                                       ? "chunk, by its place in the buffer"
                                       : fmt::format("chunks, {} in a column", grid_.each)});
  }

  void cell(std::int32_t rank, std::size_t column, float y) {
    const float x = x_of(column);
    const float x1 = x + grid_.cell_width - 2;
    const float y1 = y + grid_.cell_height - 2;
    into_.boxes.push_back({x, y, x1, y1, Ink::Panel, Fill::Solid});
    const std::size_t first = column * grid_.each;
    const std::size_t last = std::min(first + grid_.each, history_.chunks().size()) - 1;
    into_.spots.push_back({x,
                           y,
                           x1,
                           y1,
                           {Target::Kind::Chunks, static_cast<std::uint32_t>(rank),
                            static_cast<std::uint32_t>(first), static_cast<std::int64_t>(last)}});
    if (grid_.each > 1) return many(rank, column, x, y, x1, y1);
    const ChunkHistory::Holding holding = history_.at(rank, column, state_.now_ns);
    const int count = holding.count();
    if (count == 0) return;
    const bool is_done = holding.is_kept && count >= history_.whole();
    const bool was_own = count == 1 && history_.whole() > 1;
    const Ink ink = is_done ? Ink::Good : was_own ? Ink::Send : Ink::Reduce;
    const Fill fill = holding.is_kept || was_own ? Fill::Solid : Fill::Soft;
    if (history_.ranks() <= kMostSlices) {
      // A slice for each rank, at its place, which shows whose input is missing.
      const float width = (x1 - x) / static_cast<float>(history_.ranks());
      for (int source = 0; source < history_.ranks(); ++source) {
        if (!holding.has(source)) continue;
        const float from = x + width * static_cast<float>(source);
        into_.boxes.push_back(
            {from, y, from + std::max(width - (width > 4 ? 1.0F : 0.0F), 1.0F), y1, ink, fill});
      }
    } else {
      const float share =
          static_cast<float>(count) / static_cast<float>(std::max(history_.whole(), count));
      into_.boxes.push_back({x, y1 - (y1 - y) * share, x1, y1, ink, fill});
    }
    if (grid_.cell_height > canvas_.line * 1.3F && grid_.cell_width > canvas_.letter * 4) {
      into_.words.push_back({.x = (x + x1) / 2,
                             .y = (y + y1 - canvas_.line) / 2,
                             .width = x1 - x,
                             .align = Words::Align::Middle,
                             .text = text_of(holding, count)});
    }
  }

  [[nodiscard]] std::string text_of(const ChunkHistory::Holding& holding, int count) const {
    if (history_.whole() > 1) return fmt::format("{}/{}", count, history_.whole());
    for (int source = 0; source < history_.ranks(); ++source) {
      if (holding.has(source)) return fmt::format("of {}", source);
    }
    return {};
  }

  void many(std::int32_t rank, std::size_t column, float x, float y, float x1, float y1) {
    const std::size_t first = column * grid_.each;
    const std::size_t last = std::min(first + grid_.each, history_.chunks().size());
    float done = 0;
    float share = 0;
    for (std::size_t chunk = first; chunk < last; ++chunk) {
      const ChunkHistory::Holding holding = history_.at(rank, chunk, state_.now_ns);
      const float part = std::min(
          1.0F, static_cast<float>(holding.count()) / static_cast<float>(history_.whole()));
      share += part;
      if (part >= 1 && holding.is_kept) done += 1;
    }
    const auto chunks = static_cast<float>(last - first);
    const float height = (y1 - y) / chunks;
    into_.boxes.push_back({x, y1 - share * height, x1, y1, Ink::Reduce, Fill::Soft});
    into_.boxes.push_back({x, y1 - done * height, x1, y1, Ink::Good, Fill::Solid});
  }

  void flights() {
    constexpr int kMost = 300;
    int shown = 0;
    for (const ChunkHistory::Flight& flight : history_.flights()) {
      if (flight.sent_ns > state_.now_ns) break;
      if (flight.taken_ns <= state_.now_ns || flight.from >= grid_.rows || flight.to >= grid_.rows)
        continue;
      const float x = x_of(flight.chunk) + grid_.cell_width / 2;
      const auto y_of = [&](std::int32_t rank) {
        return grid_.top + (static_cast<float>(rank) + 0.5F) * grid_.cell_height;
      };
      const auto length =
          static_cast<float>(std::max<std::int64_t>(flight.taken_ns - flight.sent_ns, 1));
      const float part = static_cast<float>(state_.now_ns - flight.sent_ns) / length;
      const float from = y_of(flight.from);
      const float to = y_of(flight.to);
      into_.strokes.push_back(
          {x, from, x, from + (to - from) * std::max(part, 0.15F), 2, Ink::Now, true});
      if (++shown == kMost) break;
    }
  }

  const ChunkHistory& history_;
  const State& state_;
  const Canvas& canvas_;
  Picture& into_;
  Grid grid_;
};

}  // namespace

Chunks::Chunks(Making making)
    : history_(making, [](const Document& document, const CallFacts* const& call) {
        return ChunkHistory::make(document, *call);
      }) {}

std::string Chunks::tip(const std::shared_ptr<const Document>& document, std::int64_t now_ns,
                        const Target& target) {
  const CallFacts* const call = document->call_at(now_ns);
  const Result<ChunkHistory>* const made = call == nullptr ? nullptr : history_.of(document, call);
  const auto last = static_cast<std::size_t>(target.c);
  if (made == nullptr || !*made || last >= (*made)->chunks().size()) return {};
  const ChunkHistory& history = **made;
  const auto rank = static_cast<std::int32_t>(target.a);
  // The target may be of the call that was shown before.
  if (rank < 0 || rank >= history.ranks()) return {};
  const std::size_t first = target.b;
  if (first != last) {
    float share = 0;
    for (std::size_t chunk = first; chunk <= last; ++chunk)
      share += std::min(1.0F, static_cast<float>(history.at(rank, chunk, now_ns).count()) /
                                  static_cast<float>(history.whole()));
    return fmt::format("rank {}, chunks {} to {}: {:.0f} % of the inputs have arrived", rank, first,
                       last, 100 * share / static_cast<float>(last - first + 1));
  }
  const ChunkHistory::Holding holding = history.at(rank, first, now_ns);
  std::vector<int> sources;
  for (int source = 0; source < history.ranks(); ++source) {
    if (holding.has(source)) sources.push_back(source);
  }
  if (sources.empty()) return fmt::format("rank {}, chunk {}: nothing has arrived", rank, first);
  return fmt::format("rank {}, chunk {}: input of {} {}{}", rank, first,
                     sources.size() == 1 ? "rank" : "ranks", format_ranks(sources),
                     holding.is_kept ? "" : ", passed on and not kept");
}

void Chunks::prepare(const std::shared_ptr<const Document>& document, const State& state,
                     const Canvas& canvas, Panel& into) {
  const CallFacts* const call = document->call_at(state.now_ns);
  if (call == nullptr) {
    into.lines.emplace_back("The trace has no collective, so no rank holds a chunk.");
    return;
  }
  const Result<ChunkHistory>* const made = history_.of(document, call);
  if (made == nullptr) return into.show_preparing(title_of(*document, *call));
  if (!*made) {
    into.lines.push_back(fmt::format("{}: {}", title_of(*document, *call), made->error().message));
    return;
  }
  const ChunkHistory& history = **made;
  into.lines.push_back(fmt::format("{}: {} chunks, {} rounds", title_of(*document, *call),
                                   history.chunks().size(), history.rounds()));
  into.lines.push_back(
      history.whole() > 1
          ? "In a cell a slice for each rank whose input is in the chunk; arrows: on its way."
          : "A slice at the rank whose block it is, once the block has arrived; arrows: on its "
            "way.");
  ChunksFrame(history, state, canvas, into.picture).run();
}

}  // namespace ringside::gui
