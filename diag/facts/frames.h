#pragma once

#include <span>
#include <string_view>

#include "diag/facts/job_facts.h"

/// Maps a stack frame to the activity of its process, by the table in frames.def.
namespace ringside::facts {

/// A row of frames.def.
struct FrameRow {
  /// Part of the function's name, `=name` for the full name; empty: any
  std::string_view function;
  std::string_view file;  ///< part of the file's or library's path; empty: any
  Activity activity = Activity::Unknown;
  std::string_view sample;  ///< a frame that the row matches, as a tool prints it
};

/// Returns all rows, in the order in which they are tried.
std::span<const FrameRow> frame_rows();

/// Returns the first row that matches a frame, or nullptr.
const FrameRow* frame_row(std::string_view function, std::string_view file);

/// Returns the activity as a predicate that follows the process's name: `saves a checkpoint`, `waits in communication`.
std::string_view describe(Activity activity);

/// Returns whether a process with this activity waits for other ranks.
bool is_waiting_for_ranks(Activity activity);

}  // namespace ringside::facts
