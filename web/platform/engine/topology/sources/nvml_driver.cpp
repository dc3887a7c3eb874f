#include "engine/topology/sources/nvml_source.h"

namespace ringside {

std::unique_ptr<NvmlDriver> open_nvml() { return nullptr; }

}  // namespace ringside
