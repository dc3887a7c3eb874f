#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

/// Records of the topology and graph dumps that NCCL prints with NCCL_DEBUG_SUBSYS=GRAPH.
/// source  docs/formats 2.7
namespace ringside::logs {

/// `=== System : maxBw 48.0 totalBw 480.0 ===`, or the line of `=` that ends the dump.
struct TopoSystem {
  static constexpr RecordKind kKind = RecordKind::TopoSystem;
  bool is_end = false;
  float max_bw = -1;    ///< GB/s
  float total_bw = -1;  ///< GB/s
};

/// `<indent>+ PCI[24.0] - GPU/0-1b000 (0)`, or `CPU/0 (1/1/2)` at the root of a tree.
struct TopoNode {
  static constexpr RecordKind kKind = RecordKind::TopoNode;
  std::int16_t indent = 0;   ///< blanks before it: the depth
  float bw = -1;             ///< GB/s, of the link
  std::string_view link;     ///< `PCI`, `NVL`, `SYS`, `NET`, ...; empty at a root
  std::string_view type;     ///< `CPU`, `PCI`, `GPU`, `NET`, `NVS`, `NIC`
  std::string_view id;       ///< `1B000`, `0-1b000`, `0`
  std::string_view details;  ///< `1/1/2`: text in the parentheses
};

/// `GPU/1B000 :GPU/1B000 (0/5000.0/LOC) NET/0 (3/24.0/PXB) ...`. Read the list with TopoPathCursor.
struct TopoPaths {
  static constexpr RecordKind kKind = RecordKind::TopoPaths;
  std::string_view type;  ///< type of the source
  std::string_view id;
  std::string_view list;
};

/// One entry of TopoPaths::list.
struct TopoPath {
  std::string_view type, id;  ///< type and id of the destination
  std::int32_t hops = -1;
  float bw = -1;          ///< GB/s
  std::string_view path;  ///< `NVL`, `PIX`, ...
};

/// Iterates over TopoPaths::list. next() returns false at the end and at an incomplete entry.
class TopoPathCursor {
 public:
  explicit TopoPathCursor(const TopoPaths& paths) : rest_(paths.list) {}
  bool next(TopoPath& path);

 private:
  std::string_view rest_;
};

/// A line of subsystem GRAPH with the result of a search; -1: not in the line.
struct GraphPattern {
  static constexpr RecordKind kKind = RecordKind::GraphPattern;
  /// 1 balanced tree, 2 split tree, 3 tree, 4 ring, 5 NVLS, 6 CollNet direct
  std::int16_t pattern = -1;
  std::int16_t cross_nic = -1;
  std::int32_t nchannels = -1;
  std::int16_t same_channels = -1;
  float bw_intra = -1, bw_inter = -1;       ///< GB/s a channel
  std::string_view type_intra, type_inter;  ///< `NVL`, `PXB`: the worst hop
};

/// ` 0 : NET/0 GPU/0 GPU/1 NET/0`, below its GraphPattern.
struct GraphChannel {
  static constexpr RecordKind kKind = RecordKind::GraphChannel;
  std::int32_t channel = -1;
  std::string_view list;
};

}  // namespace ringside::logs
