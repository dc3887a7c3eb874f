#pragma once

#include <string>
#include <string_view>

#include "diag/facts/facts.h"
#include "diag/logparse/record.h"
#include "diag/logparse/speakers.h"

namespace ringside::facts {

/// Who wrote a line, as far as its prefixes say: the global rank of `[rank3]:`, of mpirun's and srun's tags and of
/// PyTorch's default group, else host and process, and the place in a group.
Subject owner_of(const logs::Record& record, const logs::Speaker& speaker);

/// The name of a PyTorch group in all facts: `11(tp)`; `(tp)` where only its description is known; `pg 4` where only a
/// number is, which counts in one process.
std::string torch_group_name(std::string_view guid, std::string_view description, int number);

}  // namespace ringside::facts
