#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "diag/hangdetect/readers/log_facts.h"

/// Stacks say what a rank does that its recorder does not see. They are extra evidence: no verdict needs
/// them.
namespace ringside::hang {
namespace {

/// Frames in which a rank waits for others, or for its GPU, which does. Innermost first; the first of our
/// words that a stack holds decides.
constexpr std::array kWaits = {
    std::string_view{"distributed_c10d.py"},
    std::string_view{"c10d"},
    std::string_view{"nccl"},
    std::string_view{"synchronize"},
    std::string_view{"StreamSynchronize"},
    std::string_view{"_engine_run_backward"},
    std::string_view{"work.wait"},
    std::string_view{"gloo"},
};

/// Making a group, or waiting at the store for the others to make it.
constexpr std::array kCreation = {
    std::string_view{"new_group"},          std::string_view{"_new_process_group_helper"},
    std::string_view{"init_process_group"}, std::string_view{"_store_based_barrier"},
    std::string_view{"init_device_mesh"},
};

struct Frames {
  std::vector<std::string> lines;  ///< innermost first
};

/// The main thread: named so, or the last one of faulthandler's file, or the first one of py-spy's.
Frames main_thread(std::string_view text) {
  std::vector<Frames> threads;
  std::vector<bool> is_main;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    const bool is_head =
        first == 0 && (line.starts_with("Thread ") || line.starts_with("Current thread "));
    if (is_head) {
      threads.emplace_back();
      is_main.push_back(line.find("MainThread") != std::string_view::npos ||
                        line.find("[python") != std::string_view::npos);
    } else if (!threads.empty() && (first > 0 || line.starts_with("#"))) {
      threads.back().lines.emplace_back(line.substr(first));
    }
  }
  if (threads.empty()) return {};
  const auto named = std::find(is_main.begin(), is_main.end(), true);
  return named != is_main.end() ? threads[static_cast<std::size_t>(named - is_main.begin())]
                                : threads.back();
}

template <std::size_t kCount>
bool holds(const std::string& line, const std::array<std::string_view, kCount>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return line.find(word) != std::string::npos; });
}

void note_stack(const Frames& frames, RankNotes& notes) {
  if (frames.lines.empty()) return;
  for (const std::string& line : frames.lines) {
    if (holds(line, kCreation)) {
      notes.is_in_group_creation = true;
      return;
    }
  }
  constexpr std::size_t kInnermost = 4;
  for (std::size_t i = 0; i < std::min(kInnermost, frames.lines.size()); ++i) {
    if (holds(frames.lines[i], kWaits)) return;
  }
  notes.is_busy = true;
  notes.busy_with = frames.lines.front();
}

}  // namespace

void read_stacks(const std::vector<InputFile>& files, LogFacts& facts) {
  constexpr std::uint64_t kLargest = 16U << 20U;
  for (const InputFile& file : files) {
    if (file.kind != FileKind::Threads || file.bytes > kLargest) continue;
    const int rank = rank_of_name(file.path);
    if (rank < 0) continue;
    const auto text = read_file(file.path);
    if (text) note_stack(main_thread(*text), facts.notes[rank]);
  }
}

}  // namespace ringside::hang
