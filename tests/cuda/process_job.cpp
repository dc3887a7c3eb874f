#include "tests/cuda/process_job.h"

#include <utility>

#include "engine/cuda/process_executor.h"
#include "engine/runtime/bootstrap.h"

namespace ringside {

ExecutorMaker executor_of(const ProcessJob& job, std::unique_ptr<DeviceUnderTest>& device) {
  return [&job, &device](const ExecutorSetup& setup) -> Result<std::unique_ptr<Executor>> {
    CudaProcessOptions options{.memory = job.memory};
    if (!job.transport.empty()) {
      RINGSIDE_TRY(options.transport, parse_transport(job.transport));
    }
    RINGSIDE_TRY(device, make_device({.has_others = true,
                                      .shares_memory = job.shares_memory,
                                      .number = to_int(setup.bootstrap.rank())}));
    device->dead_rank = job.dead_rank;
    const DeviceLauncher launcher = device->launcher();
    const CudaDevice own{.memory = &launcher.memory,
                         .control = launcher.control,
                         .multiprocessors = 64,
                         .queue = &device->queue()};
    return make_cuda_process_executor(own, options, setup);
  };
}

Result<int> run_processes(const ProcessJob& job,
                          const std::function<Result<int>(const ProcessRank& rank)>& main) {
  // Made by each rank in its own process.
  std::unique_ptr<DeviceUnderTest> device;
  JobOptions options;
  options.local_ranks = job.nranks;
  options.join_timeout = Seconds{30};
  options.trace_path = job.trace_path;
  options.grace = Seconds{20};  // so that nobody is ended who would have ended by himself
  options.communicator.op_timeout = job.op_timeout;
  options.communicator.connect_timeout = Seconds{30};
  options.make_executor = executor_of(job, device);
  return run_job(options, [&](JobRank& rank) {
    return main({rank.communicator, *device, to_int(rank.communicator.rank())});
  });
}

Result<std::vector<std::byte>> run_case(const ProcessRank& rank, const DeviceCase& test) {
  DeviceMemory& memory = rank.device.launcher().memory;
  const std::size_t element = size_of(test.call.type).value;
  const std::vector<std::byte> input = input_of(test, rank.rank);
  std::vector<std::byte> output(static_cast<std::size_t>(sizes_of(test).output) * element, kPoison);
  CollectiveCall call = test.call;
  RINGSIDE_TRY(std::byte* const in, memory.take(Bytes{input.size() + 16}));
  RINGSIDE_TRY(std::byte* const out, memory.take(Bytes{output.size() + 16}));
  RINGSIDE_TRY(memory.write(in, input));
  RINGSIDE_TRY(memory.write(out, output));
  call.input = in;
  call.output = out;
  call.scalar = scalar_of(test, rank.rank);
  rank.communicator.set_wishes({.algorithm = test.choice.algorithm,
                                .protocol = test.choice.protocol,
                                .nchannels = test.choice.nchannels,
                                .slot = test.choice.slot});
  RINGSIDE_TRY(rank.communicator.run(call));
  RINGSIDE_TRY(memory.read(output, out));
  return output;
}

}  // namespace ringside
