#include "diag/job/occupation.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/wrappers.h"

namespace ringside::job {
namespace {

using logs::trimmed;
using What = Occupation::What;

// Messages of Megatron-LM, DeepSpeed, transformers, Lightning and NeMo about a checkpoint: a verb and an object.
constexpr auto kBegins = std::to_array<std::string_view>({"saving", "writing"});
constexpr auto kDone =
    std::to_array<std::string_view>({"saved", "finished saving", "done saving", "written"});
constexpr auto kCalls =
    std::to_array<std::string_view>({"torch.save", "save_pretrained", "save_checkpoint("});
constexpr auto kObjects =
    std::to_array<std::string_view>({"checkpoint", "model", "optimizer", "state", "weights"});

// Frames of py-spy's stacks: whole words that do not occur in messages.
constexpr auto kFiles =
    std::to_array<std::string_view>({"(torch/serialization.py:", "_try_get_data ("});

/// Returns whether the label belongs to the loop that all ranks run: its bar stops because the job hangs.
bool is_of_training(std::string_view label) {
  // `Running tokenizer on train dataset` is not such a loop.
  const std::string small = lower_case(label);
  for (const std::string_view loop : {"epoch", "train", "pre-train", "pretrain", "step", "iter",
                                      "batch", "loss", "valid", "sanity", "eval", "test"}) {
    if (small.starts_with(loop)) return true;
  }
  return false;
}

std::string_view digits_at(std::string_view text, std::size_t from) {
  from = std::min(from, text.size());
  const std::size_t end = text.find_first_not_of("0123456789", from);
  return text.substr(from, (end == std::string_view::npos ? text.size() : end) - from);
}

/// Reads the last bar of the line, as printed by tqdm: `Map:  12%|#         | 60000/500000 [03:30<25:40, 285.6
/// examples/s]`
Occupation bar_in(std::string_view line) {
  const std::size_t percent = line.rfind("%|");
  if (percent == std::string_view::npos) return {};
  const std::size_t close = line.find("| ", percent + 2);
  if (close == std::string_view::npos) return {};
  const std::string_view done = digits_at(line, line.find_first_not_of(' ', close + 2));
  const std::size_t slash = static_cast<std::size_t>(done.data() - line.data()) + done.size();
  if (done.empty() || slash >= line.size() || line[slash] != '/') return {};
  const std::string_view all = digits_at(line, slash + 1);
  // The label is the text before the percentage, up to its colon.
  const std::size_t number = line.find_last_not_of("0123456789", percent - (percent > 0 ? 1 : 0));
  std::string_view label =
      number == std::string_view::npos ? std::string_view() : trimmed(line.substr(0, number + 1));
  if (label.empty() || label.back() != ':') {
    // Without a label, the counted unit decides: bytes are not training steps.
    const bool counts_data = line.find("B/s", slash) != std::string_view::npos ||
                             line.find("examples/s", slash) != std::string_view::npos ||
                             line.find("files/s", slash) != std::string_view::npos;
    if (!label.empty() || !counts_data) return {};
    return {done == all ? What::BarDone : What::Bar, "a bar that counts data"};
  }
  label.remove_suffix(1);
  // Removes what precedes the label: a time, as in `2026-03-14T09:26:53Z Epoch 3`; a launcher's tag or the bar's
  // previous state, as in `[default0]:Tokenizing` and `\rMap`; the colon after a tag. Without `\r` and `]`, npos + 1 is
  // the beginning.
  std::int64_t time = 0;
  label = trimmed(label.substr(logs::read_time(label, time)));
  label = label.substr(std::min(label.size(), label.find_last_of("\r]") + 1));
  label = trimmed(label.substr(std::min(label.size(), label.find_first_not_of(": "))));
  if (label.empty() || is_of_training(label)) return {};
  return {done == all ? What::BarDone : What::Bar, std::string(label)};
}

}  // namespace

Occupation occupation_in(std::string_view line) {
  if (contains_any(line, kFiles)) return {What::Files};
  if (Occupation bar = bar_in(line); bar.what != What::None) return bar;
  constexpr std::size_t kNear = 200;  // words of a message, not of a text that it quotes
  const std::string small = lower_case(line.substr(0, kNear));
  // A call in a line of source code, such as `torch.save(model.state_dict(), path)`, was not necessarily made.
  const bool is_call =
      contains_any(small, kCalls) && !contains(small, " = ") && !contains(small, "(model");
  if (is_call) return {What::Saving};
  if (!contains_any(small, kObjects)) return {};
  if (contains_any(small, kDone)) return {What::Saved};
  // A setting, not an action: `saving a checkpoint every 500 steps`.
  if (contains_any(small, kBegins) && !contains(small, "every")) return {What::Saving};
  return {};
}

std::string words_of(const Occupation& occupation) {
  switch (occupation.what) {
    case What::Saving:
      return "was writing a checkpoint";
    case What::Bar:
      return "was busy with `" + occupation.label + "`, whose progress bar was not at its end";
    case What::Files:
      return "was busy with files or data: its stack ends in a checkpoint or in the data loader";
    default:  // Saved, BarDone
      return "has done its work";
  }
}

}  // namespace ringside::job
