#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/topology/pci_tree.h"

namespace ringside {

/// What NVIDIA's management library reports on the GPUs that the driver shows. Devices count from 0.
class NvmlDriver {
 public:
  virtual ~NvmlDriver() = default;

  /// errors  System: the driver refuses
  virtual Result<int> device_count() = 0;
  /// As the driver writes it: `00000000:1B:00.0`.  errors  as above
  virtual Result<std::string> bus_id(int device) = 0;
  /// 10 x major + minor.  errors  as above
  virtual Result<int> compute_capability(int device) = 0;
  /// Bus id at the far end of an NVLink; nothing where it is not there, not up, or not for P2P.
  virtual std::optional<std::string> link_remote(int device, int link) = 0;
  /// The links to the CPU on the same module; nothing where there are none.
  virtual std::optional<HostC2c> c2c(int device) = 0;
};

/// libnvidia-ml.so.1, opened at run time and closed with the object; null where there is no driver.
std::unique_ptr<NvmlDriver> open_nvml();

/// Gives each GPU its compute capability and links; drops the GPUs that the driver does not show, adds
/// those that hwloc did not see. A far end that is no GPU of the machine is an NVSwitch.
/// errors  as NvmlDriver
Status add_nvml(FoundMachine& machine, NvmlDriver& driver);

/// NVLinks that a GPU of this compute capability may have.  source  NCCL 2.30.7 graph/xml.cc
int max_nvlinks(int sm);

}  // namespace ringside
