#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/paste_text.h"

namespace ringside::hang {

/// What somebody who watched a job says of its ranks in a sentence:
///   `ranks 0-6 are in allreduce, rank 7 is in save_checkpoint`
///   `only rank 3 never prints it`
///   `all but one are at SeqNum=812, rank 5 is at 811`
/// or in a list with a line for each: `- ranks 0-6: all_reduce`, `- rank 7: dataloader`.
///
/// Of ranks a sentence must say two things that differ, or that some alone do, or fail to do, something. Questions,
/// suppositions and what a program logs of one rank after another say nothing.
///
/// lines    of a paste; `used` are those that something else has read
/// returns  statements Person: their ranks, `code` a HangClass, `text` the sentence
std::vector<LogStatement> read_prose(const std::vector<PasteLine>& lines,
                                     const std::vector<bool>& used, const std::string& file);

/// The same of one sentence, without its place.
std::vector<LogStatement> read_sentence(std::string_view sentence);

}  // namespace ringside::hang
