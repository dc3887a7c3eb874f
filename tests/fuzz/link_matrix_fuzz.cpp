#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "diag/audit/link_matrix.h"
#include "diag/audit/shard.h"

/// Feeds arbitrary lines: each row of a matrix has a cell for each column.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::audit;
  constexpr std::size_t kMost = 16 << 10;
  if (size > kMost) return 0;
  Shard shard;
  parse_text({reinterpret_cast<const char*>(data), size}, shard);
  for (const LinkMatrix& matrix : shard.matrices) {
    RINGSIDE_ASSERT(matrix.gpus <= matrix.columns.size(), "{} GPUs", matrix.gpus);
    for (const LinkMatrix::Row& row : matrix.rows) {
      RINGSIDE_ASSERT(row.cells.size() == matrix.columns.size() && row.column < row.cells.size(),
                      "{} cells", row.cells.size());
    }
    to_string(matrix.between_gpus());
    to_string(matrix.to_nearest_nic());
  }
  return 0;
}
