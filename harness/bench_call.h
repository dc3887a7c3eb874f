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

/// One collective at one size: how long its buffers are, and what each place of them has to hold after it.
///
/// all_to_all, gather, scatter  blocks of equal length; block r is what rank r gets or gives
/// all_gather_v                 blocks of which every second is three times as long as the one before
/// send_recv                    nccl-tests' pattern: all of it to the next rank
/// unit  elements
class BenchCall {
 public:
  BenchCall(Collective collective, std::int64_t elements, int rank, int nranks, Rank root);

  [[nodiscard]] std::int64_t count() const { return count_; }      ///< as CollectiveCall::count
  [[nodiscard]] std::int64_t inputs() const { return inputs_; }    ///< in this rank's input
  [[nodiscard]] std::int64_t outputs() const { return outputs_; }  ///< in this rank's output
  /// Of the larger buffer of all ranks: what the size is given in.
  [[nodiscard]] std::int64_t largest() const { return largest_; }

  /// Whether one memory may be input and output.
  [[nodiscard]] bool has_in_place() const;
  /// In place: where the input lies in the output (all_gather), and the output in the input
  /// (reduce_scatter).
  [[nodiscard]] std::int64_t input_at() const;
  [[nodiscard]] std::int64_t output_at() const;

  /// What the call needs in addition to buffers, type and operation.
  [[nodiscard]] CollectiveCall call() const;

  void fill(const CheckData& data, std::byte* input) const;
  /// returns  wrong elements of this rank's output
  [[nodiscard]] std::int64_t count_wrong(const CheckData& data, const std::byte* output,
                                         Bytes element) const;

  /// The same of an output in a device's memory, counted there.
  /// errors  System
  [[nodiscard]] Result<std::int64_t> count_wrong_on(DeviceMemory& device, const CheckData& data,
                                                    const std::byte* output, Bytes element) const;

 private:
  /// Elements of the output that come from one place.
  struct Part {
    std::int64_t at = 0;  ///< in the output
    std::int64_t count = 0;
    std::optional<int> of;   ///< the rank whose they are; none: all ranks', reduced
    std::int64_t first = 0;  ///< its place in that rank's buffer, or in all
  };
  [[nodiscard]] std::vector<Part> parts() const;
  [[nodiscard]] std::int64_t begin_of(int rank) const;  ///< of its block

  Collective collective_;
  int me_;
  int n_;
  Rank root_;
  std::vector<std::int64_t> counts_;  ///< [rank]: of its block
  std::int64_t count_ = 0;
  std::int64_t inputs_ = 0;
  std::int64_t outputs_ = 0;
  std::int64_t largest_ = 0;
};

}  // namespace ringside
