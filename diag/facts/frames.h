#pragma once

#include <span>
#include <string_view>

#include "diag/facts/job_facts.h"

/// What frames of stacks mean, as data: catalogue/frames.def.
namespace ringside::facts {

struct FrameRow {
  std::string_view function;  ///< a word of the function's name, `=name` for the whole; empty: any
  std::string_view file;      ///< a word of the file's or library's path; empty: any
  Activity activity = Activity::Unknown;
  std::string_view sample;  ///< a frame that the row fits, as a tool prints it
};

std::span<const FrameRow> frame_rows();

/// The first row that fits a frame.
/// returns  nullptr: none
const FrameRow* frame_row(std::string_view function, std::string_view file);

/// `saves a checkpoint`, `waits in communication`: what a process does, to be appended to its name.
std::string_view describe(Activity activity);

/// Whether a process with this activity waits for other ranks.
bool is_waiting_for_ranks(Activity activity);

}  // namespace ringside::facts
