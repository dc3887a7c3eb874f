#include "harness/probe/read_rdma.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/folder.h"
#include "harness/probe/files.h"

namespace ringside::probe {
namespace {

/// Returns the text after the colon: `4: ACTIVE` -> `ACTIVE`.
std::string behind_colon(const std::string& text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

std::map<std::string, std::uint64_t> read_counters(const std::string& port) {
  std::map<std::string, std::uint64_t> counters;
  // Counters that increase when something is wrong.
  // source  Linux, Documentation/ABI/stable/sysfs-class-infiniband
  constexpr const char* kOfErrors[] = {
      "counters/symbol_error",          "counters/link_downed",
      "counters/port_rcv_errors",       "counters/link_error_recovery",
      "hw_counters/out_of_sequence",    "hw_counters/local_ack_timeout_err",
      "hw_counters/packet_seq_err",     "hw_counters/rnr_nak_retry_err",
      "hw_counters/req_cqe_error",      "hw_counters/link_downed",
      "hw_counters/rcvd_rnr_err",       "hw_counters/retry_rnr_exceeded_err",
      "hw_counters/completer_retry_err"};
  for (const char* name : kOfErrors) {
    const std::string text = read_line(port + "/" + name);
    const auto value = static_cast<std::uint64_t>(std::strtoull(text.c_str(), nullptr, 10));
    if (value > 0) counters[std::string(name).substr(std::string(name).find('/') + 1)] = value;
  }
  return counters;
}

}  // namespace

std::vector<RdmaPort> read_rdma(const std::string& root) {
  const std::string root_of_all = root + "/sys/class/infiniband";
  std::vector<RdmaPort> ports;
  for (ringside::RdmaPort& seen : read_rdma_ports(root_of_all)) {
    const std::string device = root_of_all + "/" + seen.device;
    const std::string place = fmt::format("{}/ports/{}", device, seen.number);
    RdmaPort port{std::move(seen)};
    port.physical = behind_colon(read_line(place + "/phys_state"));
    port.lid = read_line(place + "/lid");
    port.firmware = read_line(device + "/fw_ver");
    port.netdev = read_line(place + "/gid_attrs/ndevs/0");
    port.pci = link_name(device + "/device");
    port.counters = read_counters(place);
    ports.push_back(std::move(port));
  }
  return ports;
}

std::vector<VerbsNode> read_verbs_nodes(const std::string& root) {
  std::vector<VerbsNode> nodes;
  const std::string folder = root + "/dev/infiniband";
  for (const std::string& name : names_or_none(folder)) {
    if (!name.starts_with("uverbs")) continue;
    const std::string path = folder + "/" + name;
    nodes.push_back({"/dev/infiniband/" + name, ::access(path.c_str(), R_OK | W_OK) == 0});
  }
  return nodes;
}

}  // namespace ringside::probe
