#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/topology/sources/host_yaml.h"

namespace ringside {

/// Loads a file that describes a host: NCCL's topology XML, hwloc's XML or a host YAML, distinguished by their
/// content.
/// errors  NotFound, System: it cannot be read.  Corrupt: another format, or an error of the reader; Unsupported: an
///         hwloc file with a GPU whose compute capability does not follow from its PCI id
Result<DescribedHost> load_host_file(const std::string& path);

/// Describes this machine by hwloc, and by NVML if there is a driver.
/// errors  System: hwloc failed; Unsupported: as above
Result<Host> load_local_host();

/// Parses hwloc's synthetic description, such as `pack:2 numa:1 core:8 pu:2`: processors and memory only.
/// errors  InvalidArgument: hwloc rejects it
Result<Host> parse_synthetic_host(const std::string& text);

/// Returns the name of an XML document's root element; empty if the text does not begin like XML.
std::string_view xml_root_name(std::string_view text);

}  // namespace ringside
