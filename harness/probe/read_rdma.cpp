#include "harness/probe/read_rdma.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "harness/probe/files.h"

namespace ringside::probe {
namespace {

/// `4: ACTIVE` -> `ACTIVE`
std::string behind_colon(const std::string& text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

bool is_empty_gid(const std::string& gid) {
  // fe80::/64 with no interface behind it stands in slots that nobody uses, too.
  return gid.empty() || gid == "0000:0000:0000:0000:0000:0000:0000:0000" ||
         gid == "fe80:0000:0000:0000:0000:0000:0000:0000";
}

std::vector<Gid> read_gids(const std::string& port) {
  std::vector<Gid> gids;
  for (const std::string& index : names_in(port + "/gids")) {
    const std::string gid = read_line(port + "/gids/" + index);
    if (is_empty_gid(gid)) continue;
    const std::string type = read_line(port + "/gid_attrs/types/" + index);
    gids.push_back({std::atoi(index.c_str()), gid, type});
  }
  std::sort(gids.begin(), gids.end(), [](const Gid& a, const Gid& b) { return a.index < b.index; });
  return gids;
}

std::map<std::string, std::uint64_t> read_counters(const std::string& port) {
  std::map<std::string, std::uint64_t> counters;
  // Those that climb when something is wrong.  source  Linux, Documentation/ABI/stable/sysfs-class-infiniband
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
  std::vector<RdmaPort> ports;
  for (const std::string& device : names_in(root + "/sys/class/infiniband")) {
    const std::string folder = root + "/sys/class/infiniband/" + device;
    for (const std::string& number : names_in(folder + "/ports")) {
      const std::string place = folder + "/ports/" + number;
      RdmaPort port{
          .device = device,
          .port = std::atoi(number.c_str()),
          .state = behind_colon(read_line(place + "/state")),
          .physical = behind_colon(read_line(place + "/phys_state")),
          .link_layer = read_line(place + "/link_layer"),
          .gbits_per_second = leading_value(read_line(place + "/rate"), 0),
          .lid = read_line(place + "/lid"),
          .firmware = read_line(folder + "/fw_ver"),
          .netdev = read_line(place + "/gid_attrs/ndevs/0"),
          .pci = link_name(folder + "/device"),
          .numa = static_cast<int>(leading_value(read_line(folder + "/device/numa_node"), -1)),
          .gids = read_gids(place),
          .counters = read_counters(place)};
      ports.push_back(std::move(port));
    }
  }
  return ports;
}

std::vector<VerbsNode> read_verbs_nodes(const std::string& root) {
  std::vector<VerbsNode> nodes;
  const std::string folder = root + "/dev/infiniband";
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with("uverbs")) continue;
    const std::string path = folder + "/" + name;
    nodes.push_back({"/dev/infiniband/" + name, ::access(path.c_str(), R_OK | W_OK) == 0});
  }
  return nodes;
}

}  // namespace ringside::probe
