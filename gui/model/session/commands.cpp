#include "gui/model/session/commands.h"

#include <array>

namespace ringside::gui {
namespace {

constexpr std::array kCommands{
    CommandRow{Command::Play, " ", "play, or stop"},
    CommandRow{Command::Loop, "l", "loop: over the ruler, else over all"},
    CommandRow{Command::Faster, ">", "play twice as fast"},
    CommandRow{Command::Slower, "<", "play half as fast, down to 1 ns a second"},
    CommandRow{Command::NextPrimitive, ".", "to the next end of a primitive"},
    CommandRow{Command::LastPrimitive, ",", "to the one before"},
    CommandRow{Command::NextRound, "r", "to where all ranks have completed one more step"},
    CommandRow{Command::LastRound, "R", "one round back"},
    CommandRow{Command::NextChunk, "c", "follow the chosen chunk to its receiver"},
    CommandRow{Command::LastChunk, "C", "to its sender"},
    CommandRow{Command::NextCall, "n", "to the next call"},
    CommandRow{Command::LastCall, "N", "to the call before"},
    CommandRow{Command::ToBegin, "Home", "to the beginning"},
    CommandRow{Command::ToEnd, "End", "to the end"},
    CommandRow{Command::ZoomIn, "+", "zoom in"},
    CommandRow{Command::ZoomOut, "-", "zoom out"},
    CommandRow{Command::Fit, "f", "show all"},
    CommandRow{Command::FitChosen, "z",
               "zoom to what is chosen, else to the ruler, else to the call"},
    CommandRow{Command::Left, "Left", "earlier"},
    CommandRow{Command::Right, "Right", "later"},
    CommandRow{Command::Up, "Up", "rows above"},
    CommandRow{Command::Down, "Down", "rows below"},
    CommandRow{Command::RulerFrom, "[", "ruler from here"},
    CommandRow{Command::RulerTo, "]", "ruler to here"},
    CommandRow{Command::NoRuler, "\\", "no ruler"},
    CommandRow{Command::Bookmark, "b", "set or remove a bookmark"},
    CommandRow{Command::NextBookmark, "m", "to the next bookmark"},
    CommandRow{Command::Open, "o", "open a file, a folder or a lesson"},
    CommandRow{Command::Search, "/", "search"},
    CommandRow{Command::FindNext, "s", "next that was searched"},
    CommandRow{Command::FindLast, "S", "the one before"},
    CommandRow{Command::FindLongest, "x", "the longest that was searched"},
    CommandRow{Command::Group, "g", "rows by rank, or by channel"},
    CommandRow{Command::FoldAll, "e", "fold or unfold all ranks"},
    CommandRow{Command::NextChannel, "h", "next channel's ring or tree over the topology"},
    CommandRow{Command::LastChannel, "H", "the one before"},
    CommandRow{Command::MoreRanks, ")", "a lesson with more ranks"},
    CommandRow{Command::FewerRanks, "(", "with fewer"},
    CommandRow{Command::MoreBytes, "}", "a lesson with more bytes"},
    CommandRow{Command::FewerBytes, "{", "with fewer"},
    CommandRow{Command::LargerChunks, "K", "a lesson with larger chunks"},
    CommandRow{Command::SmallerChunks, "k", "with smaller ones"},
    CommandRow{Command::Theme, "t", "dark or light"},
    CommandRow{Command::Help, "?", "this list"},
    CommandRow{Command::Escape, "Escape", "close this, choose nothing"},
    CommandRow{Command::Close, "q", "close the window"},
    CommandRow{Command::View1, "1", "timeline"},
    CommandRow{Command::View2, "2", "topology"},
    CommandRow{Command::View3, "3", "chunks"},
    CommandRow{Command::View4, "4", "slots"},
    CommandRow{Command::View5, "5", "numbers"},
    CommandRow{Command::View6, "6", "findings"},
    CommandRow{Command::View7, "7", "compare"},
};

}  // namespace

std::span<const CommandRow> commands() { return kCommands; }

}  // namespace ringside::gui
