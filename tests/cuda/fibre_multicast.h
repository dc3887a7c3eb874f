#pragma once

#include <memory>

#include "engine/cuda/device/device_multicast.h"

namespace ringside {

/// Makes the memory behind a switch for fibres: all shares lie in one unnamed file that every member has mapped. As a
/// driver does, it checks who has joined and bound.
std::unique_ptr<DeviceMulticast> make_fibre_multicast();

}  // namespace ringside
