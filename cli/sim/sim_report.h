#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "study/simulation.h"

/// Formats the results of `ringside sim`.
namespace ringside::cli {

/// Prints the title and the columns of the table.
void print_head(const study::SimPlan& plan);
/// Prints the table's line for one size, at once.
void print_row(const study::SimPlan& plan, const study::SimRow& row);

/// Returns the lines below the table: the best size and its limit, the fabric, chosen fidelities, notes, typical errors.
/// shape  rows are not empty
std::string closing_lines(const study::SimPlan& plan, const std::vector<study::SimRow>& rows);

/// Returns a bandwidth in GB/s; `-` for one rank, which moves nothing.
std::string bandwidth_text(const study::SimRow& row, BytesPerSecond bandwidth);

/// Returns how the job's fabric differs from what its file requests, which part of it the job does not use, and how many
/// hosts a leaf takes where that depends on their NICs; empty: neither.
std::string fabric_note_of(const study::SimPlan& plan);

/// schema  ringside.sim/1
Json sim_document(const study::SimPlan& plan, const std::vector<study::SimRow>& rows);
/// Returns the keys of the document about the job.
Json head_document(const study::SimPlan& plan);
/// Returns an element of the document's `results`.
Json result_document(const study::SimRow& row);

}  // namespace ringside::cli
