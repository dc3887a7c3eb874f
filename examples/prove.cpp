// The steps of rank 0 in a ring all-reduce of 4 ranks, and the proof that the steps of all ranks are right.
#include <ringside/collectives.h>
#include <ringside/vocabulary.h>

#include <cstdio>

int main() {
  const ringside::CollectiveRequest request{.algorithm = ringside::Algorithm::Ring, .ranks = 4};
  const auto steps = ringside::list_steps(request, 0);
  const auto proof = ringside::prove_collective(request);
  if (!steps || !proof)
    return std::puts((steps ? proof.error() : steps.error()).message.c_str()), 3;
  for (const ringside::CollectiveStep& step : *steps)
    std::printf("%s chunk %d\n", to_string(step.primitive), step.chunk);
  std::printf("proved: %lld rounds\n", static_cast<long long>(proof->rounds));
}
