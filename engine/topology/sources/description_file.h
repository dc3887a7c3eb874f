#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// The size limit of descriptions of hosts, clusters or jobs: a larger file is certainly of another kind.
inline constexpr Bytes kMostDescription{std::uint64_t{16} << 20};

/// Reads a description file, without the byte order mark of some editors.
/// errors  as read_file()
Result<std::string> read_description(const std::string& path, Bytes most = kMostDescription);

}  // namespace ringside
