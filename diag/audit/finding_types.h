#pragma once

#include <span>
#include <string_view>

#include "diag/audit/finding.h"

/// The table of all types of findings, one row for each id. docs/findings has a page for each.
namespace ringside::audit {

/// The effect of a finding on a job.
enum class Effect : std::uint8_t {
  Stops,  ///< the job does not start, ends or hangs
  Slows,  ///< the job runs slower
  Notes,  ///< no effect: worth knowing
};

const char* to_string(Effect effect);  ///< "stops", "slows", "notes"

/// The prediction that gives the cost of a finding (cost.h).
enum class CostModel : std::uint8_t { None, Tcp, NoGdr, SharedMemory, OneNic, FewChannels, Table };

/// What is known of a finding before any log is read: a row for each id.
struct FindingType {
  std::string_view id;
  Severity most = Severity::Error;  ///< the highest severity with which it is reported
  Effect effect = Effect::Stops;
  std::string_view summary;  ///< one line
  /// A more general id that also matches this finding in queries, such as `cuda_error` for `gpu_out_of_memory`; empty:
  /// none.
  std::string_view family = {};
  CostModel cost = CostModel::None;
};

/// Returns all rows, sorted by id.
std::span<const FindingType> finding_types();

/// Returns the row with this id, or nullptr.
const FindingType* finding_type(std::string_view id);

/// Returns whether `wanted` is `id` itself or its family.
bool is_a(std::string_view id, std::string_view wanted);

}  // namespace ringside::audit
