#include "engine/topology/sources/hwloc_source.h"

#include "web/platform/absent.h"

namespace ringside {

Result<FoundMachine> find_in_hwloc_xml(const std::string& /*text*/, const std::string& where) {
  return not_in_browser(where, "only hwloc reads its XML");
}

Result<FoundMachine> find_in_synthetic(const std::string& description) {
  return not_in_browser(description, "only hwloc reads its descriptions");
}

Result<FoundMachine> find_on_this_machine(const SystemFiles& /*files*/) {
  return not_in_browser("--on here", "a page cannot look at the machine");
}

}  // namespace ringside
