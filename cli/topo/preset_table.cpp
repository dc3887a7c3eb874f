#include "cli/topo/preset_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ringside::cli {
namespace {

/// Returns a number, or `-` where it is unknown or zero.
std::string number_text(double value) { return value > 0 ? fmt::format("{:g}", value) : "-"; }

}  // namespace

std::string preset_table(const std::vector<study::PresetFacts>& presets) {
  std::string text =
      fmt::format("{:<18}{:>5}  {:<16}{:>4}{:>10}{:>9}{:>6}{:>12}{:>14}\n", "preset", "GPUs", "GPU",
                  "sm", "memory GB", "NVLinks", "NICs", "Gbit/s", "NVLink domain");
  for (const study::PresetFacts& one : presets) {
    text += fmt::format("{:<18}{:>5}  {:<16}{:>4}{:>10}{:>9}{:>6}{:>12}{:>14}\n", one.name,
                        one.gpus, one.gpu.empty() ? "-" : one.gpu, one.sm,
                        number_text(one.gpu_memory_gb), number_text(one.nvlinks),
                        number_text(one.nics), number_text(one.nic_mbits_per_second / 1e3),
                        one.hosts_per_domain > 1 ? fmt::format("{} hosts", one.hosts_per_domain)
                                                 : std::string("1 host"));
  }
  return text +
         "GPUs and NICs are those of one host, NVLinks those of one GPU. --nodes counts NVLink "
         "domains.\n";
}

Json presets_document(const std::vector<study::PresetFacts>& presets) {
  Json rows = Json::array();
  for (const study::PresetFacts& one : presets) {
    Json row{{"name", one.name},
             {"gpus", one.gpus},
             {"gpu", nullptr},
             {"sm", one.sm},
             {"gpu_memory_gb", nullptr},
             {"nvlinks", one.nvlinks},
             {"nics", one.nics},
             {"nic_gbits_per_s", nullptr},
             {"hosts_per_nvlink_domain", one.hosts_per_domain}};
    if (!one.gpu.empty()) row["gpu"] = one.gpu;
    if (one.gpu_memory_gb > 0) row["gpu_memory_gb"] = one.gpu_memory_gb;
    if (one.nic_mbits_per_second > 0) row["nic_gbits_per_s"] = one.nic_mbits_per_second / 1e3;
    rows.push_back(std::move(row));
  }
  return {{"schema", "ringside.presets/1"}, {"presets", std::move(rows)}};
}

}  // namespace ringside::cli
