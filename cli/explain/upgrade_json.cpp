#include <nlohmann/json.hpp>

#include "cli/explain/upgrade_text.h"
#include "cli/topo/topo_json.h"

namespace ringside::cli {
namespace {

Json way_json(const TunedChoice& choice) {
  return {{"algorithm", to_string(choice.algorithm)},
          {"protocol", to_string(choice.protocol)},
          {"nchannels", choice.max_channels},
          {"time_us", as_written(choice.prediction.time_us)}};
}

Json undo_json(const study::Undo& undo) {
  return {{"set", undo.set},
          {"is_whole", undo.restores_channels},
          {"time_us", undo.time_us ? Json(as_written(*undo.time_us)) : Json()}};
}

Json stretches_json(const study::UpgradeOfCollective& one) {
  Json rows = Json::array();
  for (const study::UpgradeStretch& stretch : one.stretches) {
    rows.push_back({{"from_bytes", stretch.first.value},
                    {"to_bytes", stretch.last.value},
                    {"before", way_json(stretch.before)},
                    {"after", way_json(stretch.after)},
                    {"is_chosen_otherwise", stretch.is_other_choice},
                    {"time_ratio", {stretch.least_ratio, stretch.most_ratio}},
                    {"old_choice_us",
                     stretch.old_choice_us ? Json(as_written(*stretch.old_choice_us)) : Json()},
                    {"undo", stretch.is_other_choice ? undo_json(stretch.undo) : Json()}});
  }
  return rows;
}

}  // namespace

Json upgrade_document(const study::Upgrade& upgrade) {
  Json laid = Json::array();
  for (const study::LayoutDifference& one : upgrade.layout) {
    laid.push_back(
        {{"what", one.what}, {"before", one.before}, {"after", one.after}, {"undo", one.undo.set}});
  }
  Json collectives = Json::array();
  for (const study::UpgradeOfCollective& one : upgrade.collectives) {
    collectives.push_back(
        {{"collective", to_string(one.collective)}, {"sizes", stretches_json(one)}});
  }
  return {{"schema", "ringside.upgrade/1"},
          {"from", upgrade.from},
          {"to", upgrade.to},
          {"nranks", upgrade.after.nranks},
          {"nnodes", upgrade.after.nnodes},
          {"sizes", upgrade.sizes},
          {"changed_sizes", upgrade.changed_sizes},
          {"laid", std::move(laid)},
          {"collectives", std::move(collectives)}};
}

}  // namespace ringside::cli
