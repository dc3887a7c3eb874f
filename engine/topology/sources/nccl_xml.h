#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/topology/host.h"

namespace ringside {

/// Limits that keep a hostile file from costing more than itself.
/// source  NCCL: MAX_SUBS 640, XML nodes of one rank; a real host has a few hundred elements
inline constexpr int kMaxXmlDepth = 64;
inline constexpr int kMaxNetsPerHost = 256;
inline constexpr int kMaxCpusPerHost = 64;
inline constexpr int kMaxPciPerHost = 1024;

/// Parses NCCL's topology XML. `where` starts each message.
///
/// If no GPU of the file has a rank, GPUs get ranks in file order.
/// errors  Corrupt, as `where:line: what`, with the fix: not XML, truncated, no <system>, another version than 1, an
///         unknown or misplaced element or class (the error names the closest), a missing or malformed attribute, a
///         negative or absurd number, a bus id or net dev twice, an NVLink that the GPU at its other end does not list
///         (one to a GPU that is not in the file is skipped, as in NCCL), no GPU, several hosts in one file, more than
///         the limits above. Entity declarations are rejected, not expanded.
Result<Host> parse_nccl_xml(std::string_view text, const std::string& where);

/// The same, from a file.  errors  NotFound, System: it cannot be read; as above
Result<Host> load_nccl_xml(const std::string& path);

/// Returns the XML that NCCL_TOPO_FILE accepts. parse_nccl_xml of the result gives the host back.
std::string to_nccl_xml(const Host& host);

}  // namespace ringside
