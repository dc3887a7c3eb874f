#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// The formats in which other tools record calls.
namespace ringside::recordings {

/// The formats of recordings that are read.
enum class Format : std::uint8_t {
  Inspector,  ///< JSON lines of NCCL's Inspector plugin
  Clog,       ///< torchcomms' call log, version 1
  Kineto,     ///< PyTorch profiler's trace in Chrome's format
  Nsys,       ///< sqlite export of Nsight Systems
};

/// Returns the tool's name: `PyTorch's profiler`.
const char* to_string(Format format);

/// Returns the format of a file that begins with `head`; nothing if it is none of them.
std::optional<Format> format_of(std::string_view head);

}  // namespace ringside::recordings
