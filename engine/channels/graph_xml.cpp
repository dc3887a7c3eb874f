#include "engine/channels/graph_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "engine/channels/attempt.h"
#include "engine/channels/graph_xml_names.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/xml_element.h"

namespace ringside {
namespace {

constexpr double kMaxSpeed = 5000;  ///< GB/s; larger than the rate of any path

class Reader {
 public:
  explicit Reader(const System& system) : system_(system) {}

  Result<Graphs> read(const XmlElement& root) {
    RINGSIDE_TRY(root.check_attributes());
    RINGSIDE_TRY(const std::int64_t version, root.whole("version", 1, 1, "1"));
    static_cast<void>(version);
    constexpr std::array<std::string_view, 1> kKnown{"graph"};
    RINGSIDE_TRY(const auto elements, root.children(kKnown));
    Graphs graphs;
    for (std::size_t id = 0; id < graphs.by_id.size(); ++id) {
      graphs.by_id[id].id = static_cast<GraphId>(id);
    }
    for (const XmlElement& element : elements) {
      RINGSIDE_TRY(Graph graph, read_graph(element));
      Graph& place = graphs[graph.id];
      if (place.nchannels > 0) {
        return element.bad(fmt::format("graph {} again", static_cast<int>(graph.id)),
                           "give each id once");
      }
      place = std::move(graph);
    }
    return graphs;
  }

 private:
  Result<Graph> read_graph(const XmlElement& element) {
    RINGSIDE_TRY(element.check_attributes());
    Graph graph;
    RINGSIDE_TRY(const std::int64_t id, element.whole("id", 0, kGraphs - 1, "0"));
    RINGSIDE_TRY(const std::int64_t pattern, element.whole("pattern", 1, 6, "4"));
    RINGSIDE_TRY(const std::int64_t cross, element.whole_or("crossnic", 0, 2, 0));
    RINGSIDE_TRY(const std::int64_t nchannels,
                 element.whole("nchannels", 0, Attempt::kMaxChannels, "8"));
    RINGSIDE_TRY(const double intra, element.number_or("speedintra", 0, kMaxSpeed, 0));
    RINGSIDE_TRY(const double inter, element.number_or("speedinter", 0, kMaxSpeed, 0));
    RINGSIDE_TRY(const double latency, element.number_or("latencyinter", 0, 1e6, 0));
    RINGSIDE_TRY(const std::int64_t same, element.whole_or("samechannels", 0, 1, 0));
    RINGSIDE_TRY(graph.type_intra, read_type(element, "typeintra"));
    RINGSIDE_TRY(graph.type_inter, read_type(element, "typeinter"));
    graph.id = static_cast<GraphId>(id);
    graph.pattern = static_cast<Pattern>(pattern);
    graph.is_collnet = graph.id == GraphId::CollNetChain || graph.id == GraphId::CollNetDirect;
    graph.cross_nic = static_cast<int>(cross);
    graph.nchannels = static_cast<int>(nchannels);
    graph.bw_intra = static_cast<float>(intra);
    graph.bw_inter = static_cast<float>(inter);
    graph.latency_inter = static_cast<float>(latency);
    graph.same_channels = same != 0;

    constexpr std::array<std::string_view, 1> kKnown{"channel"};
    RINGSIDE_TRY(const auto channels, element.children(kKnown));
    if (channels.size() != static_cast<std::size_t>(nchannels)) {
      return element.bad(fmt::format("nchannels {}, with {} <channel>", nchannels, channels.size()),
                         "make the two agree");
    }
    for (const XmlElement& channel : channels) RINGSIDE_TRY(read_channel(channel, graph));
    return graph;
  }

  static Result<PathType> read_type(const XmlElement& element, const char* key) {
    RINGSIDE_TRY(const std::string word, element.text(key, "NVL"));
    const auto type = parse_path_type(word);
    if (!type)
      return element.bad(fmt::format("{}: {}", key, type.error().message), type.error().help);
    if (!graph_type_name(*type)) {
      return element.bad(fmt::format("{} {}", key, word),
                         "a graph goes by LOC to SYS, without C2C");
    }
    return *type;
  }

  Status read_channel(const XmlElement& channel, Graph& graph) {
    constexpr std::array<std::string_view, 2> kKnown{"net", "gpu"};
    RINGSIDE_TRY(const auto elements, channel.children(kKnown));
    std::vector<int> gpus, nets;
    for (const XmlElement& element : elements) {
      RINGSIDE_TRY(element.check_attributes());
      if (element.name() == "net") {
        RINGSIDE_TRY(const int net, find_net(element));
        nets.push_back(net);
      } else {
        RINGSIDE_TRY(const int gpu, find_gpu(element));
        if (std::find(gpus.begin(), gpus.end(), gpu) != gpus.end()) {
          return element.bad("a GPU twice in one channel", "visit each once");
        }
        gpus.push_back(gpu);
      }
    }
    const bool has_head_only = graph.pattern == Pattern::Nvls;
    const auto ngpus = has_head_only ? 1 : static_cast<std::size_t>(system_.count(NodeKind::Gpu));
    if (gpus.size() != ngpus) {
      return channel.bad(fmt::format("a channel of {} GPUs", gpus.size()),
                         fmt::format("this node needs {} there", ngpus));
    }
    if (nets.size() != (system_.is_inter ? 2 : 0)) {
      return channel.bad(fmt::format("a channel with {} <net>", nets.size()),
                         system_.is_inter ? "between nodes it begins and ends with one"
                                          : "on one node it needs none");
    }
    graph.intra.push_back(std::move(gpus));
    if (!nets.empty()) graph.inter.push_back({nets[0], nets[1]});
    return {};
  }

  Result<int> find_net(const XmlElement& element) const {
    RINGSIDE_TRY(const std::uint64_t number, element.hex("dev", "0x0"));
    for (int net = 0; net < system_.count(NodeKind::Net); ++net) {
      if (net_number(system_, net) == static_cast<std::int64_t>(number)) return net;
    }
    return element.bad(fmt::format("no network device 0x{:x}", number),
                       fmt::format("this node has {}", system_.count(NodeKind::Net)));
  }

  /// Returns the GPU that the element names: by its NVML index in a job on one host, so that one file serves every host, and
  /// by its rank in a job on several hosts.
  Result<int> find_gpu(const XmlElement& element) const {
    RINGSIDE_TRY(const std::uint64_t dev, element.hex("dev", "0x0"));
    const bool by_rank = system_.nhosts > 1;
    RINGSIDE_TRY(const std::int64_t rank,
                 by_rank ? element.whole("rank", 0, 1 << 20, "0") : Result<std::int64_t>{0});
    for (int gpu = 0; gpu < system_.count(NodeKind::Gpu); ++gpu) {
      const GpuInfo& info = system_.gpus[static_cast<std::size_t>(gpu)];
      if (by_rank ? info.rank == rank : info.dev == static_cast<int>(dev)) return gpu;
    }
    return element.bad(
        by_rank ? fmt::format("no rank {}", rank) : fmt::format("no GPU 0x{:x}", dev),
        fmt::format("this node has {}", system_.count(NodeKind::Gpu)));
  }

  const System& system_;
};

}  // namespace

Result<Graphs> parse_graph_xml(std::string_view text, const std::string& where,
                               const System& system) {
  const XmlSource source{text, where};
  pugi::xml_document document;
  RINGSIDE_TRY(
      const XmlElement root,
      open_xml(document, text, source, "graphs",
               "NCCL_GRAPH_DUMP_FILE writes such a file: <graphs version=\"1\"> ... </graphs>"));
  return Reader{system}.read(root);
}

Result<Graphs> load_graph_xml(const std::string& path, const System& system) {
  RINGSIDE_TRY(const std::string text, read_description(path));
  return parse_graph_xml(text, path, system);
}

}  // namespace ringside
