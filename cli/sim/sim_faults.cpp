#include "cli/sim/sim_faults.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/wording.h"
#include "diag/report/sentences/hang_sentences.h"
#include "engine/faults/fault_text.h"

namespace ringside::cli {
namespace {

constexpr std::string_view kFaultyRow =
    "{:>13} {:>14} {:>8} {:>12} {:>9} {:>12} {:>12} {:>8} {:>8}\n";

std::string dash_unless(bool is_there, const std::string& text) { return is_there ? text : "-"; }

std::string us_text(Seconds time) { return fmt::format("{:.2f}", in_us(time)); }

/// Bus bandwidth of a call that takes `time`.
double busbw_gbs(const study::SimRow& row, Seconds time) {
  return in_gbs(row.busbw) * (row.result.time / time);
}

std::string culprits_text(const hang::Explanation& verdict) {
  return verdict.culprits.empty() ? "none" : fmt::format("{}", fmt::join(verdict.culprits, ", "));
}

}  // namespace

std::string faulty_text(const study::SimPlan& plan, const std::vector<study::SimRow>& rows,
                        const study::FaultyJob& job, const study::FaultQuestion& question) {
  const CommShape& shape = plan.job.shape();
  std::string text = fmt::format(
      "# {} simulated on {}: {}, {}; {} of each size, with\n", to_string(plan.calls.collective),
      plan.question.job.on, plural(static_cast<std::size_t>(shape.nranks), "rank", "ranks"),
      plural(static_cast<std::size_t>(shape.nnodes), "node", "nodes"),
      plural(static_cast<std::size_t>(question.iterations), "call", "calls"));
  for (const Fault& fault : job.drawn.faults) text += fmt::format("#   {}\n", to_string(fault));
  text += fmt::format(kFaultyRow, "#        size", "algorithm", "protocol", "undisturbed",
                      "completed", "median", "slowest", "of call", "busbw");
  text +=
      fmt::format(kFaultyRow, "#         (B)", "", "", "(us)", "", "(us)", "(us)", "", "(GB/s)");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const study::SimRow& row = rows[i];
    const study::FaultyCalls& calls = job.sizes[i];
    const bool is_any = calls.completed > 0;
    text += fmt::format(
        kFaultyRow, row.call.bytes.value, to_string(row.call.tuned.choice.algorithm),
        to_string(row.call.tuned.choice.protocol), us_text(row.result.time),
        fmt::format("{}/{}", calls.completed, question.iterations),
        dash_unless(is_any, us_text(calls.median)), dash_unless(is_any, us_text(calls.slowest)),
        dash_unless(is_any, std::to_string(calls.slowest_call)),
        dash_unless(is_any && !row.is_alone,
                    is_any ? fmt::format("{:.2f}", busbw_gbs(row, calls.median)) : ""));
  }
  if (job.verdict) {
    text += fmt::format(
        "# hang: {}, culprits: {} (confidence {:.2f}){}\n# why: {}\n",
        hang::to_string(job.verdict->kind), culprits_text(*job.verdict), job.verdict->confidence,
        job.verdict->call.empty() ? "" : ", in " + job.verdict->call, hang::why_of(*job.verdict));
    if (!question.folder.empty()) text += fmt::format("# dumps: {}\n", question.folder);
  } else {
    text += "# finished\n";
  }
  for (const std::string& note : job.notes) text += fmt::format("# note: {}\n", note);
  return text;
}

void add_faults(Json& document, const study::FaultyJob& job, const study::FaultQuestion& question) {
  document["faults"] = Json::array();
  for (const Fault& fault : job.drawn.faults) document["faults"].push_back(to_string(fault));
  document["fault_seed"] = job.drawn.seed;
  document["outcome"] = job.verdict ? "hang" : "finished";
  document["verdict"] = nullptr;
  if (job.verdict) {
    document["verdict"] = {{"kind", hang::to_string(job.verdict->kind)},
                           {"culprits", job.verdict->culprits},
                           {"confidence", job.verdict->confidence},
                           {"call", job.verdict->call},
                           {"why", hang::why_of(*job.verdict)}};
  }
  document["notes"] = job.notes;
  document["dumps"] = nullptr;
  if (job.verdict && !question.folder.empty()) document["dumps"] = question.folder;
  for (std::size_t i = 0; i < job.sizes.size(); ++i) {
    const study::FaultyCalls& calls = job.sizes[i];
    Json under_faults{{"calls", question.iterations},
                      {"completed", calls.completed},
                      {"median_us", nullptr},
                      {"slowest_us", nullptr},
                      {"slowest_call", nullptr}};
    if (calls.completed > 0) {
      under_faults["median_us"] = in_us(calls.median);
      under_faults["slowest_us"] = in_us(calls.slowest);
      under_faults["slowest_call"] = calls.slowest_call;
    }
    document["results"][i]["under_faults"] = std::move(under_faults);
  }
}

}  // namespace ringside::cli
