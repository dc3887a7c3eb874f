#include "ringside/tuning.h"

#include "api/job.h"
#include "base/result.h"

namespace ringside {
namespace {

Seconds predicted_by(const Prediction& prediction) {
  return Seconds{static_cast<double>(prediction.time_us) / 1e6};
}

}  // namespace

Result<std::vector<TuningAnswer>> choose_algorithms(const TuningRequest& request) {
  RINGSIDE_TRY(const study::TunedJob job,
               study::load_tuned_job(options_of(request.job), release_of(request.job)));
  std::vector<TuningAnswer> answers;
  for (const Bytes size : request.sizes) {
    const TuningCall call{request.collective, size, request.type, request.op};
    RINGSIDE_TRY(const TunedChoice choice, job.tuner.choose(call));
    TuningAnswer& answer =
        answers.emplace_back(TuningAnswer{.bytes = size,
                                          .algorithm = choice.algorithm,
                                          .protocol = choice.protocol,
                                          .channels = choice.channels.nchannels(),
                                          .threads = choice.nthreads,
                                          .chunk = choice.chunk,
                                          .predicted = predicted_by(choice.prediction)});
    for (const Candidate& one : job.tuner.candidates(call)) {
      if (one.obstacle != Obstacle::None) continue;
      answer.candidates.push_back({one.algorithm, one.protocol, predicted_by(one.prediction)});
    }
  }
  return answers;
}

}  // namespace ringside
