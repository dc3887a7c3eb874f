#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/topology/pci_tree.h"

namespace ringside {

/// The GPUs that the driver shows, as reported by NVIDIA's management library. Devices count from 0.
class NvmlDriver {
 public:
  virtual ~NvmlDriver() = default;

  /// errors  System: the driver refuses
  virtual Result<int> device_count() = 0;
  /// Returns the bus id in the driver's form: `00000000:1B:00.0`.  errors  as above
  virtual Result<std::string> bus_id(int device) = 0;
  /// Returns 10 x major + minor.  errors  as above
  virtual Result<int> compute_capability(int device) = 0;
  /// Returns the bus id at the far end of an NVLink; nullopt if the link does not exist, is down, or does not support
  /// P2P.
  virtual std::optional<std::string> link_remote(int device, int link) = 0;
  /// Returns the links to the CPU of the same module; nullopt: none.
  virtual std::optional<HostC2c> c2c(int device) = 0;
};

/// Opens libnvidia-ml.so.1 at run time; it is closed with the object. Null: there is no driver.
std::unique_ptr<NvmlDriver> open_nvml();

/// Gives each GPU its compute capability and links; drops the GPUs that the driver does not show, adds
/// those that hwloc did not see. A far end that is no GPU of the machine is an NVSwitch.
/// errors  as NvmlDriver
Status add_nvml(FoundMachine& machine, NvmlDriver& driver);

/// Returns the maximum number of NVLinks of a GPU with this compute capability.  source  NCCL 2.30.7 graph/xml.cc
int max_nvlinks(int sm);

}  // namespace ringside
