#pragma once

#include <span>
#include <string_view>

#include "diag/audit/finding.h"

/// What is known of each kind of finding before any log is read: one row an id. docs/findings has a page for each.
namespace ringside::audit {

/// What a finding does to a job.
enum class Effect : std::uint8_t {
  Stops,  ///< the job does not start, ends or stands still
  Slows,  ///< it runs, and takes longer
  Notes,  ///< nothing: worth knowing
};

const char* to_string(Effect effect);  ///< "stops", "slows", "notes"

/// Which of the model's answers says what a finding costs (cost.h).
enum class CostModel : std::uint8_t { None, Tcp, NoGdr, SharedMemory, OneNic, FewChannels, Table };

struct FindingType {
  std::string_view id;
  Severity most = Severity::Error;  ///< the worst that it is reported as
  Effect effect = Effect::Stops;
  std::string_view summary;  ///< one line
  /// A coarser id that names the same trouble without its reason; empty: none. Who asks for `cuda_error` is answered
  /// by `gpu_out_of_memory` too.
  std::string_view family = {};
  CostModel cost = CostModel::None;
};

/// All of them, in the order of their ids.
std::span<const FindingType> finding_types();

/// returns  nullptr: there is no such id
const FindingType* finding_type(std::string_view id);

/// The id itself, or the coarser one that it belongs to.
bool is_a(std::string_view id, std::string_view wanted);

}  // namespace ringside::audit
