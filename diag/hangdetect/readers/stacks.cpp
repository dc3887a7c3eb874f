#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/paste_text.h"

/// Stacks show work of a rank that its recorder does not see. They are extra evidence: no verdict needs them.
namespace ringside::hang {
namespace {

/// Bytes of a file; chosen: the stacks of a process take some ten KiB.
constexpr std::uint64_t kLargest = 16U << 20U;

/// If a file holds one process and the number in its name is not that process's id, the number is its rank.
void name_by_file(const std::string& path, std::vector<ProcessStack>& stacks) {
  const int rank = rank_of_name(path);
  if (stacks.size() != 1 || rank < 0 || !stacks.front().ranks.empty()) return;
  const bool is_pid = std::find(stacks.front().pids.begin(), stacks.front().pids.end(), rank) !=
                      stacks.front().pids.end();
  if (!is_pid && stacks.front().count == 1) stacks.front().ranks = {rank};
}

void note_stack(const ProcessStack& stack, RankNotes& notes) {
  notes.has_stack = true;
  notes.is_in_group_creation = stack.activity == Activity::GroupCreation;
  notes.is_busy = !is_waiting_for_ranks(stack.activity);
  if (notes.is_busy) {
    notes.busy_with = stack.activity == Activity::Compute
                          ? stack.place()
                          : stack.place() + ": it " + std::string(describe(stack.activity));
  }
}

}  // namespace

void read_stacks(const std::vector<InputFile>& files, LogFacts& facts, std::vector<BadFile>& bad) {
  for (const InputFile& file : files) {
    if (file.kind != FileKind::Threads) continue;
    auto text =
        file.bytes > kLargest
            ? Result<std::string>(Error{ErrorCode::Corrupt,
                                        file.path + ": larger than any stacks of a job (16 MiB)",
                                        "give the stacks of fewer processes in one file"})
            : read_file(file.path);
    if (!text) {
      bad.push_back({file.path, text.error()});
      continue;
    }
    text = as_utf8(*std::move(text));
    const std::size_t first = text->find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string::npos && (*text)[first] == '[';
    std::vector<ProcessStack> stacks = is_json ? read_json_stack(*text, file.path)
                                               : read_process_stacks(read_paste(*text), file.path);
    name_by_file(file.path, stacks);
    facts.stacks.insert(facts.stacks.end(), std::make_move_iterator(stacks.begin()),
                        std::make_move_iterator(stacks.end()));
  }
  for (const ProcessStack& stack : facts.stacks) {
    for (const int rank : stack.ranks) note_stack(stack, facts.notes[rank]);
  }
}

}  // namespace ringside::hang
