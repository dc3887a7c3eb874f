#include "tests/cuda/host_answer.h"

#include <cstring>

#include "engine/runtime/communicator.h"
#include "tests/runtime/ranks.h"

namespace ringside {
namespace {

/// Makes one rank's call. In place, buffers overlap as in DeviceJob::run().
std::vector<std::byte> answer(runtime::Communicator& communicator, const DeviceCase& test,
                              int rank) {
  const DeviceSizes sizes = sizes_of(test);
  const std::size_t element = size_of(test.call.type).value;
  const auto bytes = [&](std::int64_t count) { return static_cast<std::size_t>(count) * element; };
  std::vector<std::byte> input = input_of(test, rank);
  std::vector<std::byte> output(bytes(sizes.output), kPoison);
  CollectiveCall call = test.call;
  std::byte* in = input.data();
  std::byte* out = output.data();
  const std::size_t block = bytes(rank * test.call.count);
  if (test.in_place && test.call.collective == Collective::ReduceScatter) {
    out = in + block;
  } else if (test.in_place) {
    in = out + (test.call.collective == Collective::AllGather ? block : 0);
    std::memcpy(in, input.data(), input.size());
  }
  call.input = in;
  call.output = out;
  call.scalar = scalar_of(test, rank);
  communicator.set_settings({.algorithm = test.choice.algorithm,
                             .protocol = test.choice.protocol,
                             .nchannels = test.choice.nchannels,
                             .slot = test.choice.slot});
  const Status done = communicator.run(call);
  EXPECT_TRUE(done) << to_string(test) << ": " << done.error().message;
  if (out != output.data()) std::memcpy(output.data(), out, output.size());
  return output;
}

}  // namespace

std::vector<std::vector<std::vector<std::byte>>> host_answers(std::vector<DeviceCase>& cases) {
  const int n = cases.front().nranks;
  std::vector<std::vector<std::vector<std::byte>>> answers(
      cases.size(), std::vector<std::vector<std::byte>>(static_cast<std::size_t>(n)));
  const auto root = make_root(n);
  run_ranks(first_ranks(n), [&](int rank) {
    CommunicatorOptions options;
    options.check_calls = false;
    auto made = runtime::Communicator::make(must_join(rank, n, root->id()), options);
    ASSERT_TRUE(made) << made.error().message;
    runtime::Communicator& communicator = **made;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      answers[i][static_cast<std::size_t>(rank)] = answer(communicator, cases[i], rank);
    }
    EXPECT_TRUE(communicator.barrier());  // no rank reads a case after this
    for (DeviceCase& test : cases) {
      if (rank != 0) continue;
      communicator.set_settings({.algorithm = test.choice.algorithm,
                                 .protocol = test.choice.protocol,
                                 .nchannels = test.choice.nchannels,
                                 .slot = test.choice.slot});
      CollectiveCall call = test.call;
      call.scalar = scalar_of(test, rank);
      if (const auto choice = communicator.choose(call)) test.choice = *choice;
    }
    EXPECT_TRUE(communicator.finish());
  });
  return answers;
}

}  // namespace ringside
