#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/probe/probe_report.h"

namespace ringside::cli {
namespace {

using probe::Machine;

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <typename Number>
Json or_null(const std::optional<Number>& value) {
  return value ? Json(*value) : Json();
}

Json gpus_json(const Machine& machine) {
  Json gpus = Json::array();
  for (const probe::Gpu& gpu : machine.gpus) {
    gpus.push_back({{"pci", gpu.pci},
                    {"vendor", gpu.vendor},
                    {"model", or_null(gpu.model)},
                    {"compute_capability", or_null(gpu.compute_capability)},
                    {"nvlinks", or_null(gpu.nvlinks)},
                    {"numa", gpu.numa}});
  }
  return gpus;
}

Json nics_json(const Machine& machine) {
  Json nics = Json::array();
  for (const probe::Nic& nic : machine.nics) {
    nics.push_back({{"name", nic.name},
                    {"up", nic.is_up},
                    {"carrier", nic.has_carrier},
                    {"virtual", nic.is_virtual},
                    {"mtu_bytes", nic.mtu},
                    {"speed_mbits", nic.mbits_per_second > 0 ? Json(nic.mbits_per_second) : Json()},
                    {"driver", or_null(nic.driver)},
                    {"pci", or_null(nic.pci)},
                    {"numa", nic.numa},
                    {"addresses", nic.addresses},
                    {"link_local", nic.has_link_local}});
  }
  return nics;
}

Json rdma_json(const Machine& machine) {
  Json ports = Json::array();
  for (const probe::RdmaPort& port : machine.rdma) {
    Json gids = Json::array();
    for (const RdmaPort::Entry& gid : port.gids) {
      gids.push_back(
          {{"index", gid.index}, {"gid", to_string(gid.gid)}, {"type", to_string(gid.type)}});
    }
    ports.push_back({{"device", port.device},
                     {"port", port.number},
                     {"state", port.state},
                     {"physical_state", port.physical},
                     {"link_layer", port.link_layer()},
                     {"rate_gbits", port.gigabits()},
                     {"lid", or_null(port.lid)},
                     {"firmware", or_null(port.firmware)},
                     {"netdev", or_null(port.netdev)},
                     {"pci", or_null(port.pci)},
                     {"numa", port.numa},
                     {"gids", gids},
                     {"error_counters", port.counters}});
  }
  return ports;
}

Json firewall_json(const probe::Firewall& firewall) {
  Json drops = Json::array();
  for (const probe::FirewallRule& one : firewall.drops) {
    drops.push_back({{"chain", one.chain}, {"rule", one.rule}});
  }
  return {{"read", firewall.is_read},
          {"source", firewall.source},
          {"rules", firewall.rules},
          {"drops", drops}};
}

Json probe_finding_json(const audit::Finding& finding) {
  return {{"id", finding.id},       {"severity", to_string(finding.severity)},
          {"title", finding.title}, {"ranks", finding.ranks},
          {"hosts", finding.hosts}, {"cause", finding.cause},
          {"fix", finding.fix},     {"about", finding.reference}};
}

}  // namespace

Json probe_json(const Machine& machine, const probe::Plan& plan,
                const std::vector<audit::Finding>& findings) {
  Json nodes = Json::array(), acs = Json::array(), backends = Json::array(), offers = Json::array(),
       variables = Json::array(), found = Json::array();
  for (const probe::VerbsNode& one : machine.verbs_nodes) {
    nodes.push_back({{"path", one.path}, {"usable", one.is_usable}});
  }
  for (const probe::AcsBridge& one : machine.acs) {
    acs.push_back({{"pci", one.pci}, {"control", one.control}});
  }
  for (const probe::Backend& one : machine.backends) {
    backends.push_back(
        {{"name", one.name}, {"version", or_null(one.version)}, {"from", or_null(one.from)}});
  }
  for (const probe::Backend& one : machine.pytorch.backends) {
    offers.push_back(
        {{"name", one.name}, {"offered", !one.version.empty()}, {"get", or_null(one.from)}});
  }
  for (const auto& [name, value] : machine.variables) {
    variables.push_back(
        {{"name", name}, {"value", value}, {"does", or_null(probe::meaning_of(name))}});
  }
  for (const audit::Finding& one : findings) found.push_back(probe_finding_json(one));
  return {{"schema", "ringside.probe/1"},
          {"host", machine.host},
          {"kernel", machine.kernel},
          {"container", or_null(machine.container)},
          {"memory_limit", or_null(machine.memory_limit)},
          {"nvidia_driver", or_null(machine.nvidia_driver)},
          {"gpus", gpus_json(machine)},
          {"gpu_note", or_null(machine.gpu_note)},
          {"nics", nics_json(machine)},
          {"rdma_devices", rdma_json(machine)},
          {"verbs_library", or_null(machine.verbs_library)},
          {"verbs_nodes", nodes},
          {"gpudirect",
           {{"nvidia_peermem", machine.has_peer_memory},
            {"open_driver_dma_buf", machine.is_open_driver},
            {"gdrcopy", machine.has_gdrcopy}}},
          {"acs", {{"bridges_on", acs}, {"note", or_null(machine.acs_note)}}},
          {"iommu", machine.iommu},
          {"shm",
           {{"there", machine.shm.is_there},
            {"bytes", machine.shm.size.value},
            {"free_bytes", machine.shm.free.value}}},
          {"limits",
           {{"memlock_bytes", or_null(machine.limits.memlock)},
            {"nofile", or_null(machine.limits.nofile)}}},
          {"hugepages", {{"pages", machine.hugepages}, {"free", machine.hugepages_free}}},
          {"clock_source", machine.clock_source},
          {"clock_sources", machine.clock_sources},
          {"firewall", firewall_json(machine.firewall)},
          {"variables", variables},
          {"backends", backends},
          {"pytorch",
           {{"version", or_null(machine.pytorch.version)},
            {"python", or_null(machine.pytorch.python)},
            {"backends", offers}}},
          {"plan",
           {{"interface", or_null(plan.interface)},
            {"interface_why", plan.interface_why},
            {"transports", plan.transport_why},
            {"rdma_devices", plan.rdma_devices},
            {"rdma_why", plan.rdma_why},
            {"backend", or_null(plan.backend)},
            {"backend_why", plan.backend_why}}},
          {"findings", found}};
}

Json hosts_json(const std::vector<probe::HostReport>& ranks) {
  Json hosts = Json::array(), differences = Json::array();
  const std::vector<probe::HostReport> each = probe::one_a_host(ranks);
  for (const probe::HostReport& host : each) {
    Json numbers = Json::array(), traits = Json::object();
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (ranks[rank].identity == host.identity) numbers.push_back(rank);
    }
    for (const auto& [name, value] : host.traits) traits[name] = value;
    hosts.push_back({{"host", host.host}, {"ranks", numbers}, {"traits", traits}});
  }
  for (const probe::Difference& one : probe::compare(each)) {
    Json odd = Json::array();
    for (const auto& [host, value] : one.odd) odd.push_back({{"host", host}, {"value", value}});
    differences.push_back(
        {{"trait", one.trait}, {"usual", one.is_split ? Json() : Json(one.usual)}, {"odd", odd}});
  }
  return {{"hosts", hosts}, {"differences", differences}};
}

Json cores_json(const probe::PairMatrix& matrix) {
  Json cores = Json::array();
  for (const std::optional<int>& core : matrix.cores) cores.push_back(core ? Json(*core) : Json());
  return cores;
}

Json pairs_json(const probe::PairMatrix& matrix) {
  Json pairs = Json::array();
  for (const probe::PairCell& cell : matrix.cells) {
    if (cell.from == cell.to) continue;
    pairs.push_back({{"from", cell.from},
                     {"to", cell.to},
                     {"latency_us", cell.latency_us},
                     {"bandwidth_gbs", cell.gbs},
                     {"expected_gbs", cell.expected_gbs > 0 ? Json(cell.expected_gbs) : Json()},
                     {"outlier", cell.is_outlier},
                     {"why", or_null(cell.why)}});
  }
  return pairs;
}

}  // namespace ringside::cli
