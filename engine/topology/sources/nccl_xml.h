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

/// A host from NCCL's topology XML. `where` opens each message.
///
/// GPUs without a rank are given the next one in file order when none of the file's has any.
/// errors  Corrupt, as `where:line: what`, with the fix: not XML, truncated, no <system>, another
///         version than 1, an element or class unknown or in the wrong place (the nearest name is
///         given), a missing or malformed attribute, a negative or absurd number, a bus id or net dev
///         twice, an NVLink that the GPU at its other end does not list (one to a GPU that the file
///         lacks is skipped, as NCCL does), no GPU, several hosts in one file, beyond the limits
///         above. Entity declarations are refused, not expanded.
Result<Host> parse_nccl_xml(std::string_view text, const std::string& where);

/// The same, from a file.  errors  NotFound, System: it cannot be read; as above
Result<Host> load_nccl_xml(const std::string& path);

/// The XML that NCCL_TOPO_FILE accepts. parse_nccl_xml of the result gives the host back.
std::string to_nccl_xml(const Host& host);

}  // namespace ringside
