#pragma once

#include <span>
#include <string_view>

#include "diag/audit/finding.h"

/// What is known of each kind of finding before any log is read: one row for each id. docs/findings has a page for
/// each.
namespace ringside::audit {

/// The effect of a finding on a job.
enum class Effect : std::uint8_t {
  Stops,  ///< the job does not start, ends or hangs
  Slows,  ///< it runs, and takes longer
  Notes,  ///< nothing: worth knowing
};

const char* to_string(Effect effect);  ///< "stops", "slows", "notes"

/// The prediction that gives the cost of a finding (cost.h).
enum class CostModel : std::uint8_t { None, Tcp, NoGdr, SharedMemory, OneNic, FewChannels, Table };

struct FindingType {
  std::string_view id;
  Severity most = Severity::Error;  ///< the worst that it is reported as
  Effect effect = Effect::Stops;
  std::string_view summary;  ///< one line
  /// A coarser id for the same trouble without its reason; empty: none. A query for `cuda_error` also matches
  /// `gpu_out_of_memory`.
  std::string_view family = {};
  CostModel cost = CostModel::None;
};

/// All of them, in the order of their ids.
std::span<const FindingType> finding_types();

/// returns  nullptr: there is no such id
const FindingType* finding_type(std::string_view id);

/// Whether `id` is `wanted` itself, or `wanted` is its coarser id.
bool is_a(std::string_view id, std::string_view wanted);

}  // namespace ringside::audit
