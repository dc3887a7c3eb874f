#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <new>

#include "engine/reduce/copy.h"
#include "engine/reduce/reduce_op.h"

/// Compares the time of a reduction with that of a memcpy of as many bytes. The rate counts the bytes of the result: a
/// sum of two inputs reads twice as many.
namespace ringside {
namespace {

/// A buffer as communicators get it: page-aligned, and mapped before the clock starts.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes)
      : memory_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{4096}))) {
    std::memset(memory_.get(), 0x31, bytes);  // a small number in any type
  }
  [[nodiscard]] std::byte* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{4096}); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

std::size_t size_in(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}

template <typename Work>
void measure(benchmark::State& state, Work work) {
  for (auto _ : state) {
    work();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(64 << 10)->Arg(1 << 20)->Arg(64 << 20);
}

void Memcpy(benchmark::State& state) {
  const Buffer from(size_in(state));
  const Buffer to(size_in(state));
  measure(state, [&] { std::memcpy(to.data(), from.data(), size_in(state)); });
}
BENCHMARK(Memcpy)->Apply(sizes);

void CopyStreaming(benchmark::State& state) {
  const Buffer from(size_in(state));
  const Buffer to(size_in(state));
  measure(state, [&] { copy_streaming(to.data(), from.data(), size_in(state)); });
}
BENCHMARK(CopyStreaming)->Apply(sizes);

void reduce(benchmark::State& state, DataType type, RedOp op) {
  const ReduceOp made = *make_reduce_op(type, op, 3);
  const std::size_t count = size_in(state) / size_of(type).value;
  const Buffer a(size_in(state));
  const Buffer b(size_in(state));
  const Buffer out(size_in(state));
  measure(state, [&] { made.combine(out.data(), a.data(), b.data(), FirstInput::Own, count); });
}
BENCHMARK_CAPTURE(reduce, float_sum, DataType::Float32, RedOp::Sum)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, float_avg, DataType::Float32, RedOp::Avg)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, float_max, DataType::Float32, RedOp::Max)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, bfloat16_sum, DataType::Bfloat16, RedOp::Sum)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, half_sum, DataType::Float16, RedOp::Sum)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, e4m3_sum, DataType::Float8E4m3, RedOp::Sum)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, int8_prod, DataType::Int8, RedOp::Prod)->Apply(sizes);

/// A step of a ring that keeps the sum and passes it on: fused, or as a sum and a copy.
void SumToTwo(benchmark::State& state) {
  const ReduceOp sum = *make_reduce_op(DataType::Float32, RedOp::Sum, 2);
  const Buffer a(size_in(state));
  const Buffer b(size_in(state));
  const Buffer kept(size_in(state));
  const Buffer sent(size_in(state));
  const std::array outputs{kept.data(), sent.data()};
  const std::array<const std::byte*, 2> inputs{a.data(), b.data()};
  measure(state, [&] { sum.reduce(outputs, inputs, FirstInput::Own, size_in(state) / 4); });
}
BENCHMARK(SumToTwo)->Apply(sizes);

void SumThenCopy(benchmark::State& state) {
  const ReduceOp sum = *make_reduce_op(DataType::Float32, RedOp::Sum, 2);
  const Buffer a(size_in(state));
  const Buffer b(size_in(state));
  const Buffer kept(size_in(state));
  const Buffer sent(size_in(state));
  measure(state, [&] {
    sum.combine(kept.data(), a.data(), b.data(), FirstInput::Own, size_in(state) / 4);
    std::memcpy(sent.data(), kept.data(), size_in(state));
  });
}
BENCHMARK(SumThenCopy)->Apply(sizes);

/// A tree's rank with two children: fused, or as two sums.
void SumOfThree(benchmark::State& state) {
  const ReduceOp sum = *make_reduce_op(DataType::Float32, RedOp::Sum, 2);
  const Buffer a(size_in(state));
  const Buffer b(size_in(state));
  const Buffer c(size_in(state));
  const Buffer out(size_in(state));
  const std::array outputs{out.data()};
  const std::array<const std::byte*, 3> inputs{a.data(), b.data(), c.data()};
  measure(state, [&] { sum.reduce(outputs, inputs, FirstInput::Own, size_in(state) / 4); });
}
BENCHMARK(SumOfThree)->Apply(sizes);

void SumTwice(benchmark::State& state) {
  const ReduceOp sum = *make_reduce_op(DataType::Float32, RedOp::Sum, 2);
  const Buffer a(size_in(state));
  const Buffer b(size_in(state));
  const Buffer c(size_in(state));
  const Buffer out(size_in(state));
  measure(state, [&] {
    sum.combine(out.data(), a.data(), b.data(), FirstInput::Own, size_in(state) / 4);
    sum.combine(out.data(), out.data(), c.data(), FirstInput::Partial, size_in(state) / 4);
  });
}
BENCHMARK(SumTwice)->Apply(sizes);

}  // namespace
}  // namespace ringside
