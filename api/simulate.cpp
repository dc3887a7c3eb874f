#include "ringside/simulate.h"

#include <string>

#include "api/job.h"
#include "base/result.h"
#include "ringside/vocabulary.h"
#include "study/simulation.h"

namespace ringside {
namespace {

study::SimQuestion question_of(const SimulationRequest& request) {
  study::SimQuestion question;
  question.job = options_of(request.job);
  question.calls = {.collective = to_string(request.collective),
                    .sizes = std::to_string(request.sizes.front().value),
                    .type = to_string(request.type),
                    .op = to_string(request.op)};
  if (request.algorithm) question.algorithm = to_string(*request.algorithm);
  if (request.protocol) question.protocol = to_string(*request.protocol);
  question.channels = request.channels;
  question.fidelity = request.fidelity;
  question.nccl = release_of(request.job);
  question.trace = request.trace;
  return question;
}

SimulatedCall call_of(const study::SimRow& row) {
  const Choice& choice = row.call.tuned.choice;
  return {.bytes = row.call.bytes,
          .algorithm = choice.algorithm,
          .protocol = choice.protocol,
          .channels = choice.nchannels,
          .time = row.result.time,
          .error_percent = row.error_percent,
          .algbw = row.algbw,
          .busbw = row.busbw,
          .fidelity = row.fidelity,
          .limit = study::limit_of(row),
          .busiest_link = row.busiest ? row.busiest->name : std::string(),
          .busiest_share = row.busy_share(),
          .transfers = row.result.transfers};
}

}  // namespace

Result<std::vector<SimulatedCall>> simulate(const SimulationRequest& request) {
  if (request.sizes.empty()) {
    return Error{ErrorCode::InvalidArgument, "no size to simulate",
                 "give SimulationRequest::sizes at least one"};
  }
  if (request.sizes.size() > 1 && !request.trace.empty()) {
    return Error{ErrorCode::InvalidArgument, "a trace of several sizes",
                 "simulate each size with a trace of its own"};
  }
  RINGSIDE_TRY(const study::SimPlan plan, study::plan_simulation(question_of(request)));
  RINGSIDE_TRY(study::check_sizes(request.sizes, request.type));
  std::vector<SimulatedCall> calls;
  for (const Bytes size : request.sizes) {
    RINGSIDE_TRY(study::SimCall call, study::tune_call(plan, size));
    RINGSIDE_TRY(const study::SimRow row, study::simulate_call(plan, std::move(call)));
    calls.push_back(call_of(row));
  }
  return calls;
}

}  // namespace ringside
