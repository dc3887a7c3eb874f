#include "cli/explain/decisions_page.h"

#include <fmt/format.h>

#include "base/text.h"
#include "engine/tuning/model.h"

namespace ringside::cli {
namespace {

std::string row_text(const study::DecisionRow& row) {
  std::string text = fmt::format("| {} | {} | {} | {}/{} |", row.preset, row.nodes,
                                 row.shape.nranks, row.shape.nchannels, row.shape.nvls_channels);
  for (const TunedChoice& choice : row.choices) {
    const float time = choice.prediction.time_us;
    text += fmt::format(" {}/{} {} |", to_string(choice.algorithm), to_string(choice.protocol),
                        time > 0 ? format_time(Seconds{time * 1e-6}) : "-");
  }
  return text + "\n";
}

}  // namespace

std::string decisions_page(const std::vector<study::DecisionRow>& rows) {
  std::string page = fmt::format(
      "# What NCCL {} chooses on the presets\n\n"
      "Made by `ringside explain --presets`; do not edit.\n\n"
      "An all-reduce of floats, one operation alone, nothing set: the algorithm and protocol that\n"
      "NCCL takes, and the time that its own model predicts for it. `nodes` counts what the "
      "preset\n"
      "describes (of gb200-nvl72 and gb300-nvl72: NVLink domains); channels: of rings and trees, "
      "of\n"
      "NVLS.\n\n"
      "| preset | nodes | ranks | channels |",
      load_tuning_model(kDefaultRelease)->patch);
  std::string rule = "\n|---|---|---|---|";
  for (const Bytes size : study::decision_sizes()) {
    page += fmt::format(" {} |", format_bytes(size));
    rule += "---|";
  }
  page += rule + "\n";
  for (const study::DecisionRow& row : rows) page += row_text(row);
  return page;
}

}  // namespace ringside::cli
