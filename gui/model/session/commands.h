#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ringside::gui {

/// All keyboard commands. commands() maps keys to them, and `?` shows the same table.
enum class Command : std::uint8_t {
  Play,
  Loop,
  Faster,
  Slower,
  NextPrimitive,
  LastPrimitive,
  NextRound,
  LastRound,
  NextChunk,
  LastChunk,
  NextCall,
  LastCall,
  ToBegin,
  ToEnd,
  ZoomIn,
  ZoomOut,
  Fit,
  FitChosen,
  Left,
  Right,
  Up,
  Down,
  RulerFrom,
  RulerTo,
  NoRuler,
  Bookmark,
  NextBookmark,
  Open,
  Search,
  FindNext,
  FindLast,
  FindLongest,
  Group,
  FoldAll,
  NextChannel,
  LastChannel,
  MoreRanks,
  FewerRanks,
  MoreBytes,
  FewerBytes,
  LargerChunks,
  SmallerChunks,
  Theme,
  Help,
  Escape,
  Close,
  View1,
  View2,
  View3,
  View4,
  View5,
  View6,
  View7,
};

/// A command, its key, and its description in the help.
struct CommandRow {
  Command command;
  std::string_view key;  ///< typed character, or name of a key: Left, Home, Escape
  std::string_view what;
};

std::span<const CommandRow> commands();

}  // namespace ringside::gui
