#include "tests/cuda/process_job.h"

#include <cstdio>
#include <thread>
#include <utility>

#include "engine/cuda/process_executor.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "tests/cuda/device_grid.h"

namespace ringside {

ExecutorMaker executor_of(const ProcessJob& job, std::unique_ptr<DeviceUnderTest>& device) {
  return [&job, &device](const ExecutorSetup& setup) -> Result<std::unique_ptr<Executor>> {
    CudaProcessOptions options{.memory = job.memory, .registers = job.registers};
    if (!job.transport.empty()) {
      RINGSIDE_TRY(options.transport, parse_transport(job.transport));
    }
    const int rank = to_int(setup.bootstrap.rank());
    RINGSIDE_TRY(device, make_device({.has_others = true,
                                      .shares_by = job.shares_by,
                                      .is_by_pcie = job.is_by_pcie,
                                      .lets_adapters = job.lets_adapters,
                                      .number = job.gpus != 0 ? rank % job.gpus : rank,
                                      .has_switch = job.has_switch}));
    device->dead_rank = job.dead_rank;
    const DeviceLauncher launcher = device->launcher();
    const CudaDevice own{.memory = &launcher.memory,
                         .control = launcher.control,
                         .multiprocessors = rank == job.small_rank ? 2 : 64,
                         .queue = &device->queue()};
    return make_cuda_process_executor(own, options, setup);
  };
}

Result<int> run_processes(const ProcessJob& job,
                          const std::function<Result<int>(const ProcessRank& rank)>& main) {
  // Each rank makes it in its own process.
  std::unique_ptr<DeviceUnderTest> device;
  JobOptions options;
  options.local_ranks = job.nranks;
  options.join_timeout = Seconds{30};
  options.trace_path = job.trace_path;
  options.logs = job.logs;
  options.dumps = job.dumps;
  options.faults = job.faults;
  options.grace = Seconds{20};  // so that no process is killed that would have ended on its own
  options.communicator.op_timeout = job.op_timeout;
  options.communicator.connect_timeout = Seconds{30};
  options.make_executor = executor_of(job, device);
  return run_job(options, [&](JobRank& rank) {
    return main({rank.communicator, *device, to_int(rank.communicator.rank())});
  });
}

bool is_without_device(const Result<int>& status) {
  if (status) return false;
  const std::string& why = status.error().message;
  return is_absent(status.error()) ||
         why.find("shares no memory by file descriptors") != std::string::npos;
}

namespace {

Result<int> run_thread(const ProcessJob& job, int rank, const UniqueId& id,
                       const std::function<Result<int>(const ProcessRank& rank)>& main) {
  std::unique_ptr<DeviceUnderTest> device;
  RINGSIDE_TRY(std::shared_ptr<Bootstrap> bootstrap,
               Bootstrap::join({.rank = Rank{rank}, .nranks = job.nranks, .id = id}));
  CommunicatorOptions options;
  options.op_timeout = job.op_timeout;
  options.connect_timeout = Seconds{30};
  RINGSIDE_TRY(const std::unique_ptr<runtime::Communicator> communicator,
               runtime::Communicator::make(bootstrap, options, executor_of(job, device)));
  Result<int> ended = main({*communicator, *device, rank});
  if (!ended) {
    communicator->abort(ended.error());
    return ended;
  }
  RINGSIDE_TRY(communicator->finish());
  return ended;
}

}  // namespace

std::vector<Result<int>> run_threads(
    const ProcessJob& job, const std::vector<int>& ranks, const UniqueId& id,
    const std::function<Result<int>(const ProcessRank& rank)>& main) {
  std::vector<Result<int>> ended(ranks.size(), Result<int>(0));
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] { ended[i] = run_thread(job, ranks[i], id, main); });
  }
  threads.clear();
  return ended;
}

Result<std::vector<std::byte>> run_case_in(const ProcessRank& rank, const DeviceCase& test,
                                           std::byte* in, std::byte* out) {
  DeviceMemory& memory = rank.device.launcher().memory;
  const std::size_t element = size_of(test.call.type).value;
  std::vector<std::byte> output(static_cast<std::size_t>(sizes_of(test).output) * element, kPoison);
  CollectiveCall call = test.call;
  RINGSIDE_TRY(memory.write(out, output));
  RINGSIDE_TRY(memory.write(in, input_of(test, rank.rank)));
  call.input = in;
  call.output = out;
  call.scalar = scalar_of(test, rank.rank);
  rank.communicator.set_settings({.algorithm = test.choice.algorithm,
                                  .protocol = test.choice.protocol,
                                  .nchannels = test.choice.nchannels,
                                  .slot = test.choice.slot});
  RINGSIDE_TRY(rank.communicator.run(call));
  RINGSIDE_TRY(memory.read(output, out));
  return output;
}

Result<std::vector<std::byte>> run_case(const ProcessRank& rank, const DeviceCase& test) {
  DeviceMemory& memory = rank.device.launcher().memory;
  const std::size_t element = size_of(test.call.type).value;
  const DeviceSizes sizes = sizes_of(test);
  const auto room = [&](std::int64_t count) {
    return Bytes{static_cast<std::size_t>(count) * element + 16};
  };
  RINGSIDE_TRY(std::byte* const in, memory.take(room(sizes.input)));
  RINGSIDE_TRY(std::byte* const out, memory.take(room(sizes.output)));
  return run_case_in(rank, test, in, out);
}

Result<int> run_cases(const ProcessRank& rank, const std::vector<DeviceCase>& cases,
                      const std::vector<std::vector<std::vector<std::byte>>>& expected) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto output = run_case(rank, cases[i]);
    const std::string wrong =
        output ? difference(cases[i], *output, expected[i][static_cast<std::size_t>(rank.rank)])
               : output.error().message;
    if (wrong.empty()) continue;
    std::fprintf(stderr, "%s, rank %d: %s\n", to_string(cases[i]).c_str(), rank.rank,
                 wrong.c_str());
    return 1;
  }
  return 0;
}

std::vector<DeviceCase> integer_grid(int nranks, bool has_lines) {
  std::vector<DeviceCase> cases;
  for (DeviceCase test : device_grid(nranks)) {
    if (test.choice.protocol == Protocol::LL128 && !has_lines) continue;
    test.offset = 0;
    test.in_place = false;
    if (is_reduction(test.call.collective) && is_floating(test.call.type)) {
      test.call.type = DataType::Int32;
      test.call.op = RedOp::Sum;
    }
    cases.push_back(std::move(test));
  }
  return cases;
}

DeviceCase all_reduce_case(int nranks, Protocol protocol, std::int64_t count) {
  DeviceCase test;
  test.nranks = nranks;
  test.call.type = DataType::Int32;
  test.call.count = count;
  test.choice = {.algorithm = Algorithm::Ring, .protocol = protocol, .slot = 512_B};
  return test;
}

}  // namespace ringside
