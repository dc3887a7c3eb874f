#include "cli/decisions_page.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "engine/channels/job.h"
#include "engine/topology/load_hosts.h"
#include "engine/tuning/crossover.h"

namespace ringside::cli {
namespace {

constexpr int kNodes[] = {1, 2, 4, 16};
constexpr Bytes kSizes[] = {1_KiB, 64_KiB, 1_MiB, 64_MiB, 1_GiB};

/// Nothing is set: the page is the same wherever it is made.
std::optional<std::string> nothing(const char* /*name*/) { return std::nullopt; }

Result<std::string> row_of(std::string_view preset, int nodes) {
  RINGSIDE_TRY(const JobHosts hosts, load_hosts(std::string(preset), nodes, std::nullopt));
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(nothing));
  RINGSIDE_TRY(const ChannelParameters channels, parse_channel_parameters(nothing));
  RINGSIDE_TRY(const Job job, make_job(hosts, topology, channels));
  RINGSIDE_TRY(const Tuner tuner, Tuner::make(job.connection.shape, {}));
  const CommShape& shape = tuner.shape();
  std::string row = fmt::format("| {} | {} | {} | {}/{} |", preset, nodes, shape.nranks,
                                shape.nchannels, shape.nvls_channels);
  for (const Bytes size : kSizes) {
    RINGSIDE_TRY(const TunedChoice choice, tuner.choose({.bytes = size}));
    const float time = choice.prediction.time_us;
    row += fmt::format(" {}/{} {} |", to_string(choice.algorithm), to_string(choice.protocol),
                       time > 0 ? format_time(Seconds{time * 1e-6}) : "-");
  }
  return row + "\n";
}

}  // namespace

Result<std::string> decisions_page(const std::string& only) {
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
      load_tuning_model(kNewestTuning)->patch);
  std::string rule = "\n|---|---|---|---|";
  for (const Bytes size : kSizes) {
    page += fmt::format(" {} |", format_bytes(size));
    rule += "---|";
  }
  page += rule + "\n";
  std::vector<std::string_view> sources(host_preset_names().begin(), host_preset_names().end());
  if (!only.empty()) sources = {only};
  for (const std::string_view preset : sources) {
    for (const int nodes : kNodes) {
      RINGSIDE_TRY(const std::string row, row_of(preset, nodes));
      page += row;
    }
  }
  return page;
}

}  // namespace ringside::cli
