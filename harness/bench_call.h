#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/vocabulary.h"
#include "engine/runtime/calls/call.h"
#include "harness/check_data.h"
#include "ringside/units.h"

namespace ringside {

class DeviceMemory;

/// One collective at one size: the lengths of its buffers, and the expected content after the call.
///
/// all_to_all, gather, scatter  blocks of equal length; block r is received or sent by rank r
/// all_gather_v                 block lengths alternate between 1 and 3 units
/// send_recv                    each rank sends its whole buffer to the next rank, as in nccl-tests
/// unit  elements
class BenchCall {
 public:
  BenchCall(Collective collective, std::int64_t elements, int rank, int nranks, Rank root);

  [[nodiscard]] std::int64_t count() const { return count_; }  ///< as CollectiveCall::count
  /// Elements of this rank's input.
  [[nodiscard]] std::int64_t inputs() const { return inputs_; }
  /// Elements of this rank's output.
  [[nodiscard]] std::int64_t outputs() const { return outputs_; }
  /// Returns the elements of the largest buffer of any rank, which defines the size.
  [[nodiscard]] std::int64_t largest() const { return largest_; }

  /// Returns true if input and output may overlap.
  [[nodiscard]] bool has_in_place() const;
  /// In place: offset of the input within the output (all_gather), and of the output within the
  /// input (reduce_scatter).
  [[nodiscard]] std::int64_t input_at() const;
  [[nodiscard]] std::int64_t output_at() const;

  /// Returns the call's parameters other than buffers, type and operation.
  [[nodiscard]] CollectiveCall call() const;

  void fill(const CheckData& data, std::byte* input) const;
  /// Returns the number of wrong elements in this rank's output.
  [[nodiscard]] std::int64_t count_wrong(const CheckData& data, const std::byte* output,
                                         Bytes element) const;

  /// Counts the wrong elements of an output in device memory, on the device.
  /// errors  System
  [[nodiscard]] Result<std::int64_t> count_wrong_on(DeviceMemory& device, const CheckData& data,
                                                    const std::byte* output, Bytes element) const;

 private:
  /// A range of the output with one source.
  struct Part {
    std::int64_t at = 0;  ///< offset in the output
    std::int64_t count = 0;
    std::optional<int> of;   ///< rank that contributed it; none: reduced over all ranks
    std::int64_t first = 0;  ///< offset in that rank's buffer, or in the reduced buffer
  };
  [[nodiscard]] std::vector<Part> parts() const;
  [[nodiscard]] std::int64_t begin_of(int rank) const;  ///< offset of the rank's block

  Collective collective_;
  int me_;
  int n_;
  Rank root_;
  std::vector<std::int64_t> counts_;  ///< by rank: length of its block
  std::int64_t count_ = 0;
  std::int64_t inputs_ = 0;
  std::int64_t outputs_ = 0;
  std::int64_t largest_ = 0;
};

}  // namespace ringside
