#include "engine/topology/sources/nccl_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/suggest.h"
#include "engine/topology/bus_id.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/xml_element.h"
#include "engine/topology/sources/xml_inventory.h"

namespace ringside {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();
/// Mbit/s of a NIC, or Mbyte/s of all C2C links of a GPU together
constexpr int kMaxSpeed = 100'000'000;
constexpr int kMaxLinks = 1024;  ///< from a GPU to one other device
constexpr int kMaxLanes = 1024;  ///< a bundle of NICs has the sum of its lanes; VMs report 255

int narrow(std::int64_t value) { return static_cast<int>(value); }

/// The kind of a PCI function, determined by the first digits of its class.
/// source  NCCL 2.30.7 graph/topo.cc
enum class FunctionKind { Switch, NvSwitch, PowerCpu, Gpu, Nic, Unknown };

FunctionKind kind_of_class(std::uint64_t device_class) {
  if (device_class == kPowerCpuClass) return FunctionKind::PowerCpu;
  if (device_class >> 8 == 0x0680) return FunctionKind::NvSwitch;
  if (device_class >> 8 == 0x0604 || device_class >> 8 == 0x0801) return FunctionKind::Switch;
  if (is_gpu_class(device_class)) return FunctionKind::Gpu;
  if (device_class >> 16 == 0x02) return FunctionKind::Nic;
  return FunctionKind::Unknown;
}

constexpr const char* kClasses =
    "known classes: 0x060400 and 0x080100 (bridge), 0x068000 (NVSwitch), 0x068001 (POWER CPU), "
    "0x03.... (GPU), 0x02.... (network)";

class Reader {
 public:
  Result<Host> read(const XmlElement& system, const std::string& where) {
    RINGSIDE_TRY(system.check_attributes());
    RINGSIDE_TRY(const std::int64_t version, system.whole("version", 0, kMaxInt, "1"));
    if (version != 1) {
      return system.bad(fmt::format("version {} of the format is unknown", version),
                        "NCCL reads and writes version=\"1\"");
    }
    Host host{where, {}};
    constexpr std::string_view kInside[] = {"cpu"};
    RINGSIDE_TRY(const std::vector<XmlElement> cpus, system.children(kInside));
    for (const XmlElement& element : cpus) {
      RINGSIDE_TRY(HostCpu cpu, read_cpu(element));
      host.cpus.push_back(std::move(cpu));
    }
    if (!seen_.has_gpus()) {
      return system.bad("there is no GPU in it", "add <gpu dev=\"0\" sm=\"90\"/> inside a <pci>");
    }
    RINGSIDE_TRY(seen_.check_nvlinks());
    if (!seen_.has_ranks()) number_gpus(host);
    return host;
  }

 private:
  Result<HostCpu> read_cpu(const XmlElement& element) {
    RINGSIDE_TRY(element.check_attributes());
    RINGSIDE_TRY(seen_.take_host_hash(element));
    RINGSIDE_TRY(seen_.count(element));
    HostCpu cpu;
    RINGSIDE_TRY(const std::int64_t numa, element.whole("numaid", -1, 1023, "0"));
    cpu.numa = narrow(numa);
    RINGSIDE_TRY(seen_.take_numa(element, cpu.numa));
    cpu.affinity = element.text_or_empty("affinity");
    RINGSIDE_TRY(cpu.arch, element.text("arch", "x86_64"));
    constexpr std::string_view kArchs[] = {"x86_64", "arm64", "ppc64"};
    if (std::find(std::begin(kArchs), std::end(kArchs), cpu.arch) == std::end(kArchs)) {
      return element.bad(fmt::format("unknown arch \"{}\"", cpu.arch),
                         suggestion(cpu.arch, kArchs));
    }
    cpu.vendor = element.text_or_empty("vendor");
    RINGSIDE_TRY(const std::int64_t family, element.whole_or("familyid", -1, kMaxInt, -1));
    RINGSIDE_TRY(const std::int64_t model, element.whole_or("modelid", -1, kMaxInt, -1));
    cpu.family = narrow(family);
    cpu.model = narrow(model);
    if (cpu.vendor == "AuthenticAMD" && !element.has("familyid")) {
      cpu.lacks_family_at = element.place();
    }

    constexpr std::string_view kInside[] = {"pci", "nic"};
    RINGSIDE_TRY(const std::vector<XmlElement> children, element.children(kInside));
    for (const XmlElement& child : children) {
      if (child.name() == "nic") {
        RINGSIDE_TRY(HostNic nic, read_nic(child));
        nic.pci_before = static_cast<int>(cpu.pci.size());
        cpu.nics.push_back(std::move(nic));
      } else {
        RINGSIDE_TRY(HostPci function, read_pci(child, 3));
        cpu.pci.push_back(std::move(function));
      }
    }
    return cpu;
  }

  Result<HostPci> read_pci(const XmlElement& element, int depth) {
    RINGSIDE_TRY(element.check_attributes());
    RINGSIDE_TRY(seen_.count(element));
    if (depth > kMaxXmlDepth) {
      return element.bad(fmt::format("elements are nested deeper than {}", kMaxXmlDepth),
                         "a real PCI tree has fewer than ten levels");
    }
    HostPci function;
    RINGSIDE_TRY(function.bus_id, element.text("busid", "0000:1b:00.0"));
    RINGSIDE_TRY(seen_.take_bus_id(element, function.bus_id));
    RINGSIDE_TRY(const std::uint64_t device_class, element.hex("class", "0x060400"));
    if (kind_of_class(device_class) == FunctionKind::Unknown || device_class > 0xFFFFFF) {
      return element.bad(fmt::format("unknown class {}", element.text_or_empty("class")), kClasses);
    }
    function.device_class = static_cast<std::uint32_t>(device_class);
    function.vendor = element.text_or_empty("vendor");
    function.device = element.text_or_empty("device");
    function.subsystem_vendor = element.text_or_empty("subsystem_vendor");
    function.subsystem_device = element.text_or_empty("subsystem_device");
    function.link_speed = element.text_or_empty("link_speed");
    RINGSIDE_TRY(const std::int64_t width, element.whole_or("link_width", 0, kMaxLanes, 0));
    function.link_width = narrow(width);
    RINGSIDE_TRY(read_inside(element, function, depth));
    return function;
  }

  Status read_inside(const XmlElement& element, HostPci& function, int depth) {
    constexpr std::string_view kInside[] = {"pci", "gpu", "nic", "pcilink"};
    RINGSIDE_TRY(const std::vector<XmlElement> children, element.children(kInside));
    for (const XmlElement& child : children) {
      if (child.name() == "pci") {
        RINGSIDE_TRY(HostPci below, read_pci(child, depth + 1));
        function.children.push_back(std::move(below));
      } else if (child.name() == "pcilink") {
        RINGSIDE_TRY(std::string target, read_target(child));
        RINGSIDE_TRY(child.children({}));
        function.peer_switches.push_back(std::move(target));
      } else if (function.gpu || function.nic) {
        return child.bad("a second device in one <pci>", "give each device a <pci> of its own");
      } else if (child.name() == "gpu") {
        RINGSIDE_TRY(function.gpu, read_gpu(child, bus_id_or_none(function.bus_id)));
      } else {
        RINGSIDE_TRY(function.nic, read_nic(child));
      }
    }
    if ((function.gpu || function.nic) && !function.children.empty()) {
      return element.bad("a device with PCI functions behind it",
                         "only bridges and switches have <pci> inside");
    }
    return {};
  }

  Result<HostGpu> read_gpu(const XmlElement& element, BusId bus_id) {
    RINGSIDE_TRY(element.check_attributes());
    RINGSIDE_TRY(seen_.count(element));
    HostGpu gpu;
    RINGSIDE_TRY(const std::int64_t dev, element.whole("dev", 0, 65535, "0"));
    RINGSIDE_TRY(const std::int64_t sm, element.whole("sm", 10, 999, "90"));
    RINGSIDE_TRY(const std::int64_t gdr, element.whole_or("gdr", 0, 1, 0));
    RINGSIDE_TRY(const std::int64_t mlopart, element.whole_or("mlopart", -1, 64, -1));
    gpu.dev = narrow(dev);
    gpu.sm = narrow(sm);
    gpu.gdr = gdr != 0;
    gpu.mlopart = narrow(mlopart);
    if (element.has("rank")) {
      RINGSIDE_TRY(const std::int64_t rank, element.whole("rank", 0, kMaxInt, "0"));
      RINGSIDE_TRY(seen_.take_rank(element, narrow(rank)));
      gpu.rank = narrow(rank);
    }
    constexpr std::string_view kInside[] = {"nvlink", "c2c"};
    RINGSIDE_TRY(const std::vector<XmlElement> children, element.children(kInside));
    for (const XmlElement& child : children) {
      RINGSIDE_TRY(child.children({}));
      if (child.name() == "c2c") {
        RINGSIDE_TRY(gpu.c2c, read_c2c(child));
      } else {
        RINGSIDE_TRY(HostNvLink link, read_nvlink(child, bus_id));
        gpu.nvlinks.push_back(std::move(link));
      }
    }
    return gpu;
  }

  Result<HostNvLink> read_nvlink(const XmlElement& element, BusId from) {
    HostNvLink link;
    RINGSIDE_TRY(link.target, read_target(element));
    RINGSIDE_TRY(const std::int64_t count, element.whole("count", 1, kMaxLinks, "1"));
    RINGSIDE_TRY(const std::uint64_t target_class, element.hex("tclass", "0x068000"));
    link.count = narrow(count);
    const FunctionKind kind = kind_of_class(target_class);
    if (kind == FunctionKind::Unknown || target_class > 0xFFFFFF) {
      return element.bad(fmt::format("unknown class {}", element.text_or_empty("tclass")),
                         kClasses);
    }
    link.target_class = static_cast<std::uint32_t>(target_class);
    if (kind == FunctionKind::Gpu) {
      const auto target = parse_bus_id(link.target);
      if (!target) return element.bad(target.error().message, target.error().help);
      seen_.take_nvlink(element, from, *target);
    }
    return link;
  }

  Result<HostC2c> read_c2c(const XmlElement& element) const {
    RINGSIDE_TRY(element.check_attributes());
    RINGSIDE_TRY(const std::int64_t count, element.whole("count", 1, kMaxLinks, "10"));
    RINGSIDE_TRY(const std::int64_t speed, element.whole("bw", 1, kMaxSpeed / count, "44712"));
    return HostC2c{.mbytes_per_second = narrow(speed), .count = narrow(count)};
  }

  Result<std::string> read_target(const XmlElement& element) const {
    RINGSIDE_TRY(element.check_attributes());
    return element.text("target", "0000:1b:00.0");
  }

  Result<HostNic> read_nic(const XmlElement& element) {
    RINGSIDE_TRY(element.check_attributes());
    HostNic nic;
    constexpr std::string_view kInside[] = {"net"};
    RINGSIDE_TRY(const std::vector<XmlElement> children, element.children(kInside));
    for (const XmlElement& child : children) {
      RINGSIDE_TRY(child.children({}));
      RINGSIDE_TRY(HostNet net, read_net(child));
      nic.nets.push_back(std::move(net));
    }
    return nic;
  }

  Result<HostNet> read_net(const XmlElement& element) {
    RINGSIDE_TRY(element.check_attributes());
    RINGSIDE_TRY(seen_.count(element));
    HostNet net;
    RINGSIDE_TRY(const std::int64_t dev, element.whole("dev", 0, 65535, "0"));
    RINGSIDE_TRY(const std::int64_t speed, element.whole_or("speed", 0, kMaxSpeed, 0));
    RINGSIDE_TRY(const std::int64_t port, element.whole_or("port", 0, kMaxInt, 0));
    RINGSIDE_TRY(const std::int64_t connections,
                 element.whole_or("maxconn", 0, kMaxInt, net.max_connections));
    RINGSIDE_TRY(const std::int64_t gdr, element.whole_or("gdr", 0, 1, 0));
    RINGSIDE_TRY(const std::int64_t coll, element.whole_or("coll", 0, 1, 0));
    RINGSIDE_TRY(net.latency_us, element.number_or("latency", 0, 1e6, 0));
    net.name = element.text_or_empty("name");
    net.dev = narrow(dev);
    net.mbits_per_second = narrow(speed);
    net.port = narrow(port);
    net.max_connections = narrow(connections);
    net.gdr = gdr != 0;
    net.coll = coll != 0;
    // The value that NCCL gives a device without a guid.
    net.guid = static_cast<std::uint64_t>(dev);
    if (element.has("guid")) {
      RINGSIDE_TRY(net.guid, element.hex("guid", "0xa0000001"));
    }
    RINGSIDE_TRY(net.rail, read_index(element, "rail"));
    RINGSIDE_TRY(net.plane, read_index(element, "plane"));
    RINGSIDE_TRY(seen_.take_net(element, net.dev));
    return net;
  }

  static Result<std::optional<int>> read_index(const XmlElement& element, const char* key) {
    if (!element.has(key)) return std::optional<int>{};
    RINGSIDE_TRY(const std::int64_t index, element.whole(key, -1, 65535, "0"));
    return index < 0 ? std::optional<int>{} : std::optional<int>{narrow(index)};
  }

  static void number_gpus(Host& host) {
    int next = 0;
    for (HostCpu& cpu : host.cpus) number_gpus(cpu.pci, next);
  }
  static void number_gpus(std::vector<HostPci>& functions, int& next) {
    for (HostPci& function : functions) {
      if (function.gpu) function.gpu->rank = next++;
      number_gpus(function.children, next);
    }
  }

  XmlInventory seen_;
};

}  // namespace

Result<Host> parse_nccl_xml(std::string_view text, const std::string& where) {
  const XmlSource source{text, where};
  pugi::xml_document document;
  RINGSIDE_TRY(
      const XmlElement root,
      open_xml(document, text, source, "system",
               "NCCL_TOPO_DUMP_FILE writes such a file: <system version=\"1\"> ... </system>"));
  return Reader{}.read(root, where);
}

Result<Host> load_nccl_xml(const std::string& path) {
  RINGSIDE_TRY(const std::string text, read_description(path));
  return parse_nccl_xml(text, path);
}

}  // namespace ringside
