#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/verdict/verdict.h"
#include "diag/report/sentences/hang_sentences.h"

/// The parts of the sentences in this folder.
namespace ringside::hang {

/// `Rank 3` at the beginning of a sentence.
std::string capital(std::string text);

/// ranks_that() at the beginning of a sentence.
std::string capital_ranks(const std::vector<int>& ranks, std::string_view one,
                          std::string_view many);

/// ` in all_reduce 12 of default_pg`; empty where no call is known.
std::string in_call(const Explanation& one, std::string_view word = "in");

/// At most 160 characters of a line.
std::string excerpt(std::string_view text);

/// The reporter's name in a sentence: `monitored_barrier`.
std::string name_of(facts::Reporter reporter);

/// The sentence for a job that moves, ended well, or shows no cause.
std::string quiet_text(const Explanation& one);

}  // namespace ringside::hang
