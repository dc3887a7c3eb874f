#include "diag/facts/frames.h"

#include <algorithm>
#include <array>

namespace ringside::facts {
namespace {

constexpr auto kRows = std::to_array<FrameRow>({
#define RINGSIDE_FRAME(function, file, activity, sample) \
  {function, file, Activity::activity, sample},
#include "diag/facts/frames.def"
});

bool has_word(std::string_view text, std::string_view word) {
  return word.starts_with('=') ? text == word.substr(1) : text.find(word) != std::string_view::npos;
}

}  // namespace

std::span<const FrameRow> frame_rows() { return kRows; }

const FrameRow* frame_row(std::string_view function, std::string_view file) {
  const auto found = std::find_if(kRows.begin(), kRows.end(), [&](const FrameRow& row) {
    return has_word(function, row.function) && has_word(file, row.file);
  });
  return found == kRows.end() ? nullptr : &*found;
}

std::string_view describe(Activity activity) {
  switch (activity) {
    case Activity::Collective:
    case Activity::Transfer:
    case Activity::Barrier:
      return "waits in communication";
    case Activity::GpuWait:
      return "waits for its GPU";
    case Activity::GroupCreation:
    case Activity::Store:
      return "creates a group, or waits at the store";
    case Activity::Data:
      return "waits for data";
    case Activity::Checkpoint:
      return "saves a checkpoint";
    case Activity::Load:
      return "loads";
    case Activity::Compile:
      return "compiles";
    case Activity::Lock:
      return "waits for a lock";
    case Activity::FileSystem:
      return "waits for a file system";
    case Activity::Network:
      return "waits for a server";
    case Activity::GarbageCollection:
      return "frees memory";
    case Activity::Debugger:
      return "is in a debugger";
    case Activity::Exit:
      return "leaves the program";
    case Activity::Evaluate:
      return "evaluates";
    case Activity::Stopped:
      return "is stopped";
    case Activity::Compute:
    case Activity::Unknown:
      break;
  }
  return "works";
}

bool is_waiting_for_ranks(Activity activity) {
  return activity == Activity::Collective || activity == Activity::Transfer ||
         activity == Activity::Barrier || activity == Activity::GpuWait ||
         activity == Activity::GroupCreation || activity == Activity::Store;
}

}  // namespace ringside::facts
