#include "engine/reduce/kernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tests/reduce/reference.h"

namespace ringside {
namespace {

using reference::Bits;

constexpr std::array kOps{RedOp::Sum, RedOp::Prod, RedOp::Max, RedOp::Min, RedOp::PreMulSum};
/// Every pair of two 8-bit elements, and as many pairs of each other type.
constexpr std::size_t kPool = 65536;

std::size_t width_of(DataType type) { return size_of(type).value; }

Bits at(DataType type, const std::vector<std::byte>& elements, std::size_t i) {
  Bits bits = 0;
  std::memcpy(&bits, elements.data() + i * width_of(type), width_of(type));
  return bits;
}

void put(DataType type, std::vector<std::byte>& elements, std::size_t i, Bits bits) {
  std::memcpy(elements.data() + i * width_of(type), &bits, width_of(type));
}

/// Inputs of one type: three of them, for all lanes of which the results are known.
struct Pool {
  DataType type;
  std::array<std::vector<std::byte>, 3> inputs;
  Bits scalar = 0;

  explicit Pool(DataType element) : type(element) {
    std::mt19937_64 random(20261120);
    const std::size_t bits = 8 * width_of(type);
    for (std::vector<std::byte>& input : inputs) {
      input.resize(kPool * width_of(type));
      for (std::size_t i = 0; i < kPool; ++i) put(type, input, i, pick(random, bits));
    }
    if (bits == 8) {
      for (std::size_t i = 0; i < kPool; ++i) {
        put(type, inputs[0], i, i % 256);
        put(type, inputs[1], i, i / 256);
      }
    }
    scalar = reference::is_small_float(type) ? reference::encode(type, 0.3) : Bits{3};
    if (type == DataType::Float32) scalar = 0x3E99999A;          // 0.3
    if (type == DataType::Float64) scalar = 0x3FD3333333333333;  // 0.3
  }

  /// Any bits half of the time, and else 0, the ends of the range, infinities, NaN and their neighbours;
  /// of floating point also numbers of like size, whose sums are neither of the two.
  Bits pick(std::mt19937_64& random, std::size_t bits) const {
    const Bits any = random();
    const Bits special[] = {0,          1,          (Bits{1} << (bits - 1)) - 1, 0x7C00,
                            0x7F80,     0x7F800000, 0x7FF0000000000000,          0x3FF0000000000000,
                            0x3F800000, 0x00800000};
    switch (random() % 4) {
      case 0:
        return special[any % std::size(special)] ^ (random() % 2 << (bits - 1));
      case 1:
        if (bits < 16) return any;  // all of an 8-bit float's numbers are alike in size
        return (any & ~(Bits{0x7FF} << (bits - 10))) | (Bits{3} << (bits - 4));
      default:
        return any;
    }
  }

  [[nodiscard]] Bits expected(RedOp op, std::size_t i, int inputs_used) const {
    Bits result = at(type, inputs[0], i);
    const RedOp each = op == RedOp::PreMulSum ? RedOp::Sum : op;
    if (op == RedOp::PreMulSum) result = reference::combine(type, RedOp::Prod, result, scalar);
    for (int k = 1; k < inputs_used; ++k) {
      result =
          reference::combine(type, each, result, at(type, inputs[static_cast<std::size_t>(k)], i));
    }
    return result;
  }
};

std::string name_of(const KernelSet& set, DataType type, RedOp op) {
  return std::string(set.name) + " " + to_string(op) + " of " + to_string(type);
}

// The largest set is what runs, so that a fault in a smaller one would show on other machines only.
TEST(Kernels, EveryInstructionSetGivesTheBitsOfTheReference) {
  ASSERT_FALSE(kernel_sets().empty());
  for (const DataType type : reference::kTypes) {
    const Pool pool(type);
    for (const RedOp op : kOps) {
      std::vector<Bits> expected(kPool);
      for (std::size_t i = 0; i < kPool; ++i) expected[i] = pool.expected(op, i, 2);
      for (const KernelSet& set : kernel_sets()) {
        std::vector<std::byte> out(kPool * width_of(type));
        set.find(type, op)({.outputs = std::array{out.data()},
                            .inputs = std::array<const std::byte*, 2>{pool.inputs[0].data(),
                                                                      pool.inputs[1].data()},
                            .count = kPool,
                            .scalar = pool.scalar});
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < kPool; ++i) {
          if (reference::agrees(type, op, at(type, out, i), expected[i])) continue;
          if (++wrong > 3) continue;
          ADD_FAILURE() << name_of(set, type, op) << std::hex << ": 0x"
                        << at(type, pool.inputs[0], i) << ", 0x" << at(type, pool.inputs[1], i)
                        << " gave 0x" << at(type, out, i) << " and not 0x" << expected[i];
        }
        EXPECT_EQ(wrong, 0U) << name_of(set, type, op);
      }
    }
  }
}

/// Runs `count` elements at odd addresses, and checks them and the bytes around them.
class Placed {
 public:
  Placed(const KernelSet& set, const Pool& pool, RedOp op) : set_(set), pool_(pool), op_(op) {}

  /// returns  wrong elements and changed bytes next to them
  int run(std::size_t count, std::size_t shift, int inputs, int outputs, bool in_place) {
    const std::size_t width = width_of(pool_.type);
    const std::size_t bytes = count * width;
    std::array<std::vector<std::byte>, 5> memory;
    for (std::size_t k = 0; k < memory.size(); ++k) {
      memory[k].assign(bytes + 160, std::byte{0xEE});
      if (k < 3) {
        std::memcpy(memory[k].data() + place(k, shift), pool_.inputs[k].data() + first_ * width,
                    bytes);
      }
    }
    std::vector<const std::byte*> in;
    std::vector<std::byte*> out;
    const auto used = static_cast<std::size_t>(inputs);
    for (std::size_t k = 0; k < used; ++k) in.push_back(memory[k].data() + place(k, shift));
    std::vector<std::size_t> written;
    for (std::size_t k = 0; k < static_cast<std::size_t>(outputs); ++k) {
      written.push_back(in_place ? used - 1 - k : 3 + k);
      out.push_back(memory[written.back()].data() + place(written.back(), shift));
    }
    set_.find(pool_.type, op_)({out, in, count, pool_.scalar});
    int wrong = 0;
    for (const std::size_t k : written) {
      wrong += changed_around(memory[k], place(k, shift), bytes);
      for (std::size_t i = 0; i < count; ++i) {
        Bits actual = 0;
        std::memcpy(&actual, memory[k].data() + place(k, shift) + i * width, width);
        const Bits expected = pool_.expected(op_, first_ + i, inputs);
        wrong += reference::agrees(pool_.type, op_, actual, expected) ? 0 : 1;
      }
    }
    first_ = (first_ + 67) % (kPool - 5000);
    return wrong;
  }

 private:
  /// Gives each operand another distance from alignment.
  static std::size_t place(std::size_t k, std::size_t shift) { return 64 + shift * (k + 1) % 64; }

  static int changed_around(const std::vector<std::byte>& memory, std::size_t from,
                            std::size_t bytes) {
    int changed = 0;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (i >= from && i < from + bytes) continue;
      changed += memory[i] == std::byte{0xEE} ? 0 : 1;
    }
    return changed;
  }

  const KernelSet& set_;
  const Pool& pool_;
  RedOp op_;
  std::size_t first_ = 256;
};

TEST(Kernels, AnyCountAtAnyAddressIsRightAndWritesNoOtherByte) {
  for (const DataType type : reference::kTypes) {
    const Pool pool(type);
    for (const RedOp op : {RedOp::Sum, RedOp::Max, RedOp::PreMulSum}) {
      for (const KernelSet& set : kernel_sets()) {
        Placed placed(set, pool, op);
        int wrong = 0;
        for (std::size_t count = 0; count <= 67; ++count) {
          wrong += placed.run(count, 0, 2, 1, false);
          wrong += placed.run(count, 1 + count % 63, 2, 1, count % 2 == 0);
        }
        wrong += placed.run(1021, 5, 2, 1, false);
        EXPECT_EQ(wrong, 0) << name_of(set, type, op);
      }
    }
  }
}

TEST(Kernels, SeveralInputsGoLeftToRightAndToEveryOutput) {
  for (const DataType type : reference::kTypes) {
    const Pool pool(type);
    for (const RedOp op : kOps) {
      for (const KernelSet& set : kernel_sets()) {
        Placed placed(set, pool, op);
        int wrong = 0;
        for (const std::size_t count : {0U, 1U, 31U, 64U, 67U, 515U}) {
          wrong += placed.run(count, 3, 1, 1, false);
          wrong += placed.run(count, 1, 1, 2, false);
          wrong += placed.run(count, 7, 2, 2, true);
          wrong += placed.run(count, 2, 3, 1, false);
          wrong += placed.run(count, 9, 3, 2, count % 2 == 1);
        }
        EXPECT_EQ(wrong, 0) << name_of(set, type, op);
      }
    }
  }
}

// In float32, 1e8 + 1 rounds to 1e8: from left to right 1e8 + 1 - 1e8 is 0, and 1e8 - 1e8 + 1 is 1.
TEST(Kernels, TheOrderOfTheInputsIsTheOrderOfTheAdditions) {
  const float large = 1e8F;
  const float one = 1;
  const float minus = -1e8F;
  const auto bytes = [](const float& value) { return reinterpret_cast<const std::byte*>(&value); };
  float sum = -1;
  const std::array outputs{reinterpret_cast<std::byte*>(&sum)};
  const ReduceKernel kernel = kernel_sets().front().find(DataType::Float32, RedOp::Sum);
  kernel({outputs, std::array{bytes(large), bytes(one), bytes(minus)}, 1, 0});
  EXPECT_EQ(sum, 0.0F);
  kernel({outputs, std::array{bytes(large), bytes(minus), bytes(one)}, 1, 0});
  EXPECT_EQ(sum, 1.0F);
}

}  // namespace
}  // namespace ringside
