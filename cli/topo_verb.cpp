#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/write_file.h"
#include "cli/drawing.h"
#include "cli/fabric_text.h"
#include "cli/job_options.h"
#include "cli/options.h"
#include "cli/release_note.h"
#include "cli/topo_json.h"
#include "cli/topo_text.h"
#include "cli/verb.h"
#include "engine/channels/graph_xml.h"
#include "engine/releases/releases.h"
#include "engine/topology/nccl_xml.h"
#include "study/topo_facts.h"

namespace ringside::cli {
namespace {

struct TopoArguments {
  JobOptions job;
  std::string drawing;
  std::string topology_file;
  std::string graph_file;
  std::string nccl{kDefaultRelease};
  bool all = false;
  bool json = false;
};

Status check_arguments(const TopoArguments& arguments) {
  if (!arguments.json || arguments.drawing.empty()) return {};
  return Error{ErrorCode::InvalidArgument, "--json and --draw both want stdout",
               "give one of them"};
}

VerbResult run(const TopoArguments& arguments) {
  RINGSIDE_TRY(check_arguments(arguments));
  note_unverified(arguments.nccl);
  RINGSIDE_TRY(const study::AskedJob asked, study::load_job(arguments.job, arguments.nccl));
  const JobHosts& hosts = asked.hosts;
  const Job& job = asked.job;

  // Whatever can fail comes before the first byte is written.
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
          {"ringside topo --on dgx-h100 --nodes 2",
           "ringside topo --on dgx-a100 --draw ascii --dump-xml ./dgx-a100.xml"},
          [](Options& app) {
            auto arguments = std::make_shared<TopoArguments>();
            TopoArguments& a = *arguments;
            add_job_options(app, a.job);
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
