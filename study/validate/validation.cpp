#include "study/validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "base/assert.h"
#include "base/suggest.h"
#include "base/text_parts.h"
#include "study/simulation.h"
#include "study/validate/published_question.h"

namespace ringside::study {
namespace {

/// Returns the fields that rows of one table have in common.
auto call_of(const PublishedRow& row) {
  return std::tie(row.system, row.collective, row.ranks, row.nodes, row.algorithm, row.protocol,
                  row.channels, row.type, row.nccl, row.note);
}

/// Simulates the sizes of one call. A row that cannot be simulated gets the error.
void simulate_rows(const ValidationQuestion& asked, const PublishedSystem& system,
                   const MeasuredHosts& machine, std::span<ScoredRow*> rows) {
  const auto fail_all = [&](const Error& error) {
    for (ScoredRow* row : rows) row->error = error.message;
  };
  SimQuestion question = question_of(*rows.front()->measured, system, machine);
  question.fidelity = asked.fidelity;
  question.model = asked.model;
  const auto plan = plan_simulation(question);
  if (!plan) return fail_all(plan.error());
  const int nranks = plan->job.shape().nranks;
  if (const int ranks = rows.front()->measured->ranks; nranks != ranks) {
    return fail_all({ErrorCode::InvalidArgument, fmt::format("{} has {} ranks here, the row has {}",
                                                             machine.path, nranks, ranks)});
  }
  for (ScoredRow* row : rows) {
    auto call = tune_call(*plan, row->measured->bytes);
    if (!call) {
      row->error = call.error().message;
      continue;
    }
    if (const auto& prediction = call->tuned.prediction) {
      row->nccl = Seconds{static_cast<double>(prediction->time_us) * 1e-6};
    }
    const auto result = simulate_call(*plan, *std::move(call));
    row->group = plan->group;
    row->surroundings = plan->surroundings;
    if (result) {
      row->simulated = result->result.time;
      row->choice = result->call.tuned.choice;
      row->busiest = result->result.busiest;
      row->error_percent = result->error_percent;
    } else {
      row->error = result.error().message;
    }
  }
}

/// shape  values are not empty
double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// ratios  predicted / measured
ErrorSummary summary_of(const std::vector<double>& ratios, int failed) {
  ErrorSummary summary{.rows = static_cast<int>(ratios.size()), .failed = failed};
  if (ratios.empty()) return summary;
  std::vector<double> errors;
  for (const double ratio : ratios) errors.push_back(std::abs(ratio - 1));
  std::ranges::sort(errors);
  summary.median = median_of(errors);
  const auto place = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(errors.size())));
  summary.p90 = errors[place - 1];
  summary.bias = median_of(ratios) - 1;
  return summary;
}

using Predicted = std::optional<Seconds> ScoredRow::*;

std::array<ErrorSummary, kSizeClasses> summaries_of(const std::vector<const ScoredRow*>& rows,
                                                    Predicted predicted) {
  std::array<std::vector<double>, kSizeClasses> ratios;
  std::array<int, kSizeClasses> failed{};
  for (const ScoredRow* row : rows) {
    const std::size_t of = size_class_of(row->measured->bytes);
    if (row->*predicted) {
      ratios[of].push_back(*(row->*predicted) / row->measured->time);
    } else {
      ++failed[of];
    }
  }
  std::array<ErrorSummary, kSizeClasses> all;
  for (std::size_t i = 0; i < kSizeClasses; ++i) all[i] = summary_of(ratios[i], failed[i]);
  return all;
}

/// Returns the medians over the systems of NCCL.
/// of  the simulator's errors, or those of NCCL's own model
std::array<ErrorSummary, kSizeClasses> medians_of(
    const std::vector<SystemScore>& systems,
    std::array<ErrorSummary, kSizeClasses> SystemScore::*of) {
  std::array<ErrorSummary, kSizeClasses> all;
  for (std::size_t i = 0; i < kSizeClasses; ++i) {
    std::vector<double> medians, p90s, biases;
    for (const SystemScore& system : systems) {
      if (system.is_apart) continue;
      const ErrorSummary& one = (system.*of)[i];
      all[i].failed += one.failed;
      if (one.rows == 0) continue;
      all[i].rows += one.rows;
      medians.push_back(one.median);
      p90s.push_back(one.p90);
      biases.push_back(one.bias);
    }
    if (medians.empty()) continue;
    all[i].median = median_of(medians);
    all[i].p90 = median_of(p90s);
    all[i].bias = median_of(biases);
  }
  return all;
}

/// Chooses the rows to be scored; records why the others are skipped.
void choose_rows(const ValidationQuestion& question, Validation& out) {
  std::map<std::string, std::string> skipped;
  for (const PublishedRow& row : out.published.rows) {
    if (!question.only.empty() && !contains(row.system, question.only)) continue;
    const PublishedSystem& system = *out.published.system(row.system);
    if (system.quality == "C") {
      skipped[row.system] = "quality C";
    } else if (path_of_machine(row, question.machines).empty()) {
      skipped[row.system] = "no machine file";
    } else {
      out.rows.push_back({.measured = &row, .simulated = {}, .nccl = {}, .error = {}});
    }
  }
  out.skipped.assign(skipped.begin(), skipped.end());
}

/// errors  InvalidArgument: no system has the word in its name; the nearest is named
Status check_only(const ValidationQuestion& question, const Published& published) {
  if (question.only.empty()) return {};
  std::vector<std::string_view> names;
  for (const PublishedRow& row : published.rows) {
    if (contains(row.system, question.only)) return {};
    if (names.empty() || names.back() != row.system) names.emplace_back(row.system);
  }
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("--only {}: no system of {} is called so", question.only, question.published),
      suggestion(question.only, names)};
}

/// Computes the errors of each system, the share of rows within their error bars, and the medians over systems.
void score(Validation& out) {
  std::vector<std::pair<std::string, bool>> order;
  std::map<std::pair<std::string, bool>, std::vector<const ScoredRow*>> by_system;
  for (const ScoredRow& row : out.rows) {
    const std::pair key{row.measured->system, is_apart(row)};
    if (by_system[key].empty()) order.push_back(key);
    by_system[key].push_back(&row);
  }
  for (const auto& key : order) {
    out.systems.push_back({.name = key.first,
                           .is_apart = key.second,
                           .simulated = summaries_of(by_system[key], &ScoredRow::simulated),
                           .nccl = summaries_of(by_system[key], &ScoredRow::nccl)});
  }
  std::array<int, kSizeClasses> all{}, within{};
  for (const ScoredRow& row : out.rows) {
    if (!row.simulated || is_apart(row)) continue;
    const std::size_t size = size_class_of(row.measured->bytes);
    ++all[size];
    within[size] += row.is_within_bar() ? 1 : 0;
  }
  const auto share = [](int part, int whole) { return whole > 0 ? 1.0 * part / whole : 0; };
  for (std::size_t i = 0; i < kSizeClasses; ++i) out.covered[i] = share(within[i], all[i]);
  out.covered_all = share(std::accumulate(within.begin(), within.end(), 0),
                          std::accumulate(all.begin(), all.end(), 0));
  out.simulated = medians_of(out.systems, &SystemScore::simulated);
  out.nccl = medians_of(out.systems, &SystemScore::nccl);
}

}  // namespace

const char* name_of_size_class(std::size_t size_class) {
  constexpr std::array kNames{"<= 64 KiB", "64 KiB .. 16 MiB", ">= 16 MiB"};
  return kNames.at(size_class);
}

bool is_apart(const ScoredRow& row) {
  return std::ranges::any_of(std::array{"RCCL", "libsircl", "MSCCL", "Optcast"},
                             [&](const char* name) { return contains(row.measured->nccl, name); });
}

Result<Validation> validate(const ValidationQuestion& question,
                            const std::function<void(double, const std::string&)>& progress) {
  RINGSIDE_TRY(parse_fidelity(question.fidelity));
  RINGSIDE_TRY(question.model.empty() ? load_sim_model() : load_sim_model(question.model));
  Validation out;
  RINGSIDE_TRY(out.published, read_published(question.published));
  RINGSIDE_TRY(check_only(question, out.published));
  choose_rows(question, out);
  if (out.rows.empty()) {
    return Error{ErrorCode::InvalidArgument, "no row to score",
                 fmt::format("machines are described in {}/SYSTEM.yaml", question.machines)};
  }
  std::vector<std::vector<ScoredRow*>> calls;
  for (ScoredRow& row : out.rows) {
    const auto is_same = [&](const std::vector<ScoredRow*>& one) {
      return call_of(*one.front()->measured) == call_of(*row.measured);
    };
    const auto found = std::ranges::find_if(calls, is_same);
    (found == calls.end() ? calls.emplace_back() : *found).push_back(&row);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const PublishedRow& first = *calls[i].front()->measured;
    if (progress)
      progress(static_cast<double>(i) / static_cast<double>(calls.size()), first.system);
    simulate_rows(question, *out.published.system(first.system),
                  read_machine(first, path_of_machine(first, question.machines)), calls[i]);
  }
  score(out);
  return out;
}

}  // namespace ringside::study
