#include "tests/probe/made_up_machine.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ringside::probe {
namespace {

namespace fs = std::filesystem;

Interface interface_at(const char* name, std::uint8_t first, std::uint8_t last) {
  Interface one{.name = name, .address = {}, .is_up = true};
  one.address.ip = {first, 0, 0, last};
  return one;
}

}  // namespace

MadeUpMachine::MadeUpMachine() {
  std::string pattern = (fs::temp_directory_path() / "ringside_probe_XXXXXX").string();
  sources.root = ::mkdtemp(pattern.data());
  sources.host = "node1";
  sources.kernel = "Linux 6.1.0";
  sources.interfaces = {interface_at("lo", 127, 1), interface_at("eth0", 10, 7)};
  sources.limits = {.memlock = std::nullopt, .nofile = 1 << 20};
  sources.shm = {.is_there = true, .size = Bytes{16ULL << 30}, .free = Bytes{16ULL << 30}};
  sources.firewall_source = "nft";
  sources.firewall_text = "";
  sources.backends = {{"nccl", "2.28.9", "libnccl.so.2"}, {"mpi", "", ""}, {"gloo", "0.5.0", ""}};
  for (const char* name : {"lo", "eth0"}) {
    const std::string net = std::string("/sys/class/net/") + name;
    write(net + "/type", "1");
    write(net + "/flags", "0x1003");
    write(net + "/carrier", "1");
    write(net + "/mtu", "9000");
  }
  write("/sys/class/net/eth0/speed", "100000");
  write("/sys/class/net/eth0/device/uevent", "DRIVER=mlx5_core");
  for (const char* name : {"mlx5_0", "mlx5_1"}) {
    const std::string port = std::string("/sys/class/infiniband/") + name + "/ports/1";
    write(port + "/state", "4: ACTIVE\n");
    write(port + "/phys_state", "5: LinkUp\n");
    write(port + "/link_layer", "Ethernet\n");
    write(port + "/rate", "400 Gb/sec (4X NDR)\n");
    write(port + "/gids/0", "fe80:0000:0000:0000:0a5b:0eff:fe00:0001\n");
    write(port + "/gid_attrs/types/0", "IB/RoCE v1\n");
    write(port + "/gids/3", "0000:0000:0000:0000:0000:ffff:0a00:0007\n");
    write(port + "/gid_attrs/types/3", "RoCE v2\n");
    write(port + "/gids/4", "0000:0000:0000:0000:0000:0000:0000:0000\n");
  }
  write("/dev/infiniband/uverbs0", "");
  write("/sys/bus/pci/devices/0000:1b:00.0/class", "0x030200\n");
  write("/sys/bus/pci/devices/0000:1b:00.0/vendor", "0x10de\n");
  write("/sys/bus/pci/devices/0000:1b:00.0/iommu_group/type", "identity\n");
  write("/proc/driver/nvidia/gpus/0000:1b:00.0/information", "Model: \t\t NVIDIA H100\nIRQ: 1\n");
  write("/sys/bus/pci/devices/0000:1a:00.0/class", "0x060400\n");
  write("/sys/bus/pci/devices/0000:1a:00.0/config", std::string(4096, '\0'));
  write("/sys/module/nvidia_peermem/version", "550.54\n");
  write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
}

MadeUpMachine::~MadeUpMachine() {
  std::error_code ignored;
  fs::remove_all(sources.root, ignored);
}

void MadeUpMachine::write(const std::string& path, const std::string& text) const {
  fs::create_directories(fs::path(at(path)).parent_path());
  std::ofstream(at(path), std::ios::binary) << text;
}

void MadeUpMachine::remove(const std::string& path) const { fs::remove_all(at(path)); }

}  // namespace ringside::probe
