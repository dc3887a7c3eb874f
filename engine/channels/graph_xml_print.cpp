#include <fmt/format.h>

#include <array>
#include <pugixml.hpp>
#include <sstream>

#include "engine/channels/graph_xml.h"
#include "engine/channels/graph_xml_names.h"

namespace ringside {
namespace {

template <typename T>
void set(pugi::xml_node node, const char* key, const T& value) {
  node.append_attribute(key).set_value(fmt::format("{}", value).c_str());
}

void print_net(pugi::xml_node channel, const System& system, int net) {
  set(channel.append_child("net"), "dev", fmt::format("0x{:x}", net_number(system, net)));
}

void print_channel(pugi::xml_node parent, const Graph& graph, std::size_t c, const System& system) {
  pugi::xml_node channel = parent.append_child("channel");
  const bool has_nets = c < graph.inter.size();
  if (has_nets) print_net(channel, system, graph.inter[c][0]);
  for (const int gpu : graph.intra[c]) {
    const GpuInfo& info = system.gpus[static_cast<std::size_t>(gpu)];
    pugi::xml_node element = channel.append_child("gpu");
    set(element, "dev", fmt::format("0x{:x}", info.dev));
    set(element, "rank", info.rank);
  }
  if (has_nets) print_net(channel, system, graph.inter[c][1]);
}

Status print_graph(pugi::xml_node parent, const Graph& graph, const System& system) {
  const auto intra = graph_type_name(graph.type_intra);
  const auto inter = graph_type_name(graph.type_inter);
  if (!intra || !inter) {
    return Error{ErrorCode::Unsupported, "a graph over C2C has no form in NCCL's graph XML",
                 "NCCL cannot dump it either"};
  }
  pugi::xml_node element = parent.append_child("graph");
  set(element, "id", static_cast<int>(graph.id));
  set(element, "pattern", static_cast<int>(graph.pattern));
  set(element, "crossnic", graph.cross_nic);
  set(element, "nchannels", graph.nchannels);
  set(element, "speedintra", graph.bw_intra);
  set(element, "speedinter", graph.bw_inter);
  set(element, "latencyinter", graph.latency_inter);
  set(element, "typeintra", *intra);
  set(element, "typeinter", *inter);
  set(element, "samechannels", graph.same_channels ? 1 : 0);
  for (std::size_t c = 0; c < graph.intra.size(); ++c) print_channel(element, graph, c, system);
  return {};
}

}  // namespace

Result<std::string> to_graph_xml(const Graphs& graphs, const System& system) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("graphs");
  set(root, "version", 1);
  constexpr std::array kOrder{GraphId::Ring, GraphId::Tree, GraphId::CollNetDirect,
                              GraphId::CollNetChain, GraphId::Nvls};
  for (const GraphId id : kOrder) RINGSIDE_TRY(print_graph(root, graphs[id], system));
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration);
  return text.str();
}

}  // namespace ringside
