#include "study/explain/upgrade.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/vocabulary.h"
#include "engine/topology/sources/load_hosts.h"
#include "study/explain/undo.h"

namespace ringside::study {
namespace {

constexpr Collective kTuned[] = {Collective::AllReduce, Collective::AllGather,
                                 Collective::ReduceScatter, Collective::Broadcast,
                                 Collective::Reduce};

bool is_same_choice(const TunedChoice& a, const TunedChoice& b) {
  return a.algorithm == b.algorithm && a.protocol == b.protocol && a.max_channels == b.max_channels;
}

/// Returns the predicted time after the upgrade over the one before; 1 if a release predicts none.
double ratio_of(const TunedChoice& before, const TunedChoice& after) {
  const double was = static_cast<double>(before.prediction.time_us);
  const double is = static_cast<double>(after.prediction.time_us);
  return was > 0 && is > 0 ? is / was : 1;
}

/// Returns 1 for slower, -1 for faster, 0 for the same within kSameTime.
int sense_of(double ratio) { return ratio > 1 + kSameTime ? 1 : ratio < 1 - kSameTime ? -1 : 0; }

/// Returns whether a further size belongs to the stretch: the same change of choice, or the same sense of the times.
bool have_equal_change(const UpgradeStretch& stretch, const TunedChoice& before,
                       const TunedChoice& after) {
  const bool is_other_choice = !is_same_choice(before, after);
  if (is_other_choice != stretch.is_other_choice) return false;
  if (is_other_choice) {
    return is_same_choice(stretch.before, before) && is_same_choice(stretch.after, after);
  }
  return sense_of(ratio_of(before, after)) == sense_of(stretch.most_ratio) &&
         sense_of(stretch.least_ratio) == sense_of(stretch.most_ratio);
}

/// Returns the time in us that a release predicts for another one's choice; nullopt: the choice is not available.
std::optional<float> time_of_choice(const Tuner& tuner, const TuningCall& call,
                                    const TunedChoice& choice) {
  for (const Candidate& candidate : tuner.candidates(call)) {
    if (candidate.algorithm == choice.algorithm && candidate.protocol == choice.protocol &&
        candidate.obstacle == Obstacle::None) {
      return candidate.prediction.time_us;
    }
  }
  return {};
}

/// Returns all sizes of one collective; sizes with equal changes are merged.
Result<UpgradeOfCollective> upgrade_of(const Calls& calls, const Tuner& before, const Tuner& after,
                                       UndoSearch& undo) {
  UpgradeOfCollective all{.collective = calls.collective};
  std::vector<TunedChoice> old;
  std::vector<Bytes> sizes;
  const auto finish = [&] {
    if (all.stretches.empty() || !all.stretches.back().is_other_choice) return;
    all.stretches.back().undo = undo.for_choices(calls, sizes, old);
  };
  for (const Bytes size : calls.sizes) {
    const TuningCall call = calls.at(size);
    RINGSIDE_TRY(TunedChoice was, before.choose(call));
    RINGSIDE_TRY(TunedChoice is, after.choose(call));
    const double ratio = ratio_of(was, is);
    if (all.stretches.empty() || !have_equal_change(all.stretches.back(), was, is)) {
      finish();
      old.clear();
      sizes.clear();
      all.stretches.push_back({.first = size,
                               .last = size,
                               .before = was,
                               .after = is,
                               .least_ratio = ratio,
                               .most_ratio = ratio,
                               .is_other_choice = !is_same_choice(was, is),
                               .old_choice_us = time_of_choice(after, call, was)});
    }
    UpgradeStretch& stretch = all.stretches.back();
    stretch.last = size;
    stretch.least_ratio = std::min(stretch.least_ratio, ratio);
    stretch.most_ratio = std::max(stretch.most_ratio, ratio);
    old.push_back(std::move(was));
    sizes.push_back(size);
  }
  finish();
  return all;
}

std::string graph_words(const GraphSummary& graph) {
  if (graph.nchannels == 0) return "none";
  return fmt::format("{} x {:g}/{:g} GB/s {}/{}{}", graph.nchannels, graph.bw_intra, graph.bw_inter,
                     to_string(graph.type_intra), to_string(graph.type_inter),
                     graph.cross_nic > 0 ? " crossing NICs" : "");
}

/// Returns the NICs by which the rings of each kind of node enter and leave, by number: "0 1 2>3".
std::string ring_nics(const TunedJob& job) {
  std::string words;
  const Job& built = job.asked.job;
  for (std::size_t kind = 0; kind < built.reports.size(); ++kind) {
    const auto number = [&](int net) {
      return built.systems[kind].nets[static_cast<std::size_t>(net)].dev;
    };
    if (kind > 0) words += " |";
    for (const auto& [in, out] : built.reports[kind].graphs[GraphId::Ring].inter) {
      words += fmt::format("{}{}", words.empty() ? "" : " ", number(in));
      if (in != out) words += fmt::format(">{}", number(out));
    }
  }
  return words.empty() ? "none" : words;
}

/// Adds the algorithms and protocols whose maximum number of threads in a block differs.
void compare_threads(const TunedJob& before, const TunedJob& after, UndoSearch& undo,
                     std::vector<LayoutDifference>& differences) {
  const auto& was = before.tuner.table().max_threads;
  const auto& is = after.tuner.table().max_threads;
  for (std::size_t a = 0; a < was.size(); ++a) {
    for (std::size_t p = 0; p < was[a].size(); ++p) {
      if (was[a][p] == is[a][p]) continue;
      LayoutDifference one{fmt::format("threads of {}/{}", to_string(static_cast<Algorithm>(a)),
                                       to_string(static_cast<Protocol>(p))),
                           fmt::format("{}", was[a][p]), fmt::format("{}", is[a][p])};
      const std::string setting = "NCCL_NTHREADS=" + one.before;
      one.undo = undo.for_layout(
          {&setting, 1}, [&](const TunedJob& job) { return job.tuner.table().max_threads == was; });
      differences.push_back(std::move(one));
    }
  }
}

/// Returns what differs in graphs and channels, and a single variable that restores it.
std::vector<LayoutDifference> compare_layouts(const TunedJob& before, const TunedJob& after,
                                              UndoSearch& undo) {
  using Words = std::string (*)(const TunedJob&);
  struct Part {
    const char* what;
    Words words;
    const char* variable;  ///< whose value is the number before; empty: none
  };
  static constexpr auto kCount = [](int count) { return fmt::format("{}", count); };
  const Part parts[] = {
      {"channels of rings and trees",
       [](const TunedJob& job) { return kCount(job.shape().nchannels); }, "NCCL_MAX_NCHANNELS"},
      {"channels of NVLS", [](const TunedJob& job) { return kCount(job.shape().nvls_channels); },
       "NCCL_NVLS_NCHANNELS"},
      {"channels of sends and receives",
       [](const TunedJob& job) { return kCount(job.shape().p2p_channels); },
       "NCCL_MAX_P2P_NCHANNELS"},
      {"of them to one peer",
       [](const TunedJob& job) { return kCount(job.shape().p2p_channels_per_peer); },
       "NCCL_NCHANNELS_PER_NET_PEER"},
      {"ring graph",
       [](const TunedJob& job) { return graph_words(job.shape().graph(GraphId::Ring)); }, ""},
      {"NICs of rings", ring_nics, ""},
      {"tree graph",
       [](const TunedJob& job) { return graph_words(job.shape().graph(GraphId::Tree)); }, ""},
      {"NVLS graph",
       [](const TunedJob& job) { return graph_words(job.shape().graph(GraphId::Nvls)); }, ""}};
  std::vector<LayoutDifference> differences;
  for (const Part& part : parts) {
    LayoutDifference one{part.what, part.words(before), part.words(after)};
    one.is_count = *part.variable != 0;
    if (one.before == one.after) continue;
    std::vector<std::string> settings;
    if (*part.variable != 0 && one.before != "0") {
      settings.push_back(fmt::format("{}={}", part.variable, one.before));
      if (std::string_view{part.variable} == "NCCL_MAX_NCHANNELS") {
        settings.push_back("NCCL_MIN_NCHANNELS=" + one.before);
      }
      if (std::string_view{part.variable} == "NCCL_MAX_P2P_NCHANNELS") {
        settings.push_back("NCCL_MIN_P2P_NCHANNELS=" + one.before);
      }
    }
    for (const char* newer :
         {"NCCL_NVLS_ENABLE=0", "NCCL_PXN_C2C=0", "NCCL_NET_GDR_C2C=0", "NCCL_P2P_LEVEL=SYS",
          "NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1", "NCCL_TOPO_SCATTER_START_NET=1"}) {
      settings.emplace_back(newer);
    }
    one.undo = undo.for_layout(settings,
                               [&](const TunedJob& job) { return part.words(job) == one.before; });
    differences.push_back(std::move(one));
  }
  compare_threads(before, after, undo, differences);
  if (before.asked.job.connection.channels.rings != after.asked.job.connection.channels.rings &&
      before.shape().nchannels == after.shape().nchannels) {
    differences.push_back({"order of ranks in rings", "", "other"});
  }
  return differences;
}

/// Returns whether a release supports the GPUs of the hosts. Releases that support Blackwell have a speed for its
/// NVLinks; earlier ones treat it as Hopper.
bool knows_gpus(const TopologyRules& rules, const JobHosts& hosts) {
  constexpr int kBlackwell = 100;
  if (rules.nvlink.blackwell != rules.nvlink.hopper) return true;
  return std::ranges::all_of(hosts.runs, [](const HostRun& run) {
    const auto gpus = gpus_of(run.host);
    return std::ranges::all_of(gpus, [](const HostGpu* gpu) { return gpu->sm < kBlackwell; });
  });
}

Status check_upgrade(const UpgradeQuestion& question) {
  if (question.job.on.empty()) {
    return Error{ErrorCode::InvalidArgument, "explain --upgrade needs --on",
                 "such as ringside explain --upgrade 2.19 2.27 --on dgx-h100 --nodes 2"};
  }
  if (question.from == question.to) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--upgrade {} {} changes nothing", question.from, question.to),
                 "name two releases, the one that runs first"};
  }
  return {};
}

}  // namespace

Result<Upgrade> explain_upgrade(const UpgradeQuestion& question) {
  RINGSIDE_TRY(check_upgrade(question));
  RINGSIDE_TRY(const TunedJob before, load_tuned_job(question.job, question.from));
  RINGSIDE_TRY(const TunedJob after, load_tuned_job(question.job, question.to));
  UndoSearch undo(question.job, question.to);
  Upgrade upgrade{.from = before.tuner.model().patch,
                  .to = after.tuner.model().patch,
                  .before = before.shape(),
                  .after = after.shape(),
                  .layout = compare_layouts(before, after, undo)};
  std::vector<std::string> names{question.calls.collective};
  if (names.front().empty()) {
    names.clear();
    for (const Collective collective : kTuned) names.emplace_back(to_string(collective));
  }
  for (const std::string& name : names) {
    CallWords words = question.calls;
    words.collective = name;
    RINGSIDE_TRY(const Calls calls, parse_calls(words));
    RINGSIDE_TRY(UpgradeOfCollective one, upgrade_of(calls, before.tuner, after.tuner, undo));
    upgrade.sizes += calls.sizes.size();
    for (const UpgradeStretch& stretch : one.stretches) {
      if (!stretch.is_other_choice) continue;
      upgrade.changed_sizes +=
          static_cast<std::size_t>(std::ranges::count_if(calls.sizes, [&stretch](Bytes size) {
            return size >= stretch.first && size <= stretch.last;
          }));
    }
    upgrade.collectives.push_back(std::move(one));
  }
  return upgrade;
}

std::span<const UpgradeStep> upgrade_steps() {
  static constexpr UpgradeStep kSteps[] = {{"2.18", "2.19"}, {"2.19", "2.20"}, {"2.20", "2.21"},
                                           {"2.21", "2.26"}, {"2.26", "2.27"}, {"2.27", "2.30"},
                                           {"2.30", "2.31"}};
  return kSteps;
}

Result<std::vector<UpgradeRow>> upgrade_rows(const UpgradeStep& step, const std::string& only) {
  RINGSIDE_TRY(const TopologyRules rules, load_topology_rules(step.from));
  std::vector<std::string> sources(host_preset_names().begin(), host_preset_names().end());
  if (!only.empty()) sources = {only};
  // Ignore this process's variables: an empty value unsets one.
  std::vector<std::string> nothing;
  for (const std::string_view name : known_variables()) nothing.push_back(fmt::format("{}=", name));
  std::vector<UpgradeRow> rows;
  for (const std::string& source : sources) {
    for (const int nodes : {1, 2, 4}) {
      const UpgradeQuestion question{
          .job = {.on = source, .nodes = nodes, .set = nothing}, .from = step.from, .to = step.to};
      RINGSIDE_TRY(const JobHosts hosts, load_job_hosts(question.job));
      if (!knows_gpus(rules, hosts)) continue;
      RINGSIDE_TRY(Upgrade upgrade, explain_upgrade(question));
      rows.push_back({source, nodes, std::move(upgrade)});
    }
  }
  return rows;
}

}  // namespace ringside::study
