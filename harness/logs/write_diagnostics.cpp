#include "harness/logs/write_diagnostics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "engine/debuglog/diagnostics_text.h"
#include "engine/topology/device_models.h"
#include "engine/topology/host_edit.h"
#include "engine/topology/paths/reach.h"
#include "harness/logs/noise.h"

namespace ringside {
namespace {

constexpr std::string_view kActive = "NCCL_RUN_DIAGNOSTICS";
constexpr std::string_view kPassive = "NCCL_RUN_RAS_DIAGNOSTICS";

bool asks_for(const LogHost& host, std::string_view name) {
  return std::ranges::any_of(host.settings, [name](const Setting& setting) {
    return setting.name == name && setting.value != "0";
  });
}

std::string model_of(const HostPci& function) {
  std::string_view digits = function.device;
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  std::uint16_t id = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
  const std::optional<GpuModel> model = gpu_model(id);
  return model ? "NVIDIA " + std::string(model->name) : "NVIDIA GPU";
}

/// Returns the properties of each GPU, with those that the processes of a host have in common.
std::vector<RankDiagnosis> diagnose_host(const LogHost& named, Host host) {
  const CudaVersion cuda = cuda_of(named.version);
  RankDiagnosis common{.driver = cuda.major * 1000 + cuda.minor * 10};
  for (const Setting& setting : named.settings) common.variables[setting.name] = setting.value;
  const std::vector<HostGpuPlace> places = gpu_places_of(host);
  common.gpus = static_cast<int>(places.size());
  std::vector<RankDiagnosis> found;
  for (const HostGpuPlace& place : places) {
    RankDiagnosis& one = found.emplace_back(common);
    one.gpu = model_of(*place.function);
    for (const HostNvLink& link : place.gpu->nvlinks) one.nvlinks += link.count;
  }
  return found;
}

std::vector<RankDiagnosis> diagnose(const RankView& rank) {
  std::vector<std::vector<RankDiagnosis>> by_host;
  for (const HostRun& run : rank.job.request().hosts.runs) {
    for (int i = 0; i < run.count; ++i) {
      by_host.push_back(diagnose_host(rank.job.hosts()[by_host.size()], run.host));
    }
  }
  std::vector<RankDiagnosis> found;
  for (const int member : rank.communicator->members) {
    const LogProcess& process = rank.job.processes()[static_cast<std::size_t>(member)];
    found.push_back(
        by_host[static_cast<std::size_t>(process.host)][static_cast<std::size_t>(process.local)]);
  }
  return found;
}

/// The connections between the GPUs of a node: pairs that copy directly, and pairs that copy through another GPU.
struct Edges {
  int direct = 0, indirect = 0;
};
Edges edges_of(const RankView& rank) {
  const ConnectionRules rules = rank.job.rules(rank.host());
  const CommunicatorLayout& layout = rank.layout();
  Edges edges;
  for (int from = 0; from < layout.nranks(); ++from) {
    for (int to = 0; to < layout.nranks(); ++to) {
      const auto [node, a] = layout.place(from);
      const auto [other, b] = layout.place(to);
      if (from == to || node != other) continue;
      const System& system = layout.system(from);
      const PathType type = system.path(gpu_ref(a), gpu_ref(b)).type;
      const bool is_refused = rules.refuses_p2p && type > PathType::Nvb;
      if (is_refused || !may_p2p(system, rules.topology, a, b)) continue;
      ++(type == PathType::Nvb ? edges.indirect : edges.direct);
    }
  }
  return edges;
}

}  // namespace

std::span<const std::string_view> diagnostics_variables() {
  static constexpr std::array kNames{kActive, kPassive};
  return kNames;
}

void write_diagnostics(const RankView& rank, DebugLog& log) {
  if (rank.version().is_before(31) || rank.rank != 0) return;
  const int nranks = rank.layout().nranks();
  const auto print = [&log](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) log.diagnosis(line);
  };
  if (rank.generation == 0 && asks_for(rank.host(), kPassive)) {
    print(ras_diagnostics_text(rank.communicator->id, diagnose(rank),
                               5 + 2 * rank.share(kPassiveTime)));
  }
  if (asks_for(rank.host(), kActive)) {
    const Edges edges = edges_of(rank);
    print(diagnostics_text(edges.direct, edges.indirect, nranks,
                           20 + edges.direct * (0.5 + rank.share(kActiveTime))));
  }
}

}  // namespace ringside
