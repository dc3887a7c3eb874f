#include "engine/topology/sources/host_kinds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <sstream>

#include "base/suggest.h"
#include "base/text.h"
#include "engine/topology/device_models.h"

namespace ringside {
namespace {

struct Generation {
  std::string_view name, speed;
};
/// source  the texts that NCCL reads from /sys/bus/pci/devices/*/max_link_speed
constexpr std::array<Generation, 6> kGenerations{{{"gen1", "2.5 GT/s PCIe"},
                                                  {"gen2", "5.0 GT/s PCIe"},
                                                  {"gen3", "8.0 GT/s PCIe"},
                                                  {"gen4", "16.0 GT/s PCIe"},
                                                  {"gen5", "32.0 GT/s PCIe"},
                                                  {"gen6", "64.0 GT/s PCIe"}}};

/// Reads `gen5 x16`.
Status read_link(const YamlMapping& kind, HostPci& pci) {
  if (!kind.has("pcie")) return {};
  RINGSIDE_TRY(const std::string text, kind.word("pcie", "gen5 x16"));
  RINGSIDE_TRY(const YAML::Node at, kind.find("pcie", "gen5 x16"));
  std::istringstream words{text};
  std::string generation, lanes, more;
  words >> generation >> lanes >> more;
  const auto found =
      std::find_if(kGenerations.begin(), kGenerations.end(),
                   [&](const Generation& known) { return known.name == generation; });
  const auto width = parse_int(lanes.starts_with('x') ? lanes.substr(1) : std::string{});
  if (found == kGenerations.end() || !width || *width < 1 || *width > 32 || !more.empty()) {
    return kind.bad(at, fmt::format("'{}' is not a PCIe link", text),
                    "give gen1 to gen6 and the lanes, such as gen5 x16");
  }
  pci.link_speed = found->speed;
  pci.link_width = static_cast<int>(*width);
  return {};
}

bool is_hex4(std::string_view text) {
  return text.size() == 4 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Splits `10de:2330` into "0x10de" and "0x2330".
Status read_id(const YamlMapping& kind, const char* key, std::string& vendor, std::string& device) {
  if (!kind.has(key)) return {};
  RINGSIDE_TRY(const std::string text, kind.word(key, "10de:2330"));
  if (text.size() != 9 || text[4] != ':' || !is_hex4(text.substr(0, 4)) ||
      !is_hex4(text.substr(5))) {
    RINGSIDE_TRY(const YAML::Node at, kind.find(key, "10de:2330"));
    return kind.bad(at, fmt::format("'{}' is not a pair of PCI ids", text),
                    "give four hexadecimal digits each, such as 10de:2330");
  }
  vendor = "0x" + text.substr(0, 4);
  device = "0x" + text.substr(5);
  return {};
}

Result<bool> read_flag(const YamlMapping& kind, const char* key) {
  if (!kind.has(key)) return false;
  RINGSIDE_TRY(const std::string text, kind.word(key, "yes"));
  if (text == "yes") return true;
  if (text == "no") return false;
  RINGSIDE_TRY(const YAML::Node at, kind.find(key, "yes"));
  return kind.bad(at, fmt::format("{} must be yes or no", key), "yes, or leave the key out");
}

Status read_function(const YamlMapping& kind, HostPci& pci) {
  RINGSIDE_TRY(read_link(kind, pci));
  RINGSIDE_TRY(read_id(kind, "id", pci.vendor, pci.device));
  return read_id(kind, "subsystem", pci.subsystem_vendor, pci.subsystem_device);
}

Result<HostKind> read_switch(const YamlMapping& kind) {
  constexpr std::string_view kKeys[] = {"is", "pcie", "id", "subsystem"};
  RINGSIDE_TRY(kind.check(kKeys));
  HostKind made{.what = HostKind::What::Switch};
  made.pci.device_class = 0x060400;
  RINGSIDE_TRY(read_function(kind, made.pci));
  return made;
}

Status read_nvswitches(const YamlMapping& kind, HostGpu& gpu) {
  if (!kind.has("nvswitches")) return {};
  RINGSIDE_TRY(const YAML::Node list, kind.find("nvswitches", "[05:00.0 x4]"));
  if (!list.IsSequence()) {
    return kind.bad(list, "nvswitches must be a list", "such as [05:00.0 x4, 06:00.0 x5]");
  }
  for (const YAML::Node& entry : list) {
    const auto counted = parse_counted(entry.IsScalar() ? entry.Scalar() : std::string{});
    if (!counted) return kind.bad(entry, counted.error().message, counted.error().help);
    gpu.nvlinks.push_back({full_bus_id(counted->word), counted->count, kNvSwitchClass});
  }
  return {};
}

/// Returns the compute capability: the one in the file, or that of the PCI id.
Result<int> read_capability(const YamlMapping& kind, const HostPci& pci) {
  // AMD GPUs have none; with this value NCCL's choices are those for a GPU of 2022.
  constexpr int kOfAmd = 90;
  if (!kind.has("sm") && pci.vendor == "0x1002") return kOfAmd;
  if (kind.has("sm") || pci.vendor != "0x10de") return kind.whole("sm", 10, 999, "90");
  std::uint16_t id = 0;  // from a text such as "0x2330", which read_id() made
  std::from_chars(pci.device.data() + 2, pci.device.data() + pci.device.size(), id, 16);
  const auto model = gpu_model(id);
  if (model) return model->sm;
  return kind.bad(kind.node(), fmt::format("sm: no compute capability is known of {}", pci.device),
                  "add it, such as sm: 90");
}

Result<HostC2c> read_c2c(const YamlMapping& kind) {
  constexpr std::string_view kKeys[] = {"links", "rate"};
  RINGSIDE_TRY(const YamlMapping c2c, kind.child("c2c", "{links: 5, rate: 44.712GB/s}", kKeys));
  RINGSIDE_TRY(const int links, c2c.whole("links", 1, 64, "5"));
  RINGSIDE_TRY(const BytesPerSecond rate, c2c.quantity("rate", "44.712GB/s", parse_bandwidth));
  const double mbytes_per_second = std::round(rate.value / 1e6);
  // These bounds are those of NCCL's XML (nccl_xml.cpp), as which hosts are written.
  if (mbytes_per_second < 1 || mbytes_per_second * links > 1e8) {
    RINGSIDE_TRY(const YAML::Node at, c2c.find("rate", "44.712GB/s"));
    return c2c.bad(at, "rate is beyond any C2C link",
                   "give 1MB/s or more, and at most 100TB/s for all links");
  }
  return HostC2c{static_cast<int>(mbytes_per_second), links};
}

Result<HostKind> read_gpu(const YamlMapping& kind) {
  constexpr std::string_view kKeys[] = {"is", "pcie", "id",         "subsystem",
                                        "sm", "gdr",  "nvswitches", "c2c"};
  RINGSIDE_TRY(kind.check(kKeys));
  HostKind made{.what = HostKind::What::Gpu};
  made.pci.device_class = kGpuClass;
  RINGSIDE_TRY(read_function(kind, made.pci));
  HostGpu gpu;
  RINGSIDE_TRY(gpu.sm, read_capability(kind, made.pci));
  RINGSIDE_TRY(gpu.gdr, read_flag(kind, "gdr"));
  RINGSIDE_TRY(read_nvswitches(kind, gpu));
  if (kind.has("c2c")) {
    RINGSIDE_TRY(gpu.c2c, read_c2c(kind));
  }
  made.pci.gpu = std::move(gpu);
  return made;
}

/// The link layer of a NIC, and the default name of its devices.
struct NicLink {
  std::string_view name, device;
  bool is_ethernet;
};
/// source  names that drivers give: mlx5, the persistent names of RoCE devices, EFA, Linux's network interfaces
constexpr std::array<NicLink, 4> kNicLinks{{{"ib", "mlx5_", false},
                                            {"roce", "rocep", true},
                                            {"efa", "rdmap", true},
                                            {"tcp", "eth", true}}};

/// returns  null: the key is missing
Result<const NicLink*> read_nic_link(const YamlMapping& kind) {
  if (!kind.has("link")) return nullptr;
  RINGSIDE_TRY(const std::string text, kind.word("link", "roce"));
  std::vector<std::string_view> names;
  for (const NicLink& one : kNicLinks) {
    if (one.name == text) return &one;
    names.push_back(one.name);
  }
  RINGSIDE_TRY(const YAML::Node at, kind.find("link", "roce"));
  return kind.bad(at, fmt::format("link: unknown word '{}'", text), suggestion(text, names));
}

Result<HostKind> read_nic(const YamlMapping& kind) {
  constexpr std::string_view kKeys[] = {"is",   "pcie",    "id",   "subsystem",   "rate",
                                        "gdr",  "latency", "name", "connections", "ethernet",
                                        "coll", "port",    "guid", "link",        "ports"};
  RINGSIDE_TRY(kind.check(kKeys));
  if (!kind.has("link")) {
    RINGSIDE_TRY([[maybe_unused]] const std::string name, kind.word("name", "mlx5_"));
  }
  return read_nic_keys(kind);
}

}  // namespace

Result<HostKind> read_nic_keys(const YamlMapping& kind) {
  HostKind made{.what = HostKind::What::Nic};
  RINGSIDE_TRY(read_function(kind, made.pci));
  RINGSIDE_TRY(const NicLink* const link, read_nic_link(kind));
  RINGSIDE_TRY(const bool is_ethernet, read_flag(kind, "ethernet"));
  made.pci.device_class =
      is_ethernet || (link != nullptr && link->is_ethernet) ? 0x020000 : 0x020700;
  made.net.name = link != nullptr ? link->device : kNicLinks.front().device;
  if (link != nullptr) made.net.link = link->name;
  if (kind.has("name")) {
    RINGSIDE_TRY(made.net.name, kind.word("name", "mlx5_"));
  }
  RINGSIDE_TRY(const BytesPerSecond rate, kind.quantity("rate", "400Gbit/s", parse_bandwidth));
  if (rate.value > 1e13) {
    RINGSIDE_TRY(const YAML::Node at, kind.find("rate", "400Gbit/s"));
    return kind.bad(at, "rate is beyond any NIC", "give at most 10TB/s");
  }
  made.net.mbits_per_second = static_cast<int>(std::lround(rate.value * 8 / 1e6));
  RINGSIDE_TRY(made.net.gdr, read_flag(kind, "gdr"));
  RINGSIDE_TRY(made.net.coll, read_flag(kind, "coll"));
  if (kind.has("latency")) {
    RINGSIDE_TRY(const Seconds latency, kind.quantity("latency", "75us", parse_time));
    if (latency > Seconds{1}) {  // the bound of NCCL's XML (nccl_xml.cpp)
      RINGSIDE_TRY(const YAML::Node at, kind.find("latency", "75us"));
      return kind.bad(at, "latency is beyond any NIC", "give at most 1s");
    }
    made.net.latency_us = std::round(latency.count() * 1e9) / 1e3;
  }
  if (kind.has("connections")) {
    RINGSIDE_TRY(made.net.max_connections, kind.whole("connections", 1, 1 << 30, "131072"));
  }
  if (kind.has("port")) {
    RINGSIDE_TRY(made.net.port, kind.whole("port", 0, 255, "1"));
  }
  if (kind.has("ports")) {
    RINGSIDE_TRY(made.ports, kind.whole("ports", 1, 4, "2"));
  }
  if (kind.has("guid")) {
    RINGSIDE_TRY(made.has_guid, read_flag(kind, "guid"));
  }
  return made;
}

namespace {

Result<HostKind> read_kind(const YamlMapping& kind) {
  constexpr std::string_view kWords[] = {"switch", "gpu", "nic"};
  if (!kind.node().IsMap())
    return kind.bad(kind.node(), "a kind must be a mapping", "{is: gpu, ...}");
  RINGSIDE_TRY(const std::string is, kind.word("is", "gpu"));
  if (is == kWords[0]) return read_switch(kind);
  if (is == kWords[1]) return read_gpu(kind);
  if (is == kWords[2]) return read_nic(kind);
  RINGSIDE_TRY(const YAML::Node at, kind.find("is", "gpu"));
  return kind.bad(at, fmt::format("'{}' is not something a host has", is), suggestion(is, kWords));
}

}  // namespace

Result<HostKinds> read_host_kinds(const YamlMapping& root) {
  RINGSIDE_TRY(const YAML::Node kinds, root.find("kinds", "{gpu: {is: gpu, ...}}"));
  if (!kinds.IsMap()) return root.bad(kinds, "kinds must be a mapping", "{gpu: {is: gpu, ...}}");
  HostKinds made;
  for (const auto& entry : kinds) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : std::string{};
    if (name.empty() || name.find(' ') != std::string::npos || name == "numa") {
      return root.bad(entry.first, "a kind's name must be one word, and not numa", "such as gpu");
    }
    RINGSIDE_TRY(HostKind kind, read_kind(YamlMapping{entry.second, root.where()}));
    if (!made.emplace(name, std::move(kind)).second) {
      return root.bad(entry.first, fmt::format("kind '{}' appears twice", name),
                      "keep one of them");
    }
  }
  return made;
}

std::string full_bus_id(const std::string& text) {
  const bool is_short = text.size() == 7 && text[2] == ':' && text[5] == '.';
  return is_short ? "0000:" + text : text;
}

Result<CountedWord> parse_counted(const std::string& text) {
  std::istringstream words{text};
  CountedWord counted;
  std::string count, more;
  words >> counted.word >> count >> more;
  const auto number = count.empty()            ? Result<std::int64_t>{1}
                      : count.starts_with('x') ? parse_int(count.substr(1))
                                               : parse_int("");
  if (counted.word.empty() || !more.empty() || !number || *number < 1 || *number > 64) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not a count of links to a device", text),
                 "give the device, and x with 1 to 64, such as 05:00.0 x4"};
  }
  counted.count = static_cast<int>(*number);
  return counted;
}

}  // namespace ringside
