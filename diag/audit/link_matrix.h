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

/// The words between blanks.
std::vector<std::string_view> cells_of(std::string_view line);

/// `NV18`, `PXB`
std::string to_string(MatrixCell cell);

/// The output of `nvidia-smi topo -m` for a host.
/// shape  each row has as many cells as there are columns
struct LinkMatrix {
  struct Row {
    std::size_t column = 0;  ///< the device
    std::vector<MatrixCell> cells = {};
  };
  std::string host = {};  ///< empty: unknown
  std::uint32_t process = 0;
  std::vector<std::string> columns =
      {};                      ///< `GPU0`, .., then NICs, by the legend's names where there is one
  std::size_t gpus = 0;        ///< the first columns
  std::vector<Row> rows = {};  ///< complete rows
  Evidence evidence = {};

  [[nodiscard]] std::size_t nics() const { return columns.size() - gpus; }
  /// The GPUs with a row that have an NVLink to another GPU.
  [[nodiscard]] std::vector<std::string> linked_gpus() const;
  [[nodiscard]] std::vector<std::string> unlinked_gpus() const;
  /// The most frequent cell between GPUs, and between a GPU and the NIC that is nearest to it.
  /// shape  None where there is no such pair
  [[nodiscard]] MatrixCell between_gpus() const;
  [[nodiscard]] MatrixCell to_nearest_nic() const;
};

/// Assembles matrices from the lines of a log: the heading, a row for each device, the legend of NICs.
///
/// Bounded  kMostMatrices of kMostColumns; torn rows are skipped, as are rows after the cut between two shards
class LinkMatrixLines {
 public:
  static constexpr std::size_t kMostMatrices = 200;
  static constexpr std::size_t kMostColumns = 64;

  /// Whether the line may be a heading, or belongs to a matrix that has begun.
  [[nodiscard]] bool wants(std::string_view line) const {
    return !open_.empty() || contains(line, "GPU0");
  }
  void take(const logs::Record& record, std::string_view host, std::vector<LinkMatrix>& matrices);

 private:
  struct Open {
    std::size_t matrix = 0;
    int lines_left = 0;  ///< until the legend must have begun
  };
  std::map<std::uint32_t, Open> open_ = {};  ///< by speaker
};

}  // namespace ringside::audit
