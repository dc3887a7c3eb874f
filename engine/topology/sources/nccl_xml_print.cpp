#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "engine/topology/children.h"
#include "engine/topology/sources/nccl_xml.h"

namespace ringside {
namespace {

template <typename T>
void set(pugi::xml_node node, const char* key, const T& value) {
  node.append_attribute(key).set_value(fmt::format("{}", value).c_str());
}

void set_if_known(pugi::xml_node node, const char* key, const std::string& value) {
  if (!value.empty()) set(node, key, value);
}

std::string hex_class(std::uint32_t value) { return fmt::format("0x{:06x}", value); }

void print_gpu(pugi::xml_node parent, const HostGpu& gpu) {
  pugi::xml_node node = parent.append_child("gpu");
  set(node, "dev", gpu.dev);
  set(node, "sm", gpu.sm);
  if (gpu.rank) set(node, "rank", *gpu.rank);
  set(node, "gdr", gpu.gdr ? 1 : 0);
  set(node, "mlopart", gpu.mlopart);
  for (const HostNvLink& link : gpu.nvlinks) {
    pugi::xml_node child = node.append_child("nvlink");
    set(child, "target", link.target);
    set(child, "count", link.count);
    set(child, "tclass", hex_class(link.target_class));
  }
  if (gpu.c2c) {
    pugi::xml_node child = node.append_child("c2c");
    set(child, "bw", gpu.c2c->mbytes_per_second);
    set(child, "count", gpu.c2c->count);
  }
}

void print_nic(pugi::xml_node parent, const HostNic& nic) {
  pugi::xml_node node = parent.append_child("nic");
  for (const HostNet& net : nic.nets) {
    const pugi::xml_node child = node.append_child("net");
    set(child, "name", net.name);
    set(child, "dev", net.dev);
    set(child, "latency", net.latency_us);
    set(child, "speed", net.mbits_per_second);
    set(child, "port", net.port);
    set(child, "guid", fmt::format("0x{:x}", net.guid));
    set(child, "maxconn", net.max_connections);
    set(child, "gdr", net.gdr ? 1 : 0);
    set(child, "net", 1);
    if (net.coll) set(child, "coll", 1);
    if (net.rail) set(child, "rail", *net.rail);
    if (net.plane) set(child, "plane", *net.plane);
  }
}

void print_pci(pugi::xml_node parent, const HostPci& function) {
  pugi::xml_node node = parent.append_child("pci");
  set(node, "busid", function.bus_id);
  set(node, "class", hex_class(function.device_class));
  set_if_known(node, "vendor", function.vendor);
  set_if_known(node, "device", function.device);
  set_if_known(node, "subsystem_vendor", function.subsystem_vendor);
  set_if_known(node, "subsystem_device", function.subsystem_device);
  // If these two attributes were missing, NCCL would look them up on the machine that reads the file.
  set(node, "link_speed", function.link_speed);
  set(node, "link_width", function.link_width);
  for (const HostPci& child : function.children) print_pci(node, child);
  if (function.gpu) print_gpu(node, *function.gpu);
  if (function.nic) print_nic(node, *function.nic);
  for (const std::string& target : function.peer_switches) {
    set(node.append_child("pcilink"), "target", target);
  }
}

/// NCCL ends an element without children with "/>", without a space before it. Line ends in attributes are escaped, so
/// the replacement matches nothing else.
std::string without_space_before_end(const std::string& printed) {
  constexpr std::string_view kEnd = " />\n";
  std::string text;
  text.reserve(printed.size());
  std::size_t from = 0;
  for (std::size_t at = printed.find(kEnd); at != std::string::npos;
       at = printed.find(kEnd, from)) {
    text.append(printed, from, at - from).append("/>\n");
    from = at + kEnd.size();
  }
  return text.append(printed, from);
}

}  // namespace

std::string to_nccl_xml(const Host& host) {
  pugi::xml_document document;
  pugi::xml_node system = document.append_child("system");
  set(system, "version", 1);
  for (const HostCpu& cpu : host.cpus) {
    pugi::xml_node node = system.append_child("cpu");
    set(node, "numaid", cpu.numa);
    set_if_known(node, "affinity", cpu.affinity);
    set_if_known(node, "arch", cpu.arch);
    set_if_known(node, "vendor", cpu.vendor);
    if (cpu.family >= 0) set(node, "familyid", cpu.family);
    if (cpu.model >= 0) set(node, "modelid", cpu.model);
    in_order(
        cpu, [&](const HostPci& function) { print_pci(node, function); },
        [&](const HostNic& nic) { print_nic(node, nic); });
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration, pugi::encoding_utf8);
  return without_space_before_end(text.str());
}

}  // namespace ringside
