#include "engine/topology/sources/host_yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "engine/topology/bus_id.h"
#include "engine/topology/host_edit.h"
#include "engine/topology/sources/find_preset.h"
#include "engine/topology/sources/host_kinds.h"
#include "engine/topology/sources/yaml_mapping.h"

namespace ringside {
namespace {

/// With YAML aliases a short text can expand to an endless tree; a real host has some hundred devices.
constexpr int kMaxDevices = 1024;
constexpr int kMaxDepth = 16;
constexpr int kMaxNumber = 1023;  // of a device or NUMA node

/// A device, or the first entry of a list of devices: `KIND [NUMBER] [BUS ID]`.
struct DeviceWords {
  const HostKind* kind = nullptr;
  int number = -1;     ///< NVML index or network device number; -1: not given
  std::string bus_id;  ///< empty: not given
};

/// Builds the CPUs and the devices below them, device by device in the order of the file.
class TreeReader {
 public:
  TreeReader(const YamlMapping& root, const HostKinds& kinds, const HostCpu& cpu)
      : root_(root), kinds_(kinds), cpu_(cpu) {}

  Status read(Host& host) {
    RINGSIDE_TRY(const YAML::Node tree, root_.find("tree", "[numa 0: [gpu 0 1b:00.0]]"));
    if (!tree.IsSequence()) return root_.bad(tree, "tree must be a list", "- numa 0: [...]");
    for (const YAML::Node& entry : tree) {
      HostCpu cpu = cpu_;
      RINGSIDE_TRY(read_cpu(entry, cpu));
      host.cpus.push_back(std::move(cpu));
    }
    return {};
  }

 private:
  Status read_cpu(const YAML::Node& entry, HostCpu& cpu) {
    const char* example = "- numa 0: [gpu 0 1b:00.0]";
    if (!entry.IsMap() || entry.size() != 1) {
      return root_.bad(entry, "each entry of tree is one NUMA node", example);
    }
    const auto head = *entry.begin();
    const std::string text = head.first.IsScalar() ? head.first.Scalar() : std::string{};
    const auto number = parse_int(text.starts_with("numa ") ? text.substr(5) : std::string{});
    if (!number || *number < 0 || *number > kMaxNumber || !head.second.IsSequence()) {
      return root_.bad(entry, fmt::format("'{}' is not a NUMA node with its devices", text),
                       example);
    }
    cpu.numa = static_cast<int>(*number);
    if (!numas_.insert(cpu.numa).second) {
      return root_.bad(entry, fmt::format("NUMA node {} appears twice", cpu.numa), "join the two");
    }
    for (const YAML::Node& device : head.second) {
      RINGSIDE_TRY(HostPci pci, read_device(device, 1));
      if (pci.nic && pci.bus_id.empty()) {
        cpu.nics.push_back(*std::move(pci.nic));
      } else {
        cpu.pci.push_back(std::move(pci));
      }
    }
    return {};
  }

  Result<HostPci> read_device(const YAML::Node& node, int depth) {
    if (++devices_ > kMaxDevices || depth > kMaxDepth) {
      return root_.bad(node, "the tree is larger than any host",
                       fmt::format("at most {} devices, {} deep", kMaxDevices, kMaxDepth));
    }
    if (node.IsScalar()) {
      RINGSIDE_TRY(const DeviceWords words, read_words(node));
      if (words.kind->what != HostKind::What::Gpu && words.bus_id.empty() && depth > 1) {
        return root_.bad(node, "a device below a switch needs a bus id", "such as nic 0 18:00.0");
      }
      return make_device(node, words);
    }
    if (!node.IsMap() || node.size() != 1 || !(*node.begin()).second.IsSequence()) {
      return root_.bad(node, "expected a device, or a switch with the list of what is below it",
                       "such as switch 15:00.0: [gpu 0 1b:00.0]");
    }
    const auto head = *node.begin();
    RINGSIDE_TRY(const DeviceWords words, read_words(head.first));
    if (words.kind->what != HostKind::What::Switch) {
      return root_.bad(node, "only a switch has devices below it", "put them next to it");
    }
    RINGSIDE_TRY(HostPci pci, make_device(node, words));
    for (const YAML::Node& child : head.second) {
      RINGSIDE_TRY(HostPci below, read_device(child, depth + 1));
      pci.children.push_back(std::move(below));
    }
    return pci;
  }

  Result<DeviceWords> read_words(const YAML::Node& node) {
    std::istringstream text{node.IsScalar() ? node.Scalar() : std::string{}};
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    if (words.empty()) return root_.bad(node, "a device has no kind", "such as gpu 0 1b:00.0");

    DeviceWords device;
    const auto kind = kinds_.find(words[0]);
    if (kind == kinds_.end()) {
      std::vector<std::string_view> names;
      for (const auto& [name, known] : kinds_) names.push_back(name);
      return root_.bad(node, fmt::format("unknown kind '{}'", words[0]),
                       suggestion(words[0], names));
    }
    device.kind = &kind->second;
    std::size_t next = 1;
    if (device.kind->what != HostKind::What::Switch) {
      const auto number = parse_int(next < words.size() ? words[next] : std::string{});
      if (!number || *number < 0 || *number > kMaxNumber) {
        return root_.bad(node, fmt::format("'{}' needs its number", node.Scalar()),
                         "such as gpu 0 1b:00.0");
      }
      device.number = static_cast<int>(*number);
      ++next;
    }
    if (next < words.size()) device.bus_id = full_bus_id(words[next++]);
    const bool needs_bus = device.kind->what != HostKind::What::Nic;
    if (next < words.size() || (needs_bus && device.bus_id.empty())) {
      return root_.bad(node, "expected the kind, the number of a GPU or NIC, the bus id",
                       "such as gpu 0 1b:00.0");
    }
    return device;
  }

  Result<HostPci> make_device(const YAML::Node& node, const DeviceWords& words) {
    HostPci pci = words.kind->pci;
    pci.bus_id = words.bus_id;
    if (!pci.bus_id.empty()) {
      const auto id = parse_bus_id(pci.bus_id);
      if (!id) return root_.bad(node, id.error().message, id.error().help);
      if (!bus_ids_.insert(pci.bus_id).second) {
        return root_.bad(node, fmt::format("bus id {} appears twice", pci.bus_id),
                         "each has its own");
      }
    }
    if (words.kind->what == HostKind::What::Gpu) {
      if (!gpus_.insert(words.number).second) {
        return root_.bad(node, fmt::format("GPU {} appears twice", words.number),
                         "number them anew");
      }
      pci.gpu->dev = words.number;
      pci.gpu->rank = words.number;
    }
    if (words.kind->what == HostKind::What::Nic) {
      pci.nic = HostNic{};
      // With two ports per card, card 1 has the devices 2 and 3.
      for (int port = 0; port < words.kind->ports; ++port) {
        const int number = words.number * words.kind->ports + port;
        if (!nets_.insert(number).second) {
          return root_.bad(node, fmt::format("NIC {} appears twice", number), "number them anew");
        }
        HostNet net = words.kind->net;
        net.dev = number;
        net.name += std::to_string(number);
        net.port += port;
        // Any number that no other card has.
        if (words.kind->has_guid) {
          net.guid = 0xa0000001U + 16U * static_cast<unsigned>(words.number);
        }
        pci.nic->nets.push_back(std::move(net));
      }
    }
    return pci;
  }

  const YamlMapping& root_;
  const HostKinds& kinds_;
  const HostCpu& cpu_;
  int devices_ = 0;
  std::set<int> numas_, gpus_, nets_;
  std::set<std::string> bus_ids_;
};

Result<HostCpu> read_cpu_type(const YamlMapping& root) {
  constexpr std::string_view kKeys[] = {"arch", "vendor", "family", "model"};
  constexpr std::string_view kArchs[] = {"x86_64", "arm64", "ppc64"};
  HostCpu cpu;
  RINGSIDE_TRY(const YamlMapping type, root.child("cpu", "{arch: x86_64, ...}", kKeys));
  RINGSIDE_TRY(cpu.arch, type.word("arch", "x86_64"));
  if (std::find(std::begin(kArchs), std::end(kArchs), cpu.arch) == std::end(kArchs)) {
    RINGSIDE_TRY(const YAML::Node at, type.find("arch", "x86_64"));
    return type.bad(at, fmt::format("unknown arch '{}'", cpu.arch), suggestion(cpu.arch, kArchs));
  }
  if (type.has("vendor")) {
    RINGSIDE_TRY(cpu.vendor, type.word("vendor", "GenuineIntel"));
  }
  if (type.has("family")) {
    RINGSIDE_TRY(cpu.family, type.whole("family", 0, 255, "6"));
  }
  if (type.has("model")) {
    RINGSIDE_TRY(cpu.model, type.whole("model", 0, 255, "143"));
  }
  return cpu;
}

void collect_gpus(HostPci& pci, std::map<int, HostPci*>& gpus) {
  if (pci.gpu) gpus[pci.gpu->dev] = &pci;
  for (HostPci& child : pci.children) collect_gpus(child, gpus);
}

/// Reads `nvlinks: [0-1 x4]`, links between two GPUs; each GPU lists its peers by number.
Status read_nvlinks(const YamlMapping& root, std::map<int, HostPci*>& gpus) {
  if (!root.has("nvlinks")) return {};
  RINGSIDE_TRY(const YAML::Node list, root.find("nvlinks", "[0-1 x4]"));
  if (!list.IsSequence()) return root.bad(list, "nvlinks must be a list", "such as [0-1 x4]");
  std::map<std::pair<int, int>, int> links;
  for (const YAML::Node& entry : list) {
    const auto counted = parse_counted(entry.IsScalar() ? entry.Scalar() : std::string{});
    if (!counted) return root.bad(entry, counted.error().message, "such as 0-1 x4");
    const auto dash = counted->word.find('-');
    const auto a = parse_int(counted->word.substr(0, dash));
    const auto b = parse_int(dash == std::string::npos ? "" : counted->word.substr(dash + 1));
    const auto is_gpu = [&](const Result<std::int64_t>& number) {
      return number && *number >= 0 && *number <= kMaxNumber &&
             gpus.contains(static_cast<int>(*number));
    };
    if (!is_gpu(a) || !is_gpu(b) || *a == *b) {
      return root.bad(entry, fmt::format("'{}' does not join two GPUs of the host", counted->word),
                      "give their numbers, such as 0-1 x4");
    }
    const int first = static_cast<int>(*a), second = static_cast<int>(*b);
    if (!links.emplace(std::pair{first, second}, counted->count).second ||
        !links.emplace(std::pair{second, first}, counted->count).second) {
      return root.bad(entry, fmt::format("'{}' appears twice", counted->word), "keep one of them");
    }
  }
  for (const auto& [pair, count] : links) {
    const HostPci& target = *gpus.at(pair.second);
    gpus.at(pair.first)->gpu->nvlinks.push_back({target.bus_id, count, target.device_class});
  }
  return {};
}

/// Reads `like: dgx-h100`: the host of that preset, with the NICs of `nics` if that key exists.
Result<DescribedHost> read_host_like(const YamlMapping& root) {
  constexpr std::string_view kKeys[] = {"ringside", "name", "like", "nics", "hosts_per_domain"};
  RINGSIDE_TRY(check_yaml_document(root, "host/1", "a host", kKeys));
  RINGSIDE_TRY(const std::string like, root.word("like", "dgx-h100"));
  const Preset* const preset = find_preset(like);
  if (preset == nullptr) {
    std::vector<std::string_view> names;
    for (const Preset& one : kHostPresets) names.push_back(one.name);
    RINGSIDE_TRY(const YAML::Node at, root.find("like", "dgx-h100"));
    return root.bad(at, fmt::format("no preset is called '{}'", like), suggestion(like, names));
  }
  RINGSIDE_TRY(DescribedHost described,
               parse_host_yaml(std::string(preset->text), fmt::format("{}.yaml", preset->name)));
  RINGSIDE_TRY(described.host.name, root.word("name", "my-host"));
  if (root.has("hosts_per_domain")) {
    RINGSIDE_TRY(described.hosts_per_domain, root.whole("hosts_per_domain", 1, 1024, "18"));
  }
  if (!root.has("nics")) return described;
  constexpr std::string_view kNicKeys[] = {"count", "rate", "link",        "pcie", "gdr",
                                           "name",  "coll", "connections", "id",   "latency"};
  RINGSIDE_TRY(const YamlMapping nics,
               root.child("nics", "{count: 8, rate: 400Gbit/s, link: ib}", kNicKeys));
  RINGSIDE_TRY(const int count, nics.whole("count", 1, 64, "8"));
  RINGSIDE_TRY(HostKind kind, read_nic_keys(nics));
  if (kind.pci.link_width == 0) {
    kind.pci.link_speed = "32.0 GT/s PCIe";  // gen5 x16 carries 400 Gbit/s
    kind.pci.link_width = 16;
  }
  if (!nics.has("gdr")) kind.net.gdr = kind.net.link != "tcp";
  if (!nics.has("connections")) kind.net.max_connections = 131072;  // default of the presets' NICs
  replace_nets(described.host, kind.pci, kind.net, count);
  return described;
}

Result<DescribedHost> read_host(const YamlMapping& root) {
  if (root.node().IsMap() && root.has("like")) return read_host_like(root);
  constexpr std::string_view kKeys[] = {"ringside", "name", "hosts_per_domain", "cpu",
                                        "kinds",    "tree", "nvlinks"};
  RINGSIDE_TRY(check_yaml_document(root, "host/1", "a host", kKeys));
  DescribedHost described;
  RINGSIDE_TRY(described.host.name, root.word("name", "dgx-h100"));
  if (root.has("hosts_per_domain")) {
    RINGSIDE_TRY(described.hosts_per_domain, root.whole("hosts_per_domain", 1, 1024, "18"));
  }
  RINGSIDE_TRY(const HostCpu cpu, read_cpu_type(root));
  RINGSIDE_TRY(const HostKinds kinds, read_host_kinds(root));
  RINGSIDE_TRY((TreeReader{root, kinds, cpu}.read(described.host)));
  std::map<int, HostPci*> gpus;
  for (HostCpu& numa : described.host.cpus) {
    for (HostPci& pci : numa.pci) collect_gpus(pci, gpus);
  }
  if (gpus.empty()) return root.bad(root.node(), "the host has no GPU", "add gpu 0 1b:00.0");
  RINGSIDE_TRY(read_nvlinks(root, gpus));
  return described;
}

}  // namespace

Result<DescribedHost> parse_host_yaml(const std::string& text, const std::string& where) {
  try {
    RINGSIDE_TRY(YAML::Node document, load_yaml_document(text, where));
    return read_host(YamlMapping{std::move(document), where});
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

}  // namespace ringside
