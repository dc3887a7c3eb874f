#include <nlohmann/json.hpp>

#include "cli/explain/explain_text.h"
#include "cli/topo/topo_json.h"

namespace ringside::cli {
namespace {

using study::Comparison;
using study::ExplainedSize;
using study::Explanation;

Json table_of(const Explanation& explanation) {
  Json table = Json::array();
  for (const ExplainedSize& size : explanation.sizes) {
    for (const Candidate& candidate : size.candidates) {
      const bool is_available = candidate.obstacle == Obstacle::None;
      table.push_back(
          {{"algorithm", to_string(candidate.algorithm)},
           {"protocol", to_string(candidate.protocol)},
           {"bytes", size.bytes.value},
           {"time_us", is_available ? Json(as_written(candidate.prediction.time_us)) : Json()},
           {"available", is_available},
           {"is_last_resort", is_available && candidate.is_last_resort},
           {"reason", is_available ? "" : to_string(candidate.obstacle)}});
    }
  }
  return table;
}

Json choice_json(const TunedChoice& choice) {
  return {{"algorithm", to_string(choice.algorithm)},
          {"protocol", to_string(choice.protocol)},
          {"nchannels", choice.max_channels},
          {"channels_used", choice.channels.nchannels()},
          {"nthreads", choice.nthreads},
          {"chunk_bytes", choice.chunk.value},
          {"time_us", as_written(choice.prediction.time_us)}};
}

Json choices_of(const Explanation& explanation) {
  Json choices = Json::array();
  for (const ExplainedSize& size : explanation.sizes) {
    Json row{{"bytes", size.bytes.value}};
    row.update(choice_json(size.choice));
    row["latency_us"] = as_written(size.choice.prediction.latency_us);
    row["bandwidth_gbs"] = as_written(size.choice.prediction.bandwidth_gbs);
    row["decided_by"] = size.verdict.term;
    choices.push_back(std::move(row));
  }
  return choices;
}

Json crossovers_of(const Explanation& explanation) {
  Json crossovers = Json::array();
  for (std::size_t i = 1; i < explanation.stretches.size(); ++i) {
    const Candidate& from = explanation.stretches[i - 1].stretch.fastest;
    const Candidate& to = explanation.stretches[i].stretch.fastest;
    crossovers.push_back(
        {{"bytes", explanation.stretches[i].stretch.from.value},
         {"from",
          {{"algorithm", to_string(from.algorithm)}, {"protocol", to_string(from.protocol)}}},
         {"to", {{"algorithm", to_string(to.algorithm)}, {"protocol", to_string(to.protocol)}}},
         {"time_us", as_written(to.prediction.time_us)}});
  }
  return crossovers;
}

}  // namespace

Json explanation_document(const study::Explained& explained) {
  const Explanation& after = explained.now;
  const CommShape& shape = after.shape;
  Json document{{"schema", "ringside.explain/1"},
                {"collective", to_string(after.calls.collective)},
                {"type", to_string(after.calls.type)},
                {"redop", to_string(after.calls.op)},
                {"nranks", shape.nranks},
                {"nnodes", shape.nnodes},
                {"nccl", after.nccl},
                {"table", table_of(after)},
                {"choices", choices_of(after)},
                {"crossovers", crossovers_of(after)}};
  if (const auto& before = explained.before) {
    document["before"] = before->label;
    document["after"] = after.label;
    Json compared = Json::array();
    for (const Comparison& row : compare(*before, after)) {
      compared.push_back({{"bytes", row.bytes.value},
                          {"before", choice_json(row.before)},
                          {"after", choice_json(row.after)},
                          {"changed", row.changed}});
    }
    document["compared"] = std::move(compared);
  }
  return document;
}

}  // namespace ringside::cli
