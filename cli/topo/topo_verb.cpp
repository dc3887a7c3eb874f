#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/write_file.h"
#include "cli/job_options.h"
#include "cli/options.h"
#include "cli/release_note.h"
#include "cli/topo/drawing.h"
#include "cli/topo/fabric_text.h"
#include "cli/topo/preset_table.h"
#include "cli/topo/topo_json.h"
#include "cli/topo/topo_text.h"
#include "cli/verb.h"
#include "engine/channels/graph_xml.h"
#include "engine/releases/releases.h"
#include "engine/topology/sources/nccl_xml.h"
#include "study/explain/topo_facts.h"

namespace ringside::cli {
namespace {

struct TopoArguments {
  JobOptions job;
  std::string drawing;
  std::string topology_file;
  std::string graph_file;
  std::string nccl{kDefaultRelease};
  bool all = false;
  bool presets = false;
  bool json = false;
};

Status check_arguments(const TopoArguments& arguments) {
  if (arguments.job.on.empty() && !arguments.presets) {
    return Error{ErrorCode::InvalidArgument, "--on is missing",
                 "such as --on dgx-h100; --presets lists all presets"};
  }
  if (arguments.presets && (!arguments.job.on.empty() || !arguments.drawing.empty() ||
                            !arguments.topology_file.empty() || !arguments.graph_file.empty())) {
    return Error{ErrorCode::InvalidArgument, "--presets lists all presets and takes only --json",
                 "omit the other options, or --presets"};
  }
  if (!arguments.json || arguments.drawing.empty()) return {};
  return Error{ErrorCode::InvalidArgument, "--json and --draw both want stdout",
               "give one of them"};
}

VerbResult run(const TopoArguments& arguments) {
  RINGSIDE_TRY(check_arguments(arguments));
  if (arguments.presets) {
    RINGSIDE_TRY(const auto presets, study::preset_facts());
    const std::string list =
        arguments.json ? to_text(presets_document(presets)) : preset_table(presets);
    std::fwrite(list.data(), 1, list.size(), stdout);
    return kFine;
  }
  note_unverified(arguments.nccl);
  print_idle_settings(arguments.job);
  RINGSIDE_TRY(const study::AskedJob asked, study::load_job(arguments.job, arguments.nccl));
  const JobHosts& hosts = asked.hosts;
  const Job& job = asked.job;

  // Everything that can fail comes before the first byte is written.
  std::string answer;
  if (arguments.json) {
    Json document = topo_document(hosts, job);
    if (asked.fabric) document["fabric"] = fabric_document(*asked.fabric);
    answer = to_text(document);
  } else if (!arguments.drawing.empty()) {
    const bool is_of_fabric = asked.fabric && arguments.drawing != "ascii";
    RINGSIDE_TRY(answer, is_of_fabric ? draw_fabric(arguments.drawing, *asked.fabric, arguments.all)
                                      : draw(arguments.drawing, hosts, job, arguments.all));
  } else {
    answer = topo_text(hosts, job, arguments.all);
  }
  if (asked.fabric && !arguments.json &&
      (arguments.drawing.empty() || arguments.drawing == "ascii")) {
    answer = fabric_text(*asked.fabric) + "\n" + answer;
  }
  std::string graph_xml;
  if (!arguments.graph_file.empty()) {
    RINGSIDE_TRY(graph_xml, to_graph_xml(job.reports.front().graphs, job.systems.front()));
  }
  if (!arguments.topology_file.empty()) {
    RINGSIDE_TRY(const Host host, study::only_host_of(hosts));
    RINGSIDE_TRY(write_file(arguments.topology_file, to_nccl_xml(host)));
  }
  if (!arguments.graph_file.empty()) {
    RINGSIDE_TRY(write_file(arguments.graph_file, graph_xml));
  }
  std::fwrite(answer.data(), 1, answer.size(), stdout);
  return kFine;
}

}  // namespace

Verb topo_verb() {
  return {"topo",
          "Show a cluster as NCCL sees it: paths, graphs, rings, trees",
          {"ringside topo --presets",
           "ringside topo --on dgx-a100 --draw ascii --dump-xml ./dgx-a100.xml"},
          [](Options& app) {
            auto arguments = std::make_shared<TopoArguments>();
            TopoArguments& a = *arguments;
            add_job_options(app, a.job)->required(false);
            app.add_flag("--presets", a.presets,
                         "list the presets that --on takes, with GPUs, memory, NVLinks and NICs");
            app.add_option("--draw", a.drawing, "a picture instead: ascii, dot or svg");
            app.add_output("--dump-xml", a.topology_file, ContentKind::TopologyXml,
                           "write the host for NCCL_TOPO_FILE into this file");
            app.add_output("--graph-xml", a.graph_file, ContentKind::GraphXml,
                           "write the first node's graphs for NCCL_GRAPH_FILE into this file");
            app.add_option("--nccl", a.nccl,
                           fmt::format("version of NCCL that lays the graphs ({} .. {})",
                                       release_versions().back(), release_versions().front()));
            app.add_flag("--all", a.all, "every row, however many");
            app.add_flag("--json", a.json, "one JSON document on stdout");
            return [arguments] { return run(*arguments); };
          },
          {{"--logs", "ringside generate logs -o DIR"},
           {"--break", "ringside generate logs --break NAME -o DIR"}}};
}

}  // namespace ringside::cli
