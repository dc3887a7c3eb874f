#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_parts.h"
#include "diag/audit/evidence.h"

namespace ringside::audit {

/// How far two devices of a host are apart, nearest first.
enum class DeviceReach : std::uint8_t {
  Self,
  NvLink,
  Pix,   ///< one PCIe switch at most
  Pxb,   ///< several PCIe switches, no host bridge
  Phb,   ///< a PCIe host bridge
  Node,  ///< several host bridges of one NUMA node
  Sys,   ///< the link between NUMA nodes
  None,  ///< no path
};

struct MatrixCell {
  DeviceReach reach = DeviceReach::None;
  std::uint8_t nvlinks = 0;  ///< `NV18`: 18
  friend bool operator==(const MatrixCell&, const MatrixCell&) = default;
};

/// What stands between blanks.
std::vector<std::string_view> cells_of(std::string_view line);

/// `NV18`, `PXB`
std::string to_string(MatrixCell cell);

/// What `nvidia-smi topo -m` prints of a host.
/// shape  each row has as many cells as there are columns
struct LinkMatrix {
  struct Row {
    std::size_t column = 0;  ///< the device
    std::vector<MatrixCell> cells = {};
  };
  std::string host = {};  ///< empty: no prefix says it
  std::uint32_t process = 0;
  std::vector<std::string> columns =
      {};                      ///< `GPU0`, .., then NICs, by the legend's names where there is one
  std::size_t gpus = 0;        ///< the first columns
  std::vector<Row> rows = {};  ///< those that came whole
  Evidence evidence = {};

  [[nodiscard]] std::size_t nics() const { return columns.size() - gpus; }
  /// Of the GPUs with a row: they have an NVLink to another GPU.
  [[nodiscard]] std::vector<std::string> linked_gpus() const;
  [[nodiscard]] std::vector<std::string> unlinked_gpus() const;
  /// The most frequent cell between GPUs, and between a GPU and the NIC that is nearest to it.
  /// shape  None where there is no such pair
  [[nodiscard]] MatrixCell between_gpus() const;
  [[nodiscard]] MatrixCell to_nearest_nic() const;
};

/// Puts matrices together from the lines of a log: the heading, a row a device, the legend of NICs.
///
/// Bounded  kMostMatrices of kMostColumns; rows that are torn are left out, as are those behind the cut between two
///          shards
class LinkMatrixLines {
 public:
  static constexpr std::size_t kMostMatrices = 200;
  static constexpr std::size_t kMostColumns = 64;

  /// The line may be a heading, or belong to a matrix that has begun.
  [[nodiscard]] bool wants(std::string_view line) const {
    return !open_.empty() || contains(line, "GPU0");
  }
  void take(const logs::Record& record, std::string_view host, std::vector<LinkMatrix>& matrices);

 private:
  struct Open {
    std::size_t matrix = 0;
    int lines_left = 0;  ///< until the legend must have come
  };
  std::map<std::uint32_t, Open> open_ = {};  ///< by speaker
};

}  // namespace ringside::audit
