#pragma once

#include <memory>

#include "engine/cuda/device/device_multicast.h"

namespace ringside {

/// What fibres have for memory behind a switch: all shares lie in one file without a name, which every member has
/// mapped. As a driver does, it minds who has joined and bound.
std::unique_ptr<DeviceMulticast> make_fibre_multicast();

}  // namespace ringside
