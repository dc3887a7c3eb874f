#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/drawing.h"
#include "cli/job_options.h"
#include "cli/topo_json.h"
#include "cli/topo_logs.h"
#include "cli/topo_text.h"
#include "cli/verb.h"
#include "cli/write_text.h"
#include "engine/channels/graph_xml.h"
#include "engine/topology/load_hosts.h"
#include "engine/topology/nccl_xml.h"

namespace ringside::cli {
namespace {

struct TopoArguments {
  JobOptions job;
  LogOptions logs;
  std::string drawing;
  std::string topology_file;
  std::string graph_file;
  bool all = false;
  bool json = false;
};

Status check_arguments(const TopoArguments& arguments) {
  if (!arguments.json || arguments.drawing.empty()) return {};
  return Error{ErrorCode::InvalidArgument, "--json and --draw both want stdout",
               "give one of them"};
}

/// A machine may well have no GPU; a job needs them.
Status check_gpus(const JobHosts& hosts) {
  for (const HostRun& run : hosts.runs) {
    if (!gpus_of(run.host).empty()) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} has no GPU that takes part: {} NUMA nodes, and nothing to connect",
                             run.host.name, run.host.cpus.size()),
                 fmt::format("look at a preset instead: {}", fmt::join(host_preset_names(), ", "))};
  }
  return {};
}

/// What NCCL_TOPO_FILE takes is one host.
Status check_one_host(const JobHosts& hosts) {
  const auto differs = [&](const HostRun& run) {
    return run.host.name != hosts.runs.front().host.name;
  };
  if (std::none_of(hosts.runs.begin(), hosts.runs.end(), differs)) return {};
  return Error{ErrorCode::InvalidArgument, "--dump-xml with hosts that differ",
               "write them one by one: the file describes one host"};
}

VerbResult run(const TopoArguments& arguments) {
  RINGSIDE_TRY(check_arguments(arguments));
  if (!arguments.logs.folder.empty() || !arguments.logs.misconfiguration.empty()) {
    RINGSIDE_TRY(write_logs(arguments.job, arguments.logs));
    return kFine;
  }
  RINGSIDE_TRY(const Environment environment, environment_of(arguments.job));
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment));
  RINGSIDE_TRY(const ChannelParameters channels, parse_channel_parameters(environment));
  RINGSIDE_TRY(const JobHosts hosts,
               load_hosts(arguments.job.on, arguments.job.nodes, arguments.job.nvl_domain));
  RINGSIDE_TRY(check_gpus(hosts));
  RINGSIDE_TRY(const Job job, make_job(hosts, topology, channels));

  // Whatever can fail comes before the first byte is written.
  std::string answer;
  if (arguments.json) {
    answer = to_text(topo_document(hosts, job));
  } else if (!arguments.drawing.empty()) {
    RINGSIDE_TRY(answer, draw(arguments.drawing, hosts, job, arguments.all));
  } else {
    answer = topo_text(hosts, job, arguments.all);
  }
  std::string graph_xml;
  if (!arguments.graph_file.empty()) {
    RINGSIDE_TRY(graph_xml, to_graph_xml(job.reports.front().graphs, job.systems.front()));
  }
  if (!arguments.topology_file.empty()) {
    RINGSIDE_TRY(check_one_host(hosts));
    RINGSIDE_TRY(write_text(arguments.topology_file, to_nccl_xml(hosts.runs.front().host)));
  }
  if (!arguments.graph_file.empty()) {
    RINGSIDE_TRY(write_text(arguments.graph_file, graph_xml));
  }
  std::fwrite(answer.data(), 1, answer.size(), stdout);
  return kFine;
}

}  // namespace

Verb topo_verb() {
  return {"topo",
          "Show a cluster as NCCL sees it: paths, graphs, rings, trees",
          {"ringside topo --on dgx-h100 --nodes 2",
           "ringside topo --on dgx-a100 --draw ascii --dump-xml ./dgx-a100.xml"},
          [](CLI::App& app) {
            auto arguments = std::make_shared<TopoArguments>();
            TopoArguments& a = *arguments;
            add_job_options(app, a.job);
            app.add_option("--draw", a.drawing, "a picture instead: ascii, dot or svg");
            app.add_option("--dump-xml", a.topology_file,
                           "write the host for NCCL_TOPO_FILE into this file");
            app.add_option("--graph-xml", a.graph_file,
                           "write the first node's graphs for NCCL_GRAPH_FILE into this file");
            add_log_options(app, a.logs);
            app.add_flag("--all", a.all, "every row, however many");
            app.add_flag("--json", a.json, "one JSON document on stdout");
            return [arguments] { return run(*arguments); };
          }};
}

}  // namespace ringside::cli
