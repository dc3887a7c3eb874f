#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The content of a view as plain data: shapes in pixels, tables, lines of text. The drawing code
/// only draws it.
namespace ringside::gui {

/// The meaning of a shape. The palette maps it to a colour; a pattern or a word accompanies each
/// colour.
enum class Ink : std::uint8_t {
  Page,
  Panel,  ///< the background of rows and boxes
  Line,   ///< rules, edges of boxes
  Text,
  Faint,  ///< secondary text
  Call,   ///< a whole collective
  Copy,
  Send,
  Receive,
  PassOn,  ///< received and sent on in one primitive
  Reduce,
  Waiting,
  Now,
  Chosen,
  Good,
  Warn,
  Bad,
  Nvlink,
  Pcie,
  Network,
  Path,     ///< between two ranks, of unknown kind
  Compute,  ///< other kernels of the GPU
  Group1,   ///< calls of the second group of ranks; those of the first one are Call
  Group2,
  Group3,
  Group4,
  Group5,
};
inline constexpr int kInks = static_cast<int>(Ink::Group5) + 1;
inline constexpr std::uint32_t kGroupInks = 6;

/// How an area is filled.
enum class Fill : std::uint8_t { Solid, Soft, Hatched, Outline };

/// The target of a click or of the pointer. `kind` decides which numbers are valid.
struct Target {
  enum class Kind : std::uint8_t {
    None,
    Event,
    Row,
    Fold,
    Call,
    Connection,
    Rank,
    Time,
    Place,
    Chunks,
    Tip
  };
  Kind kind = Kind::None;
  /// Event, row, rank or place; of a call its communicator; of a connection its sender; of chunks their rank; of a tip
  /// its index in Panel::tips.
  std::uint32_t a = 0;
  /// Receiver of a connection; sequence of a call; number of events that an event represents; first of the chunks.
  std::uint32_t b = 0;
  /// Time in ns; begin of a call in ns; of a connection its channel in the low 16 bits, and its communicator above; last
  /// of the chunks.
  std::int64_t c = 0;
  friend bool operator==(const Target&, const Target&) = default;
};

/// A rectangle.
struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  Ink ink = Ink::Panel;
  Fill fill = Fill::Solid;
};

/// A straight line or an arrow.
struct Stroke {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float width = 1;
  Ink ink = Ink::Line;
  bool has_head = false;  ///< draws an arrowhead at (x1, y1)
  Target target = {};     ///< the area that reacts to the pointer is a few pixels wider
};

/// A circle.
struct Disc {
  float x = 0, y = 0, radius = 0;
  Ink ink = Ink::Text;
  Fill fill = Fill::Solid;
};

/// A line of text.
struct Words {
  enum class Align : std::uint8_t { Left, Middle, Right };
  float x = 0, y = 0;  ///< upper edge; x at the side that `align` names
  float width = 0;     ///< maximum width; longer text ends in "..."; 0: no limit
  Align align = Align::Left;
  Ink ink = Ink::Text;
  std::string text;
};

/// An area that reacts to the pointer.
struct Spot {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  Target target;
};

/// The shapes of a view, drawn in this order: boxes, strokes, plates, discs, words; within each in
/// the order of the list.
struct Picture {
  std::vector<Box> boxes;
  std::vector<Stroke> strokes;
  std::vector<Box> plates;  ///< boxes that strokes lead to, and behind which they end
  std::vector<Disc> discs;
  std::vector<Words> words;
  std::vector<Spot> spots;  ///< clickable areas; if several overlap, the last one counts
  float height = 0;         ///< 0: height of the canvas
  void clear();
};

/// Returns the target of the last spot at that position, or else of the last stroke there.
Target target_at(const Picture& picture, float x, float y);

/// A cell of a table.
struct Cell {
  std::string text;
  float bar = 0;  ///< filled share of the cell, behind the text: 0 .. 1
  Ink ink = Ink::Text;
  Ink bar_ink = Ink::Send;
};

/// A table, whose rows react to the pointer.
struct Table {
  struct Row {
    std::vector<Cell> cells;
    Target target = {};
  };
  std::string title;
  std::vector<std::string> head;
  std::vector<Row> rows;
  std::string note = {};  ///< text about omitted content
};

/// The size of the drawing area, and of the letters there.
struct Canvas {
  float width = 0, height = 0;
  float line = 16;   ///< height of a line of text
  float letter = 7;  ///< mean width of a letter
};

/// The prepared content of one view.
struct Panel {
  std::vector<std::string> lines;  ///< text lines above the picture
  Picture picture;
  std::vector<Table> tables;
  std::vector<std::string> tips;   ///< texts shown at the pointer, for targets of kind Tip
  bool is_being_prepared = false;  ///< a worker computes the missing part; prepare again
  void clear();
  void show_preparing(std::string_view title);
  /// Adds a tip and returns its target.
  Target add_tip(std::string text);
};

/// Returns the panel as text, one shape per line, for tests and programs.
std::string to_text(const Panel& panel);

}  // namespace ringside::gui
