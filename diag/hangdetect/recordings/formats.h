#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/recordings/recording.h"
#include "diag/logparse/byte_source.h"

/// The reader of each format, and what several of them need.
namespace ringside::recordings {

/// errors  Corrupt: no communicator and no call
Result<Recording> parse_inspector(std::string_view text);
Result<Recording> parse_clog(std::string_view text);
/// errors  Corrupt: not JSON.  NotFound: no collectives
Result<Recording> parse_kineto(std::string_view text);
/// Reads the source to its end; holds the calls, not the text.
Result<Recording> read_kineto(logs::ByteSource& source);
/// errors  Corrupt: no database, or a damaged one.  NotFound: no collectives
Result<std::vector<Recording>> parse_nsys(std::string_view bytes);
Result<std::vector<Recording>> read_nsys(const std::string& path);

/// What the name of one of NCCL's kernels states.
struct KernelName {
  std::string op;    ///< `AllReduce`, `SendRecv`
  std::string type;  ///< PyTorch's spelling; empty: not stated
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
};

/// Parses the name of a kernel of NCCL 2.4 or later; nothing for another kernel.
/// source  docs/formats 8.3
std::optional<KernelName> parse_kernel(std::string_view name);

/// Returns PyTorch's spelling of an element type that NCCL, PyTorch or C++ names; the text itself if it is unknown.
std::string type_of(std::string_view text);

/// Parses `[0, 1, 2]`; nothing for another or abbreviated list.
std::optional<std::vector<int>> parse_ranks(std::string_view text);

/// Returns the larger one of a call's two buffers in bytes.
std::uint64_t bytes_of(const Call& call);

/// Returns the size of the buffer as nccl-tests counts it, for an NCCL function's own count in bytes: the part of one
/// rank where the function takes that.
std::uint64_t whole_bytes(hang::Op op, std::uint64_t bytes, int ranks);

}  // namespace ringside::recordings
