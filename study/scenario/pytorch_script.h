#pragma once

#include <string>
#include <string_view>

#include "study/scenario/reproduction.h"

namespace ringside::study {

/// Writes a script of PyTorch that makes the calls of a reproduction on its groups. It uses torch.distributed alone.
/// Ranks that stop do so in the script; a failed connection, which no script can bring in, is a fault of fault_options().
///
/// Untrusted names and texts are string literals. Counts above 2^20 elements are reduced so that different counts stay
/// different.
std::string pytorch_script(const Reproduction& made);

/// The note for scripts with reduced counts.
inline constexpr std::string_view kSmallerCounts =
    "the sizes of large calls: above 2^20 elements a script has other, smaller counts";

/// Returns whether pytorch_script() reduces a count.
bool has_smaller_counts(const Reproduction& made);

/// Returns the options of `ringside run` that bring in what the script cannot, such as `--fault stall_link:from=0,to=1`;
/// empty: none are needed.
std::string fault_options(const Reproduction& made);

/// Returns the command that runs the script: `ringside run FILE -n 2 --timeout 10`, with fault_options().
std::string script_command(const Reproduction& made, std::string_view file);

}  // namespace ringside::study
