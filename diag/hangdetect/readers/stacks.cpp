#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/json.h"
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

/// `py-spy dump --json`: a list of threads with their frames, innermost first.
Frames main_thread_of_json(std::string_view text) {
  const Json threads = Json::parse(text, nullptr, false);
  if (!threads.is_array()) return {};
  Frames first;
  for (const Json& thread : threads) {
    const auto frames = thread.is_object() ? thread.find("frames") : thread.end();
    if (!thread.is_object() || frames == thread.end() || !frames->is_array()) continue;
    Frames one;
    for (const Json& frame : *frames) {
      if (!frame.is_object()) continue;
      const auto text_of = [&](const char* key) {
        const auto found = frame.find(key);
        return found != frame.end() && found->is_string() ? found->get<std::string>()
                                                          : std::string{};
      };
      one.lines.push_back(text_of("name") + " (" + text_of("filename") + ")");
    }
    const auto name = thread.find("thread_name");
    const bool is_main =
        name != thread.end() && name->is_string() && name->get<std::string>() == "MainThread";
    if (is_main) return one;
    if (first.lines.empty()) first = std::move(one);
  }
  return first;
}

template <std::size_t kCount>
bool holds(const std::string& line, const std::array<std::string_view, kCount>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return line.find(word) != std::string::npos; });
}

void note_stack(const Frames& frames, RankNotes& notes) {
  if (frames.lines.empty()) return;
  notes.has_stack = true;
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
    if (!text) continue;
    const std::size_t first = text->find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string::npos && (*text)[first] == '[';
    note_stack(is_json ? main_thread_of_json(*text) : main_thread(*text), facts.notes[rank]);
  }
}

}  // namespace ringside::hang
