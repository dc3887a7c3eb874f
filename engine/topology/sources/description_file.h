#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// More than any description of hosts, clusters or jobs needs: what is larger was meant as something else.
inline constexpr Bytes kMostDescription{std::uint64_t{16} << 20};

/// The text of a file that describes something, without the byte order mark that some editors put in front. A pipe is
/// read as a file is; what never ends is refused once it is too much.
/// errors  NotFound: no such file.  InvalidArgument: a folder, or more than `most`.  System: it cannot be read
Result<std::string> read_description(const std::string& path, Bytes most = kMostDescription);

}  // namespace ringside
