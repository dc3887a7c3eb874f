#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/verdict/verdict.h"
#include "diag/report/sentences/hang_sentences.h"

/// Helpers that build parts of the sentences in this folder.
namespace ringside::hang {

/// Returns the text with a capital first letter.
std::string capital(std::string text);

/// Returns ranks_that() with a capital first letter.
std::string capital_ranks(const std::vector<int>& ranks, std::string_view one,
                          std::string_view many);

/// Returns the hypothesis's call after `word`: ` in all_reduce 12 of default_pg`; empty if no call is known.
std::string in_call(const Explanation& one, std::string_view word = "in");

/// Returns the first 160 characters of a line.
std::string excerpt(std::string_view text);

/// Returns the reporter's name for a sentence: `monitored_barrier`.
std::string name_of(facts::Reporter reporter);

/// Returns the sentences for a verdict without a culprit: the job moves, ended well, or shows no cause.
/// Implemented in quiet_sentences.cpp.
std::string quiet_text(const Explanation& one);

}  // namespace ringside::hang
