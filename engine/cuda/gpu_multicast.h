#pragma once

#include <memory>
#include <vector>

#include "engine/cuda/device_multicast.h"
#include "engine/cuda/gpu_driver.h"

namespace ringside {

/// Whether the device can be one of a switch's: on Hopper and later with NVSwitches, by a driver of CUDA 12.1 or newer.
/// Whether the switch takes it then, cuMulticastCreate() and what follows say (the fabric manager has to run).
bool has_gpu_multicast(const GpuDriver& driver, int device);

/// Multicast objects of the driver over memory of this device and others.
/// shape  has_gpu_multicast(), and has_gpu_pages(): what is bound has to be shareable, as the object is
std::unique_ptr<DeviceMulticast> make_gpu_multicast(const GpuDriver& driver, int device);

}  // namespace ringside
