#include "engine/topology/sources/host_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/hwloc_source.h"
#include "engine/topology/sources/nccl_xml.h"
#include "engine/topology/sources/nvml_source.h"

namespace ringside {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

void drop_through(std::string_view& text, std::string_view end) {
  const auto at = text.find(end);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
}

/// NCCL decides by the compute capability, so every result would be wrong for a GPU without one.
Status check_models(const FoundMachine& machine, const std::string& where) {
  const auto unknown =
      std::find_if(machine.gpus.begin(), machine.gpus.end(),
                   [](const FoundDevice& gpu) { return gpu.function.gpu->sm == 0; });
  if (unknown == machine.gpus.end()) return {};
  return Error{ErrorCode::Unsupported,
               fmt::format("{}: GPU {} has PCI id {}, whose compute capability is not known", where,
                           unknown->function.bus_id, unknown->function.device),
               "describe the host in NCCL's XML (NCCL_TOPO_DUMP_FILE writes it), which says sm"};
}

Result<Host> make_host(FoundMachine machine, const std::string& name) {
  RINGSIDE_TRY(check_models(machine, name));
  Host host = lay_out(std::move(machine));
  host.name = name;
  return host;
}

}  // namespace

Result<Host> load_local_host() {
  RINGSIDE_TRY(FoundMachine machine, find_on_this_machine(SystemFiles{"/sys"}));
  if (const auto driver = open_nvml()) {
    RINGSIDE_TRY(add_nvml(machine, *driver));
  }
  return make_host(std::move(machine), "local");
}

Result<Host> parse_synthetic_host(const std::string& text) {
  RINGSIDE_TRY(FoundMachine machine, find_in_synthetic(text));
  return make_host(std::move(machine), "synthetic:" + text);
}

std::string_view xml_root_name(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // UTF-8 byte order mark
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    if (text.starts_with("<?")) {
      drop_through(text, "?>");
    } else if (text.starts_with("<!--")) {
      drop_through(text, "-->");
    } else if (text.starts_with("<!")) {
      // A document type may contain declarations, each with its own end mark.
      if (text.find('[') < text.find('>')) drop_through(text, "]");
      drop_through(text, ">");
    } else {
      break;
    }
  }
  if (!text.starts_with('<')) return {};
  text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" \t\r\n/>"));
}

Result<DescribedHost> load_host_file(const std::string& path) {
  RINGSIDE_TRY(const std::string text, read_description(path));
  const std::string_view root = xml_root_name(text);
  if (root == "system") {
    RINGSIDE_TRY(Host host, parse_nccl_xml(text, path));
    return DescribedHost{std::move(host), 1};
  }
  if (root == "topology") {
    RINGSIDE_TRY(FoundMachine machine, find_in_hwloc_xml(text, path));
    RINGSIDE_TRY(Host host, make_host(std::move(machine), path));
    return DescribedHost{std::move(host), 1};
  }
  if (root.empty() && text.find("ringside:") != std::string::npos) {
    return parse_host_yaml(text, path);
  }
  return Error{
      ErrorCode::Corrupt,
      root.empty() ? fmt::format("{}: describes neither a host nor a cluster", path)
                   : fmt::format("{}: the root element is <{}>", path, root),
      "give NCCL's topology XML (<system>), hwloc's XML (<topology>), or a YAML that opens "
      "with the line 'ringside: host/1' or, of a cluster, 'ringside: cluster/1'"};
}

}  // namespace ringside
