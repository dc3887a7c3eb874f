#include "diag/hangdetect/readers/process_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "diag/facts/call_lines.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/readers/stack_heads.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/frame_line.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {
namespace {

using logs::is_digit;
using logs::is_letter;

// Bounds for foreign text. Chosen: above the ranks of the largest jobs, and deeper than a training loop.
constexpr std::size_t kMostStacks = 16384;
constexpr std::size_t kMostRanksKept = std::size_t{1}
                                       << 22;  ///< in the heads of all stacks: `0-1048575` is short
constexpr std::size_t kMostFrames = 256;

/// A thread and its frames.
struct Thread {
  bool is_main = false;
  bool is_named = false;     ///< py-spy gives names
  std::int64_t number = -1;  ///< gdb's, or the process id of a main thread of py-spy
  Stack frames;
  std::int64_t line = 0;
  int peer = -1;      ///< py-spy --locals: `dst: 1` below a frame; gdb: `dest=1` in one
  int tag = -1;       ///< of a transfer, likewise
  Op op = Op::Other;  ///< of the innermost frame that names one
  int behind_op = 0;  ///< frames outside of that one
  std::string notes;  ///< comments next to its frames, and locals that are counters
};

/// Classifies the stack: its innermost frame that has a row decides (diag/facts/frames.h). So a save that waits in a
/// collective waits, and the helper threads of a collective are no locks. Sets `activity`, `deciding` and `op`.
void classify(ProcessStack& stack) {
  stack.activity = Activity::Compute;
  stack.deciding = 0;
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    const facts::FrameRow* row = facts::frame_row(stack.frames[i].function, stack.frames[i].file);
    if (row == nullptr) continue;
    stack.activity = row->activity;
    stack.deciding = i;
    break;
  }
  // A Python lock that no outer frame explains.
  if (stack.frames.empty()) return;
  const Frame& inner = stack.frames.front();
  const bool is_lock = inner.file.ends_with("threading.py") &&
                       (inner.function == "wait" || inner.function == "acquire" ||
                        inner.function == "_wait_for_tstate_lock");
  if (is_lock && stack.activity == Activity::Compute) stack.activity = Activity::Lock;
  // The call is in the frame itself or in one of the wrappers around it.
  if (stack.activity != Activity::GpuWait && stack.activity != Activity::Collective) return;
  for (std::size_t i = stack.deciding; i < std::min(stack.deciding + 4, stack.frames.size()); ++i) {
    if (op_of(stack.frames[i].function) == Op::Other) continue;
    stack.op = op_of(stack.frames[i].function);
    stack.activity = Activity::Collective;
    stack.deciding = i;
    return;
  }
}

/// The lines of one text, one after another.
class Reader {
 public:
  Reader(std::string_view path, std::vector<ProcessStack>& out) : path_(path), out_(out) {
    const std::string name = std::filesystem::path(path).filename().string();
    file_ = head_of_name(name);
  }

  /// returns  whether the line is of a stack: a frame, or a head that nothing else reads
  bool take(const PasteLine& line) {
    const std::string_view text = line.text;
    logs::FrameLine frame;
    if (logs::parse_frame(text, frame)) {
      take_frame(line, frame);
      return true;
    }
    is_in_frames_ = false;
    if (take_local(text)) return true;
    if (text.starts_with("Locals:") || text.starts_with("Arguments:")) is_in_locals_ = true;
    if (take_stack_in_line(line)) return true;
    if (take_thread(line) || take_process(text) || take_name(line)) return true;
    const StackHead head = head_of(text);
    if (head.says_nothing()) return false;
    close();
    if (take_same(line)) return false;
    begin(head);
    return false;
  }

  void finish() {
    close();
    settle();
  }

 private:
  /// `trace_rank_3.txt`, `node48.txt`, `pyspy-71.txt`
  static StackHead head_of_name(const std::string& name) {
    StackHead head;
    const std::string text = lower_case(name);
    if (text.find("rank") != std::string::npos) {
      const int number = rank_of_name(name);
      const bool is_own = number >= 0 && text.find("node") == std::string::npos;
      if (is_own) head.ranks = {number};
    }
    head.host = std::filesystem::path(name).stem().string();
    return head;
  }

  void begin(const StackHead& head) {
    // A count and a rank can be on separate lines, one after the other.
    const bool adds = !has_stack_ && threads_.empty();
    StackHead next = head;
    if (adds) {
      if (next.ranks.empty()) next.ranks = head_.ranks;
      if (next.local_rank < 0) next.local_rank = head_.local_rank;
      if (next.pid < 0) next.pid = head_.pid;
      if (next.count == 0) next.count = head_.count;
    }
    if (next.host.empty()) next.host = head_.host;
    head_ = std::move(next);
    has_stack_ = false;
  }

  /// `dst: 1`, `src: 0`: an argument of the frame above, of py-spy --locals. The innermost send or receive counts.
  bool take_local(std::string_view text) {
    if (threads_.empty() || threads_.back().frames.empty()) return false;
    constexpr std::size_t kLongLocal = 40;
    const bool is_number = text.size() < kLongLocal && !text.empty() && is_digit(text.back()) &&
                           text.find(": ") != std::string_view::npos;
    if (is_number && is_in_locals_) {
      constexpr std::size_t kMost = 400;
      std::string& notes = threads_.back().notes;
      if (notes.size() < kMost) notes += lower_case(text) + "\n";
    }
    for (const std::string_view key : {"dst: ", "src: ", "peer: "}) {
      if (!text.starts_with(key)) continue;
      const std::int64_t peer = leading_number(text.substr(key.size()));
      Thread& thread = threads_.back();
      const Op op = op_of(thread.frames.back().function);
      const bool is_transfer = op == Op::Send || op == Op::Recv || op == Op::Broadcast;
      if (peer >= 0 && peer < kMostRanks && is_transfer && thread.peer < 0)
        thread.peer = static_cast<int>(peer);
      return true;
    }
    return false;
  }

  bool take_process(std::string_view text) {
    if (!text.starts_with("Process ") || text.size() < 9 || !is_digit(text[8])) {
      return text.starts_with("Python v") || text.starts_with("Locals:") ||
             text.starts_with("Arguments:");
    }
    // ncclras lists processes in the same words.
    if (text.find(" managing GPU") != std::string_view::npos) return false;
    close();
    StackHead head = head_of(text);
    head.pid = leading_number(text.substr(8));
    const std::int64_t place = place_in_title(text);
    constexpr std::size_t kMostTitles = 4096;
    if (place >= 0 && titles_.size() < kMostTitles) titles_.emplace(head.pid, place);
    begin(head);
    return true;
  }

  /// `worker2: 40417 poll (selectors.py:416) <- wandb.init (wandb_init.py:1210) <- main`
  bool take_stack_in_line(const PasteLine& line) {
    const auto stack = logs::parse_stack_in_line(line.text);
    if (!stack) return false;
    Thread thread;
    thread.line = line.number;
    for (const logs::FrameLine& frame : stack->frames) {
      thread.frames.push_back({std::string(frame.function), std::string(frame.file),
                               std::max<std::int64_t>(0, frame.line)});
    }
    const std::string_view name = stack->label;
    close();
    StackHead head = head_of(name);
    const std::size_t colon = name.find(':');
    const std::string_view label = name.substr(0, colon);
    const bool is_host = head.ranks.empty() && colon != std::string_view::npos &&
                         label.find(' ') == std::string_view::npos;
    if (is_host) head.host = std::string(label);
    if (colon != std::string_view::npos && head.pid < 0)
      head.pid = leading_number(logs::trimmed(name.substr(colon + 1)));
    begin(head);
    threads_.push_back(std::move(thread));
    close();
    return true;
  }

  /// `rank 3: the same as rank 2`, `task 3: same`: a stack that the author did not repeat.
  bool take_same(const PasteLine& line) {
    constexpr std::size_t kLongest = 120;
    if (line.text.size() > kLongest || out_.empty()) return false;
    const std::string text = lower_case(line.text);
    for (const std::string_view words :
         {"same as ", "identical to ", "same stack as ", "as in ", "same"}) {
      const std::size_t at = text.find(words);
      if (at == std::string::npos) continue;
      const StackHead who = head_of(std::string_view(text).substr(0, at));
      const StackHead whom = head_of(std::string_view(text).substr(at + words.size()));
      if (who.ranks.empty()) continue;
      const bool is_last = whom.ranks.empty() && words == "same";
      const auto like = std::find_if(out_.rbegin(), out_.rend(), [&](const ProcessStack& one) {
        return is_last || (!whom.ranks.empty() && std::find(one.ranks.begin(), one.ranks.end(),
                                                            whom.ranks.front()) != one.ranks.end());
      });
      if (like == out_.rend() || !has_room(who.ranks.size())) continue;
      ProcessStack copy = *like;
      copy.ranks = who.ranks;
      copy.pids.clear();
      copy.line = line.number;
      copy.count = static_cast<int>(copy.ranks.size());
      out_.push_back(std::move(copy));
      return true;
    }
    return false;
  }

  bool take_thread(const PasteLine& line) {
    const std::string_view text = line.text;
    const bool is_current = text.starts_with("Current thread ");
    if (!text.starts_with("Thread ") && !is_current) return false;
    const std::string_view rest = text.substr(is_current ? 15 : 7);
    const bool is_hexadecimal = rest.starts_with("0x");
    const std::int64_t number = is_hexadecimal ? -1 : leading_number(rest);
    if (!is_hexadecimal && number < 0) return false;
    const bool is_gdb = text.find("LWP") != std::string_view::npos;
    const bool is_py_spy = text.find("idle)") != std::string_view::npos ||
                           text.find("active") != std::string_view::npos;
    if (!is_gdb && !is_py_spy && !is_hexadecimal) return false;
    Thread thread;
    thread.line = line.number;
    thread.number = number;
    thread.is_named = is_py_spy && text.find('"') != std::string_view::npos;
    thread.is_main = text.find("MainThread") != std::string_view::npos ||
                     (is_gdb && text.starts_with("Thread 1 ("));
    // Heads without frames between them are several processes at one place; a second main thread begins the next
    // process.
    const bool was_empty = !threads_.empty() && threads_.back().frames.empty();
    const bool has_main = std::any_of(threads_.begin(), threads_.end(), [](const Thread& one) {
      return one.is_main && !one.frames.empty();
    });
    const bool restarts = is_gdb && !threads_.empty() && threads_.back().number == 1;
    if (thread.is_main && (has_main || restarts) && !was_empty) close();
    if (restarts && !thread.is_main) close();
    if (thread.is_main && was_empty && threads_.back().is_main) {
      if (threads_.back().number >= 0) more_pids_.push_back(threads_.back().number);
      threads_.pop_back();
      ++more_;
    }
    if (is_gdb) {
      const std::int64_t lwp = number_after(text, "LWP");
      if (thread.is_main && lwp >= 0 && head_.pid < 0) head_.pid = lwp;
    } else if (is_py_spy && thread.is_main && head_.pid < 0 && number >= 0 &&
               text.find("0x") == std::string_view::npos) {
      own_pid_ = number;
    }
    threads_.push_back(std::move(thread));
    return true;
  }

  /// Reads a summary of one word a line: the call that a process is in.
  bool take_name(const PasteLine& line) {
    if (line.text.size() > 32 || line.text.find_first_of(" :=./") != std::string::npos)
      return false;
    const bool is_op = op_of(line.text) != Op::Other && lower_case(line.text) == line.text;
    const bool is_wait = line.text == "wait" || line.text == "poll" || line.text == "get";
    if (!is_op && !is_wait) return false;
    if (is_wait && out_.empty()) return false;
    close();
    ProcessStack stack;
    stack.frames.push_back({line.text, "", 0});
    stack.activity = is_op ? Activity::Collective : Activity::Compute;
    stack.op = op_of(line.text);
    place_stack(std::move(stack), line.number, 1);
    return true;
  }

  void take_frame(const PasteLine& line, const logs::FrameLine& frame) {
    // Without heads, a blank line separates one process from the next.
    const bool is_new = !is_in_frames_ && threads_.empty();
    const bool is_parted = line.follows_blank && !threads_.empty() && is_headless_ && is_in_frames_;
    const bool restarts = line.text.starts_with("#0 ") && !threads_.empty() && is_headless_ &&
                          !threads_.back().frames.empty();
    if (is_parted || restarts) close();
    if (is_new || is_parted || restarts) {
      threads_.emplace_back();
      threads_.back().line = line.number;
      is_headless_ = true;
    }
    is_in_frames_ = true;
    is_in_locals_ = false;
    add_note(line.text);
    note_arguments(line.text, frame.function);
    Stack& frames = threads_.back().frames;
    if (frames.size() < kMostFrames) {
      frames.push_back({std::string(frame.function), std::string(frame.file),
                        static_cast<std::int64_t>(std::max<std::int64_t>(0, frame.line))});
    }
  }

  /// `forward (moe.py:702)   # expert_idx = 6`: a comment next to a frame.
  void add_note(std::string_view text) {
    constexpr std::size_t kMost = 200;
    const std::size_t close = text.find(") ");
    if (close == std::string_view::npos) return;
    Thread& thread = threads_.back();
    if (thread.notes.size() < kMost)
      thread.notes += lower_case(text.substr(close + 1, kMost)) + "\n";
  }

  /// `PMPI_Send (buf=0x1c2f2b0, count=4096, dest=1, tag=7)`, `exchange (dest=1, src=2)` around it: gdb's arguments of a
  /// call, or of the function of the program's that makes it.
  void note_arguments(std::string_view text, std::string_view function) {
    Thread& thread = threads_.back();
    constexpr int kNear = 2;
    if (thread.op == Op::Other) thread.op = op_of(function);
    if (thread.op == Op::Other || thread.peer >= 0 || thread.behind_op++ > kNear) return;
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos || text.find('=', open) == std::string_view::npos) return;
    const std::size_t close = std::min(text.find(')', open), text.size());
    const std::vector<facts::Call> calls = facts::read_calls(
        fmt::format("{} {}", to_string(thread.op), text.substr(open, close - open)));
    if (calls.size() != 1) return;
    thread.peer = thread.op == Op::Broadcast ? calls.front().root : calls.front().peer;
    if (thread.tag < 0) thread.tag = calls.front().tag;
  }

  const Thread* main_thread() const {
    const auto named = std::find_if(threads_.begin(), threads_.end(), [](const Thread& one) {
      return one.is_main && !one.frames.empty();
    });
    if (named != threads_.end()) return &*named;
    // faulthandler writes the main thread last.
    const auto last = std::find_if(threads_.rbegin(), threads_.rend(),
                                   [](const Thread& one) { return !one.frames.empty(); });
    return last == threads_.rend() ? nullptr : &*last;
  }

  void close() {
    if (const Thread* main = main_thread(); main != nullptr) {
      ProcessStack stack;
      stack.frames = main->frames;
      stack.peer = main->peer;
      stack.tag = main->tag;
      stack.notes = main->notes;
      classify(stack);
      stack.pids = more_pids_;
      const std::int64_t pid = head_.pid >= 0 ? head_.pid : own_pid_;
      if (pid >= 0) stack.pids.push_back(pid);
      place_stack(std::move(stack), main->line, more_ + 1);
    }
    threads_.clear();
    more_pids_.clear();
    more_ = 0;
    own_pid_ = -1;
    is_headless_ = false;
    is_in_frames_ = false;
  }

  /// Returns whether one more stack, of so many ranks, is kept.
  bool has_room(std::size_t ranks) {
    if (out_.size() >= kMostStacks || ranks_kept_ + ranks > kMostRanksKept) return false;
    ranks_kept_ += ranks;
    return true;
  }

  void place_stack(ProcessStack stack, std::int64_t line, int count) {
    if (!has_room(head_.ranks.size())) return;
    stack.file = path_;
    stack.line = line;
    stack.ranks = head_.ranks;
    stack.local_rank = head_.local_rank;
    stack.host = head_.host.empty() ? file_.host : head_.host;
    stack.is_host_named = !head_.host.empty();
    stack.count = std::max({count, head_.count, static_cast<int>(stack.ranks.size()), 1});
    out_.push_back(std::move(stack));
    // A rank and a process id belong to one process; a host applies to all that follow.
    head_ = StackHead{{}, -1, -1, 0, head_.host};
    has_stack_ = true;
  }

  /// In a file of one rank, a single stack is that rank's. Several stacks are of other ranks too, or of its threads.
  void settle() {
    const bool is_one = out_.size() == 1 && out_.front().ranks.empty() && out_.front().count == 1;
    if (is_one) out_.front().ranks = file_.ranks;
    name_by_titles();
  }

  /// `5` of `Process 51895: sglang::scheduler_DP5_TP5`: its place in a group.  returns  -1: the title has none
  static std::int64_t place_in_title(std::string_view text) {
    const std::size_t at = text.rfind("TP");
    const bool is_part = at != std::string_view::npos && at > 0 && !is_letter(text[at - 1]);
    return is_part ? leading_number(text.substr(at + 2)) : -1;
  }

  /// Names ranks by the places in titles, if these count from 0 and no two processes share one: the group is the job.
  void name_by_titles() {
    std::set<std::int64_t> places;
    for (const auto& [pid, place] : titles_) places.insert(place);
    const auto count = static_cast<std::int64_t>(titles_.size());
    if (count < 2 || std::ssize(places) != count || *places.rbegin() + 1 != count) return;
    for (ProcessStack& stack : out_) {
      if (stack.file != path_ || !stack.ranks.empty()) continue;
      for (const std::int64_t pid : stack.pids) {
        if (const auto found = titles_.find(pid); found != titles_.end())
          stack.ranks.push_back(static_cast<int>(found->second));
      }
      std::sort(stack.ranks.begin(), stack.ranks.end());
    }
  }

  std::string path_;
  std::size_t ranks_kept_ = 0;
  std::vector<ProcessStack>& out_;
  StackHead file_;
  StackHead head_;
  std::vector<Thread> threads_;
  std::vector<std::int64_t> more_pids_;
  std::map<std::int64_t, std::int64_t> titles_;  ///< by process id: its place in a group
  int more_ = 0;
  std::int64_t own_pid_ = -1;
  bool has_stack_ = false;
  bool is_headless_ = false;
  bool is_in_frames_ = false;
  bool is_in_locals_ = false;  ///< py-spy --locals
};

}  // namespace

std::string ProcessStack::place() const {
  if (deciding >= frames.size()) return {};
  const Frame& frame = frames[deciding];
  if (frame.file.empty()) return frame.function;
  return frame.line > 0 ? fmt::format("{} ({}:{})", frame.function, frame.file, frame.line)
                        : fmt::format("{} ({})", frame.function, frame.file);
}

std::string ProcessStack::who() const {
  std::string text;
  if (static_cast<int>(ranks.size()) >= count) {
    std::vector<int> sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    text = (sorted.size() == 1 ? "rank " : "ranks ") + format_ranks(sorted);
  } else if (local_rank >= 0) {
    text = fmt::format("local rank {}", local_rank);
  } else if (!pids.empty() && (count == 1 || static_cast<int>(pids.size()) == count)) {
    text = pids.size() == 1
               ? fmt::format("process {}", pids.front())
               : fmt::format("processes {} and {} more", pids.front(), pids.size() - 1);
  } else {
    text = count == 1 ? "a process" : fmt::format("{} processes", count);
  }
  if (!host.empty() && ranks.empty()) text += fmt::format(" ({})", host);
  return text;
}

std::string ProcessStack::text() const {
  const bool is_one = count == 1;
  return fmt::format("{} {} in {}: {}", who(), is_one ? "is" : "are", place(), describe(activity));
}

std::vector<ProcessStack> read_process_stacks(const std::vector<PasteLine>& lines,
                                              std::string_view path, std::vector<bool>* used) {
  std::vector<ProcessStack> stacks;
  Reader reader(path, stacks);
  if (used != nullptr) used->assign(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_of_stack = reader.take(lines[i]);
    if (used != nullptr) (*used)[i] = is_of_stack;
  }
  reader.finish();
  return stacks;
}

std::vector<ProcessStack> read_json_stack(std::string_view text, std::string_view path) {
  const Json threads = Json::parse(text, nullptr, false);
  if (!threads.is_array()) return {};
  ProcessStack stack;
  stack.file = path;
  for (const Json& thread : threads) {
    const auto frames = thread.is_object() ? thread.find("frames") : thread.end();
    if (!thread.is_object() || frames == thread.end() || !frames->is_array()) continue;
    Stack own;
    for (const Json& frame : *frames) {
      if (!frame.is_object()) continue;
      const auto text_of = [&](const char* key) {
        const auto found = frame.find(key);
        return found != frame.end() && found->is_string() ? found->get<std::string>()
                                                          : std::string{};
      };
      const auto line = frame.find("line");
      const bool has_line = line != frame.end() && line->is_number_integer();
      own.push_back(
          {text_of("name"), text_of("filename"), has_line ? line->get<std::int64_t>() : 0});
    }
    const auto name = thread.find("thread_name");
    const bool is_main =
        name != thread.end() && name->is_string() && name->get<std::string>() == "MainThread";
    if (is_main || stack.frames.empty()) stack.frames = std::move(own);
    const auto pid = thread.find("pid");
    if (pid != thread.end() && pid->is_number_integer()) stack.pids = {pid->get<std::int64_t>()};
    if (is_main) break;
  }
  if (stack.frames.empty()) return {};
  classify(stack);
  return {std::move(stack)};
}

}  // namespace ringside::hang
