#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_parts.h"
#include "diag/audit/evidence.h"

namespace ringside::audit {

/// The connection between two devices of a host, the nearest first.
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

/// A cell of the matrix.
struct MatrixCell {
  DeviceReach reach = DeviceReach::None;
  std::uint8_t nvlinks = 0;  ///< number of NVLinks: 18 for `NV18`
  friend bool operator==(const MatrixCell&, const MatrixCell&) = default;
};

/// Splits a line at blanks.
std::vector<std::string_view> cells_of(std::string_view line);

/// Returns the cell as nvidia-smi prints it: `NV18`, `PXB`.
std::string to_string(MatrixCell cell);

/// The output of `nvidia-smi topo -m` for a host.
/// shape  each row has as many cells as there are columns
struct LinkMatrix {
  struct Row {
    std::size_t column = 0;  ///< index in `columns` of the row's device
    std::vector<MatrixCell> cells = {};
  };
  std::string host = {};  ///< empty: unknown
  std::uint32_t process = 0;
  /// `GPU0`, .., then the NICs, with the legend's names if there is one
  std::vector<std::string> columns = {};
  std::size_t gpus = 0;        ///< number of GPUs: the first columns
  std::vector<Row> rows = {};  ///< complete rows
  Evidence evidence = {};

  [[nodiscard]] std::size_t nics() const { return columns.size() - gpus; }
  /// Returns the GPUs with a row that have (linked) or lack (unlinked) an NVLink to another GPU.
  [[nodiscard]] std::vector<std::string> linked_gpus() const;
  [[nodiscard]] std::vector<std::string> unlinked_gpus() const;
  /// Returns the most frequent cell between GPUs, and between a GPU and its nearest NIC; None without such a pair.
  [[nodiscard]] MatrixCell between_gpus() const;
  [[nodiscard]] MatrixCell to_nearest_nic() const;
};

/// Builds matrices from the lines of a log: the heading, a row for each device, the legend of NICs. Torn rows are
/// skipped, and rows in another shard than the heading.
///
/// Memory  at most kMostMatrices with kMostColumns each
class LinkMatrixLines {
 public:
  static constexpr std::size_t kMostMatrices = 200;
  static constexpr std::size_t kMostColumns = 64;

  /// Returns whether the line may be a heading or belong to a matrix that has begun.
  [[nodiscard]] bool wants(std::string_view line) const {
    return !open_.empty() || contains(line, "GPU0");
  }
  /// Takes a line.  host  host of the matrix; empty: unknown
  void take(const logs::Record& record, std::string_view host, std::vector<LinkMatrix>& matrices);

 private:
  struct Open {
    std::size_t matrix = 0;
    int lines_left = 0;  ///< lines in which the legend must begin
  };
  std::map<std::uint32_t, Open> open_ = {};  ///< by speaker
};

}  // namespace ringside::audit
