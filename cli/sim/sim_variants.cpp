#include "cli/sim/sim_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "base/wording.h"
#include "cli/progress.h"
#include "cli/release_note.h"
#include "cli/sim/sim_notes.h"
#include "cli/sim/sim_report.h"
#include "engine/tuning/choice.h"
#include "study/validate/measured_reach.h"

namespace ringside::cli {
namespace {

using study::SimRow;

void print_variants_head(const study::PlannedVariant& base, std::size_t width) {
  const CommShape& shape = base.plan->job.shape();
  fmt::print("# {} simulated on {}: {}, {}; each compared with the base\n",
             to_string(base.plan->calls.collective), base.plan->question.job.on,
             plural(static_cast<std::size_t>(shape.nranks), "rank", "ranks"),
             plural(static_cast<std::size_t>(shape.nnodes), "node", "nodes"));
  constexpr std::string_view kHead =
      "{:<{}} {:>12} {:>6} {:>14} {:>8} {:>12} {:>5} {:>9} {:>8}  {}\n";
  fmt::print(kHead, "# variant", width + 1, "size", "ranks", "algorithm", "protocol", "time", "+-%",
             "busbw", "busbw", "limited by");
  fmt::print(kHead, "#", width + 1, "(B)", "", "", "", "(us)", "", "(GB/s)", "(x base)", "");
}

void print_variant(const study::PlannedVariant& planned, const study::VariantCall& call,
                   const SimRow& base, std::size_t width) {
  const std::string label = planned.variant.label();
  const std::string nranks =
      planned.plan ? std::to_string(planned.plan->job.shape().nranks) : std::string("-");
  if (!call.row) {
    fmt::print(" {:<{}} {:>12} {:>6}  not done: {}\n", label, width, base.call.bytes.value, nranks,
               call.refusal);
    return;
  }
  const SimRow& row = *call.row;
  const Choice& choice = row.call.tuned.choice;
  const std::string fabric_note = fabric_note_of(*planned.plan);
  const bool has_ratio = !row.is_alone && !base.is_alone;
  const std::string ratio =
      has_ratio ? fmt::format("{:.2f}", row.busbw.value / base.busbw.value) : "-";
  fmt::print(" {:<{}} {:>12} {:>6} {:>14} {:>8} {:>12.2f} {:>5} {:>9} {:>8}  {}{}\n", label, width,
             row.call.bytes.value, nranks, to_string(choice.algorithm), to_string(choice.protocol),
             in_us(row.result.time), error_text(row, *planned.plan), bandwidth_text(row, row.busbw),
             ratio, study::limit_text(row),
             fabric_note.empty() ? "" : fmt::format("; {}", fabric_note));
}

Json variant_document(const study::PlannedVariant& planned,
                      const std::vector<study::VariantCall>& calls,
                      const std::vector<SimRow>& base) {
  Json settings = Json::object();
  for (const auto& [key, value] : planned.variant.settings) settings[key] = value;
  Json results = Json::array();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].row) {
      results.push_back({{"bytes", base[i].call.bytes.value}, {"refusal", calls[i].refusal}});
      continue;
    }
    const SimRow& row = *calls[i].row;
    Json result = result_document(row);
    result["time_ratio"] = row.result.time / base[i].result.time;
    result["busbw_ratio"] = nullptr;
    if (!row.is_alone && !base[i].is_alone) {
      result["busbw_ratio"] = row.busbw.value / base[i].busbw.value;
    }
    result["limit"] = study::limit_text(row);
    results.push_back(std::move(result));
  }
  Json document{{"settings", std::move(settings)},
                {"nodes", nullptr},
                {"nranks", nullptr},
                {"fabric_note", nullptr},
                {"beyond_measured", nullptr},
                {"results", std::move(results)}};
  if (planned.plan) {
    if (std::string beyond = study::beyond_measured(*planned.plan); !beyond.empty()) {
      document["beyond_measured"] = beyond;
    }
    if (std::string note = fabric_note_of(*planned.plan); !note.empty())
      document["fabric_note"] = note;
    document["nodes"] = planned.plan->job.shape().nnodes;
    document["nranks"] = planned.plan->job.shape().nranks;
  }
  return document;
}

/// Returns kFinding if a variant could not be simulated.
int status_of(const std::vector<std::vector<study::VariantCall>>& calls) {
  const auto is_refused = [](const study::VariantCall& call) { return !call.row; };
  const auto has_refusal = [&](const auto& of_one) {
    return std::ranges::any_of(of_one, is_refused);
  };
  return std::ranges::any_of(calls, has_refusal) ? kFinding : kFine;
}

}  // namespace

VerbResult run_variants(const study::SimQuestion& base, std::vector<study::Variant> variants,
                        bool is_json) {
  RINGSIDE_TRY(const std::vector<study::PlannedVariant> planned,
               study::plan_variants(std::move(variants)));
  std::set<std::string> noted{base.nccl};
  for (const study::PlannedVariant& one : planned) {
    if (noted.insert(one.variant.question.nccl).second) note_unverified(one.variant.question.nccl);
  }
  std::size_t width = std::string_view("variant").size();
  for (const study::PlannedVariant& one : planned)
    width = std::max(width, one.variant.label().size());
  const std::vector<Bytes>& sizes = planned.front().plan->calls.sizes;
  std::vector<std::vector<study::VariantCall>> calls(planned.size());
  std::vector<SimRow> base_rows;
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    for (std::size_t i = 0; i < planned.size(); ++i) {
      Progress progress(
          fmt::format("simulating {}, {}", planned[i].variant.label(), format_bytes(sizes[size])));
      RINGSIDE_TRY(study::VariantCall call,
                   study::simulate_variant(planned[i], sizes[size],
                                           [&](double share) { progress.show(share); }));
      if (i == 0) base_rows.push_back(*call.row);
      calls[i].push_back(std::move(call));
      if (is_json) continue;
      if (size == 0 && i == 0) print_variants_head(planned.front(), width);
      print_variant(planned[i], calls[i].back(), base_rows.back(), width);
      std::fflush(stdout);
    }
  }
  if (!is_json) {
    fmt::print("{}\n", kErrorsOfVariants);
    return status_of(calls);
  }
  Json document = head_document(*planned.front().plan);
  document["fidelity"] = base.fidelity;
  document["base"] = variant_document(planned.front(), calls.front(), base_rows);
  document["variants"] = Json::array();
  for (std::size_t i = 1; i < planned.size(); ++i) {
    document["variants"].push_back(variant_document(planned[i], calls[i], base_rows));
  }
  fmt::print("{}", to_text(document));
  return status_of(calls);
}

}  // namespace ringside::cli
