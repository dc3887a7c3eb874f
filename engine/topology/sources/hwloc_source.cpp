#include "engine/topology/sources/hwloc_source.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <set>

#include "base/text.h"
#include "engine/topology/device_models.h"
#include "engine/topology/sources/nccl_xml.h"
#include "engine/topology/sources/xml_element.h"

namespace ringside {
namespace {

constexpr unsigned kNvidia = 0x10de;
using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// Loads a topology with all its I/O devices; `source` selects what to load.
Result<Topology> load(const std::function<int(hwloc_topology_t)>& source, const Error& refused) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) {
    return Error{ErrorCode::System, "hwloc cannot start", "check the installation of libhwloc"};
  }
  Topology topology{made, &hwloc_topology_destroy};
  // These components would start drivers to list devices that are already listed as PCI functions. Setting a component
  // that does not exist fails.
  for (const char* const component : {"opencl", "gl", "cuda", "rsmi", "levelzero"}) {
    hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (source(made) != 0 || hwloc_topology_load(made) != 0) return refused;
  return topology;
}

std::string info_of(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? std::string{} : std::string{value};
}

int number_of(const std::string& text) {
  const auto number = parse_int(text);
  return number && *number >= 0 && *number < 65536 ? static_cast<int>(*number) : -1;
}

/// Returns the family as NCCL adds it up from the two parts that the processor reports: 15, and the extension,
/// shifted.
/// source  NCCL 2.30.7 graph/xml.cc
int nccl_family(int family) { return family > 15 ? 15 + ((family - 15) << 4) : family; }

/// Returns the format of /sys: groups of eight digits, the highest first.
std::string affinity_of(hwloc_const_bitmap_t cpus) {
  std::string text;
  const int last = std::max(hwloc_bitmap_last(cpus), 0);
  for (int group = last / 32; group >= 0; --group) {
    const unsigned long words = hwloc_bitmap_to_ith_ulong(cpus, static_cast<unsigned>(group) / 2);
    const unsigned long word = (group % 2 == 0 ? words : words >> 32) & 0xffffffffUL;
    text += fmt::format("{}{:08x}", text.empty() ? "" : ",", word);
  }
  return text;
}

std::vector<HostCpu> find_cpus(hwloc_topology_t topology) {
  HostCpu type;
  const std::string arch = info_of(hwloc_get_root_obj(topology), "Architecture");
  type.arch = arch == "aarch64" ? "arm64" : arch.starts_with("ppc64") ? "ppc64" : arch;
  if (const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0)) {
    type.vendor = info_of(package, "CPUVendor");
    type.family = nccl_family(number_of(info_of(package, "CPUFamilyNumber")));
    type.model = number_of(info_of(package, "CPUModelNumber"));
  }
  // Only x86 topologies lack these keys; hwloc's synthetic topologies have none of them at all.
  if (type.arch.empty()) type.arch = "x86_64";

  std::vector<HostCpu> cpus;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    HostCpu cpu = type;
    cpu.numa = static_cast<int>(node->os_index);
    cpu.affinity = affinity_of(node->cpuset);
    cpus.push_back(std::move(cpu));
  }
  return cpus;
}

struct Lane {
  const char* speed;
  double gbytes;  ///< rate of one lane, as hwloc computes it
};
constexpr std::array<Lane, 6> kLanes{{{"64.0 GT/s PCIe", 8.0 * 8 * 128 / 130 / 8},
                                      {"32.0 GT/s PCIe", 8.0 * 4 * 128 / 130 / 8},
                                      {"16.0 GT/s PCIe", 8.0 * 2 * 128 / 130 / 8},
                                      {"8.0 GT/s PCIe", 8.0 * 128 / 130 / 8},
                                      {"5.0 GT/s PCIe", 0.5},
                                      {"2.5 GT/s PCIe", 0.25}}};

/// hwloc stores only speed x lanes. Sets the widest of the pairs that give this rate, because NCCL also uses only the
/// product. hwloc's rate without encoding overhead is treated like one with it (within 2 %).
void set_link(HostPci& function, double rate) {
  for (const int width : {16, 8, 4, 2, 1, 32}) {
    for (const Lane& lane : kLanes) {
      if (rate > 0 && std::abs(rate - lane.gbytes * width) < 0.02 * rate) {
        function.link_speed = lane.speed;
        function.link_width = width;
        return;
      }
    }
  }
}

HostPci function_of(const PciAttributes& pci) {
  HostPci function;
  function.bus_id =
      fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
  function.device_class = static_cast<std::uint32_t>(pci.class_id) << 8;
  function.vendor = fmt::format("0x{:04x}", pci.vendor_id);
  function.device = fmt::format("0x{:04x}", pci.device_id);
  function.subsystem_vendor = fmt::format("0x{:04x}", pci.subvendor_id);
  function.subsystem_device = fmt::format("0x{:04x}", pci.subdevice_id);
  set_link(function, static_cast<double>(pci.linkspeed));
  return function;
}

bool is_pci_bridge(hwloc_obj_t object) {
  return object->type == HWLOC_OBJ_BRIDGE &&
         object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
}

/// Returns the bus number of a PCI function or bridge; -1 for other objects.
int bus_of(hwloc_obj_t object) {
  if (object->type == HWLOC_OBJ_PCI_DEVICE) return object->attr->pcidev.bus;
  return is_pci_bridge(object) ? object->attr->bridge.upstream.pci.bus : -1;
}

bool spans_buses(hwloc_obj_t bridge) {
  std::set<int> buses;
  for (hwloc_obj_t child = bridge->io_first_child; child != nullptr; child = child->next_sibling) {
    buses.insert(bus_of(child));
  }
  buses.erase(-1);
  return buses.size() > 1;
}

/// Returns whether the interface is virtual, and leads to no other host: loopback, bridges, and containers' ends.
bool is_virtual(const std::string& name) {
  constexpr std::array<std::string_view, 10> kPrefixes{"lo",  "docker", "veth", "virbr", "br",
                                                       "ifb", "dummy",  "cni",  "cali",  "flannel"};
  return name.empty() || std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                     [&](auto prefix) { return name.starts_with(prefix); });
}

class Finder {
 public:
  Finder(hwloc_topology_t topology, const SystemFiles* files)
      : topology_(topology), files_(files) {}

  FoundMachine find() {
    machine_.cpus = find_cpus(topology_);
    for (hwloc_obj_t pci = nullptr; (pci = hwloc_get_next_pcidev(topology_, pci)) != nullptr;) {
      const PciAttributes& attributes = pci->attr->pcidev;
      const bool is_display = attributes.class_id == 0x0300 || attributes.class_id == 0x0302;
      if (is_display && attributes.vendor_id == kNvidia) add_gpu(pci);
    }
    find_nics(HWLOC_OBJ_OSDEV_OPENFABRICS);
    // NCCL uses sockets only if there is no RDMA device.
    if (machine_.nics.empty()) find_nics(HWLOC_OBJ_OSDEV_NETWORK);
    if (machine_.nics.empty() && files_ != nullptr) find_interfaces();
    std::stable_sort(
        machine_.nics.begin(), machine_.nics.end(),
        [](const FoundDevice& a, const FoundDevice& b) { return name_key(a) < name_key(b); });
    find_nvlinks();
    return std::move(machine_);
  }

 private:
  /// Sorts mlx5_2 before mlx5_10, as the driver counted them.
  static std::pair<std::size_t, std::string> name_key(const FoundDevice& nic) {
    const std::string& name = nic.function.nic->nets.front().name;
    return {name.size(), name};
  }

  FoundDevice place(hwloc_obj_t object, HostPci function) const {
    FoundDevice device{.function = std::move(function)};
    if (files_ != nullptr) files_->read_link(device.function);
    for (hwloc_obj_t above = object->parent; above != nullptr && is_pci_bridge(above);
         above = above->parent) {
      HostPci bridge = function_of(above->attr->bridge.upstream.pci);
      if (files_ != nullptr) files_->read_link(bridge);
      device.above.push_back({std::move(bridge), spans_buses(above)});
    }
    device.numa = numa_of(object);
    return device;
  }

  int numa_of(hwloc_obj_t object) const {
    const hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology_, object);
    const int first = place->nodeset == nullptr ? -1 : hwloc_bitmap_first(place->nodeset);
    return std::max(first, 0);
  }

  void add_gpu(hwloc_obj_t pci) {
    FoundDevice device = place(pci, function_of(pci->attr->pcidev));
    const auto model = gpu_model(pci->attr->pcidev.device_id);
    device.function.gpu = HostGpu{.sm = model ? model->sm : 0, .gdr = model && model->gdr};
    machine_.gpus.push_back(std::move(device));
    gpu_objects_.push_back(pci);
  }

  /// Returns the active ports; each is one of NCCL's network devices.
  std::vector<HostNet> nets_of(hwloc_obj_t device, hwloc_obj_osdev_type_t type) const {
    const std::string name = device->name == nullptr ? "" : device->name;
    std::vector<HostNet> nets;
    if (type == HWLOC_OBJ_OSDEV_NETWORK) {
      if (is_virtual(name)) return {};
      if (files_ == nullptr) {
        nets.push_back({.name = name, .port = 0});
      } else if (auto net = files_->interface(name)) {
        nets.push_back(*std::move(net));
      }
      return nets;
    }
    if (files_ != nullptr) {
      nets = files_->rdma_ports(name);
    } else {
      // hwloc states all ports of the adapter; 4 is IBV_PORT_ACTIVE.
      for (int port = 1;; ++port) {
        const std::string state = info_of(device, fmt::format("Port{}State", port).c_str());
        if (state == "4" || (state.empty() && port == 1)) {
          nets.push_back({.name = name, .port = port});
        }
        if (state.empty()) break;
      }
    }
    std::string guid = info_of(device, "NodeGUID");
    guid.erase(std::remove(guid.begin(), guid.end(), ':'), guid.end());
    for (HostNet& net : nets) {
      net.guid = std::strtoull(guid.c_str(), nullptr, 16);
      net.max_connections = 131072;
      net.gdr = files_ == nullptr || files_->has_peer_memory();
    }
    return nets;
  }

  void find_nics(hwloc_obj_osdev_type_t type) {
    std::set<std::string> seen;
    for (hwloc_obj_t device = nullptr;
         (device = hwloc_get_next_osdev(topology_, device)) != nullptr;) {
      if (device->attr->osdev.type != type) continue;
      std::vector<HostNet> nets = nets_of(device, type);
      if (nets.empty()) continue;
      const hwloc_obj_t parent = device->parent;
      const bool has_function = parent->type == HWLOC_OBJ_PCI_DEVICE;
      FoundDevice nic = has_function ? place(parent, function_of(parent->attr->pcidev))
                                     : FoundDevice{.numa = numa_of(device)};
      if (has_function && files_ == nullptr && type == HWLOC_OBJ_OSDEV_OPENFABRICS) {
        const PciAttributes& pci = parent->attr->pcidev;
        for (HostNet& net : nets) {
          net.mbits_per_second = nic_mbits_per_second(pci.vendor_id, pci.device_id);
        }
      }
      // One function with two interfaces is one NIC.
      if (has_function && !seen.insert(nic.function.bus_id).second) continue;
      nic.function.nic = HostNic{std::move(nets)};
      machine_.nics.push_back(std::move(nic));
    }
  }

  /// hwloc omits devices without a PCI function, such as the NICs of some virtual machines.
  void find_interfaces() {
    for (const std::string& name : files_->interfaces()) {
      auto net = is_virtual(name) ? std::nullopt : files_->interface(name);
      if (!net) continue;
      FoundDevice nic;
      nic.function.nic = HostNic{{*std::move(net)}};
      machine_.nics.push_back(std::move(nic));
    }
  }

  /// Returns the object of a row or column of the matrix: a device's PCI function, or the device at the other end.
  static hwloc_obj_t function_below(hwloc_obj_t object) {
    return object->type == HWLOC_OBJ_OS_DEVICE ? object->parent : object;
  }

  HostNvLink link_to(hwloc_obj_t target) const {
    if (target->type != HWLOC_OBJ_PCI_DEVICE) {
      return {.target = "ffff:ff:ff.0", .target_class = 0x068001};  // bridge of a POWER CPU
    }
    const HostPci function = function_of(target->attr->pcidev);
    return {.target = function.bus_id, .target_class = function.device_class};
  }

  void find_nvlinks() {
    unsigned count = 1;
    hwloc_distances_s* matrix = nullptr;
    if (hwloc_distances_get_by_name(topology_, "NVLinkBandwidth", &count, &matrix, 0) != 0 ||
        count == 0 || matrix == nullptr) {
      return;
    }
    const unsigned n = matrix->nbobjs;
    for (unsigned i = 0; i < n; ++i) {
      const auto gpu =
          std::find(gpu_objects_.begin(), gpu_objects_.end(), function_below(matrix->objs[i]));
      if (gpu == gpu_objects_.end()) continue;
      HostGpu& from =
          *machine_.gpus[static_cast<std::size_t>(gpu - gpu_objects_.begin())].function.gpu;
      // MB/s of one link.
      // source  hwloc 2.9 topology-nvml.c; NVLink 5: NVIDIA's data sheet
      const double one = from.sm < 70 ? 20000 : from.sm < 100 ? 25000 : 50000;
      for (unsigned j = 0; j < n; ++j) {
        const hwloc_obj_t target = function_below(matrix->objs[j]);
        const auto links = std::lround(static_cast<double>(matrix->values[i * n + j]) / one);
        if (target == *gpu || links < 1 || links > 64) continue;
        HostNvLink link = link_to(target);
        link.count = static_cast<int>(links);
        from.nvlinks.push_back(std::move(link));
      }
    }
    hwloc_distances_release(topology_, matrix);
  }

  hwloc_topology_t topology_;
  const SystemFiles* files_;
  FoundMachine machine_;
  std::vector<hwloc_obj_t> gpu_objects_;  ///< parallel to machine_.gpus
};

}  // namespace

Result<FoundMachine> find_in_hwloc_xml(const std::string& text, const std::string& where) {
  if (text.size() > kMaxXmlBytes) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: larger than any host's description", where),
                 fmt::format("at most {} bytes", kMaxXmlBytes)};
  }
  const auto set = [&](hwloc_topology_t topology) {
    return hwloc_topology_set_xmlbuffer(topology, text.c_str(), static_cast<int>(text.size()) + 1);
  };
  RINGSIDE_TRY(const Topology topology,
               load(set, {ErrorCode::Corrupt, fmt::format("{}: hwloc refuses this file", where),
                          "write it anew with lstopo --whole-io (hwloc 2.x)"}));
  return Finder{topology.get(), nullptr}.find();
}

Result<FoundMachine> find_in_synthetic(const std::string& description) {
  const auto set = [&](hwloc_topology_t topology) {
    return hwloc_topology_set_synthetic(topology, description.c_str());
  };
  RINGSIDE_TRY(const Topology topology,
               load(set, {ErrorCode::InvalidArgument,
                          fmt::format("hwloc refuses the synthetic description '{}'", description),
                          "such as synthetic:pack:2 numa:1 core:8 pu:2"}));
  return Finder{topology.get(), nullptr}.find();
}

Result<FoundMachine> find_on_this_machine(const SystemFiles& files) {
  RINGSIDE_TRY(const Topology topology,
               load([](hwloc_topology_t) { return 0; },
                    {ErrorCode::System, "hwloc cannot look at this machine",
                     "try lstopo, which uses the same library"}));
  return Finder{topology.get(), &files}.find();
}

}  // namespace ringside
