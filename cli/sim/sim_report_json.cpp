#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/text.h"
#include "cli/sim/sim_report.h"
#include "engine/tuning/choice.h"
#include "study/validate/measured_reach.h"

namespace ringside::cli {
namespace {

using study::SimPlan;
using study::SimRow;

}  // namespace

Json result_document(const SimRow& row) {
  const SimTuned& tuned = row.call.tuned;
  const Choice& choice = tuned.choice;
  Json document{{"bytes", row.call.bytes.value},
                {"count", row.call.shape.count},
                {"type", to_string(row.call.shape.type)},
                {"algorithm", to_string(choice.algorithm)},
                {"protocol", to_string(choice.protocol)},
                {"nchannels", choice.nchannels},
                {"chunk_bytes", choice.chunk.value},
                {"time_us", in_us(row.result.time)},
                {"error_percent", row.is_alone ? Json() : Json(row.error_percent)},
                {"error_systems", row.is_alone ? Json() : Json(row.error_systems)},
                {"overlap_us", in_us(row.overlap)},
                {"nearer_nccl_error_percent",
                 row.nearer_nccl_error > 0 ? Json(row.nearer_nccl_error) : Json()},
                {"predicted_us", nullptr},
                {"algbw_gbs", in_gbs(row.algbw)},
                {"busbw_gbs", in_gbs(row.busbw)},
                {"busiest_link", nullptr},
                {"busiest_fabric_link", nullptr},
                {"transfers", row.result.transfers},
                {"fidelity", row.fidelity},
                {"wall_s", row.result.wall.count()}};
  if (row.is_alone) document["algbw_gbs"] = document["busbw_gbs"] = nullptr;
  if (tuned.prediction) document["predicted_us"] = tuned.prediction->time_us;
  if (row.busiest) {
    document["busiest_link"] = {{"name", row.busiest->name},
                                {"bandwidth_gbs", in_gbs(row.busiest->rate)},
                                {"busy_us", in_us(row.result.busiest)}};
  }
  if (row.busiest_fabric) {
    const study::BusyFabricLink& busy = *row.busiest_fabric;
    document["busiest_fabric_link"] = {{"name", busy.link.name},
                                       {"tier", busy.tier},
                                       {"bandwidth_gbs", in_gbs(busy.link.rate)},
                                       {"busy_us", in_us(busy.needs)}};
  }
  return document;
}

Json head_document(const SimPlan& plan) {
  return {{"schema", "ringside.sim/1"},
          {"collective", to_string(plan.calls.collective)},
          {"on", plan.question.job.on},
          {"nodes", plan.job.shape().nnodes},
          {"nranks", plan.job.shape().nranks}};
}

Json sim_document(const SimPlan& plan, const std::vector<SimRow>& rows) {
  Json results = Json::array();
  int nchannels = 0;
  for (const SimRow& row : rows) {
    nchannels = std::max(nchannels, row.call.tuned.choice.nchannels);
    results.push_back(result_document(row));
  }
  Json document = head_document(plan);
  document["nchannels"] = nchannels;
  document["fidelity"] = plan.question.fidelity;
  document["beyond_measured"] = nullptr;
  if (std::string beyond = study::beyond_measured(plan); !beyond.empty()) {
    document["beyond_measured"] = beyond;
  }
  document["fabric_note"] = nullptr;
  if (std::string note = fabric_note_of(plan); !note.empty()) document["fabric_note"] = note;
  document["results"] = std::move(results);
  return document;
}

}  // namespace ringside::cli
