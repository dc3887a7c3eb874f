#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "engine/protocol/ll.h"
#include "engine/protocol/ll128.h"
#include "engine/protocol/slot_fifo.h"
#include "engine/protocol/slot_size.h"
#include "engine/protocol/wire_lines.h"
#include "tests/protocol/fifo_memory.h"

namespace ringside {
namespace {

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

std::uint64_t word(const FifoMemory& memory, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, memory.get() + index * sizeof value, sizeof value);
  return value;
}

// Step 6 has the flag 7. Three lines: the size 6, bytes 0 to 3, bytes 4 and 5 with two of nothing.
TEST(Ll, ALineIsFourBytesOfDataAndThenTheFlag) {
  const FifoMemory memory = zeroed_memory(Ll::slot_memory(64_B));
  Ll::pack(memory.get(), 64_B, counting(6), 6);
  EXPECT_EQ(word(memory, 0), 0x00000007'00000006U);
  EXPECT_EQ(word(memory, 1), 0x00000007'03020100U);
  EXPECT_EQ(word(memory, 2), 0x00000007'00000504U);
  EXPECT_EQ(word(memory, 3), 0U);
}

// 3 bytes and the size lie right before the flag: 112 + 8 + 8 = 128, and 104 = 112 - 8.
TEST(Ll128, AShortStepAndItsFlagShareACacheLine) {
  const FifoMemory memory = zeroed_memory(Ll128::slot_memory(64_B));
  Ll128::pack(memory.get(), 64_B, counting(3), 6);
  EXPECT_EQ(word(memory, 13), 0x020100U);
  EXPECT_EQ(word(memory, 14), 3U);
  EXPECT_EQ(word(memory, 15), 7U);
}

// 240 bytes: 112 in the first line, 120 in the second, 8 in the third.
TEST(Ll128, AFlagFollowsEach120Bytes) {
  const FifoMemory memory = zeroed_memory(Ll128::slot_memory(240_B));
  Ll128::pack(memory.get(), 240_B, counting(240), 41);
  EXPECT_EQ(Ll128::wire_size(240_B), 384_B);
  for (const std::size_t flag : {15U, 31U, 47U}) EXPECT_EQ(word(memory, flag), 42U);
  EXPECT_EQ(word(memory, 0), 0x0706050403020100U);
  EXPECT_EQ(word(memory, 16), 0x7776757473727170U);  // byte 112 = 0x70
  EXPECT_EQ(word(memory, 32), 0xefeeedecebeae9e8U);  // byte 232 = 0xe8
}

// With more slots, each one is used once per round: 32 steps before the low 31 bits wrap around.
TEST(Ll, FillsEachOfMoreSlotsOnce) {
  EXPECT_FALSE(Ll::fills_slot(0x7fffffdf, 32));
  for (std::uint64_t step = 0x7fffffe0; step <= 0x7fffffff; ++step) {
    EXPECT_TRUE(Ll::fills_slot(step, 32));
    EXPECT_EQ(Ll::fills_slot(step), step >= 0x7ffffff8);
  }
  EXPECT_FALSE(Ll::fills_slot(0x80000000, 32));
  EXPECT_TRUE(Ll::fills_slot(0xffffffe0, 32));
}

// 32768 bytes are 8192 lines of LL and one for the size. Of LL128: (32768 + 8) / 120 = 273.1, so 274.
TEST(Lines, TheWireIsAsLongAsTheLines) {
  EXPECT_EQ(Ll::wire_size(32_KiB), 65544_B);
  EXPECT_EQ(Ll::wire_size(1_B), 16_B);
  EXPECT_EQ(Ll128::wire_size(32_KiB), Bytes{274 * 128});
  EXPECT_EQ(Ll128::wire_size(112_B), 128_B);
  EXPECT_EQ(Ll128::wire_size(113_B), 256_B);
  EXPECT_EQ(nccl_slot_size(Protocol::LL), 32_KiB);
  EXPECT_EQ(nccl_slot_size(Protocol::LL128), 576000_B);
  EXPECT_EQ(nccl_slot_size(Protocol::Simple), 512_KiB);
}

template <typename Lines>
class AnyLines : public testing::Test {};
using BothLines = testing::Types<Ll, Ll128>;
struct LinesName {
  template <typename Lines>
  static std::string GetName(int) {
    return to_string(Lines::kProtocol);
  }
};
TYPED_TEST_SUITE(AnyLines, BothLines, LinesName);

// The sender is half way: its lines appear one by one, and none is accepted before it is there.
TYPED_TEST(AnyLines, AStepIsTakenAsItArrives) {
  constexpr Bytes kSize = 1000_B;
  constexpr std::uint64_t kStep = 12;
  const auto data = counting(kSize.value);
  const FifoMemory whole = zeroed_memory(TypeParam::slot_memory(kSize));
  TypeParam::pack(whole.get(), kSize, data, kStep);
  const FifoMemory slot = zeroed_memory(TypeParam::slot_memory(kSize));
  TypeParam::pack(slot.get(), kSize, std::vector(kSize.value, std::byte{0xee}), kStep - 8);

  std::vector<std::byte> to(kSize.value);
  Unpacked so_far;
  const std::uint64_t lines = TypeParam::wire_size(kSize).value / TypeParam::kLine;
  for (std::uint64_t line = 0; line < lines; ++line) {
    ASSERT_EQ(TypeParam::unpack(slot.get(), kSize, kStep, to.data(), so_far), Arrival::Partly);
    // The line before it carries the size in 8 or 4 bytes, which are not data.
    const std::uint64_t arrived = line * TypeParam::kLineData;
    const std::uint64_t no_data = TypeParam::kProtocol == Protocol::LL ? 4 : 8;
    EXPECT_EQ(so_far.done, arrived < no_data ? 0 : arrived - no_data);
    std::memcpy(slot.get() + line * TypeParam::kLine, whole.get() + line * TypeParam::kLine,
                TypeParam::kLine);
  }
  EXPECT_EQ(TypeParam::unpack(slot.get(), kSize, kStep, to.data(), so_far), Arrival::Whole);
  EXPECT_EQ(to, data);
}

// A long step leaves its flags in the slot; 2^32 steps later LL's flags are the same again, and the slot
// may have held nothing but steps of 8 bytes meanwhile. The sender of step 5 + 2^32 has stored the lines
// of its first 8 bytes and no more: what the long step left behind them must not pass for the rest.
TYPED_TEST(AnyLines, WhatAnOldStepLeftNeverPassesForNew) {
  constexpr Bytes kSize = 256_B;
  constexpr std::uint64_t kOld = 5;
  const FifoMemory slot = zeroed_memory(TypeParam::slot_memory(kSize));
  TypeParam::pack(slot.get(), kSize, counting(kSize.value), kOld);
  // Takes, of the steps in between, the last ones of this slot before 31 bits of the step wrap around.
  for (std::uint64_t step = 0x7ffffff8; step <= 0x7fffffff; ++step) {
    if (step % kSlots == kOld % kSlots) TypeParam::pack(slot.get(), kSize, counting(8), step);
  }
  constexpr std::uint64_t kNew = kOld + (std::uint64_t{1} << 32);
  const FifoMemory whole = zeroed_memory(TypeParam::slot_memory(kSize));
  TypeParam::pack(whole.get(), kSize, counting(kSize.value), kNew);
  std::memcpy(slot.get(), whole.get(), TypeParam::wire_size(8_B).value);

  std::vector<std::byte> to(kSize.value);
  Unpacked so_far;
  EXPECT_EQ(TypeParam::unpack(slot.get(), kSize, kNew, to.data(), so_far), Arrival::Partly);
  EXPECT_EQ(so_far.done, TypeParam::kProtocol == Protocol::LL ? 8U : 112U);
}

TYPED_TEST(AnyLines, AFlagOfAnotherStepOnTheWireIsCorruptAndBothAreNamed) {
  const Bytes size = 500_B;
  std::vector<std::byte> wire(wire_size(TypeParam::kProtocol, size).value);
  std::vector<std::byte> room(size.value);
  pack_wire(TypeParam::kProtocol, wire, counting(size.value), 12);
  ASSERT_TRUE(unpack_wire(TypeParam::kProtocol, wire, 12, room));
  EXPECT_EQ(room, counting(size.value));

  // The third line's flag, 13, becomes 9: its lowest byte is the first one behind the line's data.
  wire[2 * TypeParam::kLine + TypeParam::kLineData] = std::byte{9};
  const auto got = unpack_wire(TypeParam::kProtocol, wire, 12, room);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::Corrupt);
  EXPECT_NE(got.error().message.find("line 2 of step 12 carries the flag 9 where 13 is due"),
            std::string::npos)
      << got.error().message;
}

TYPED_TEST(AnyLines, AWireThatDoesNotFitItsSizeIsCorrupt) {
  std::vector<std::byte> wire(wire_size(TypeParam::kProtocol, 500_B).value);
  std::vector<std::byte> room(500);
  pack_wire(TypeParam::kProtocol, wire, counting(500), 0);
  const auto code = [&](std::span<std::byte> part, std::span<std::byte> space) {
    const auto got = unpack_wire(TypeParam::kProtocol, part, 0, space);
    return got ? ErrorCode::InvalidArgument : got.error().code;
  };
  const std::span<std::byte> all(wire);
  EXPECT_EQ(code(all.first(all.size() - TypeParam::kLine), room), ErrorCode::Corrupt);
  EXPECT_EQ(code(all.first(all.size() - 1), room), ErrorCode::Corrupt);
  EXPECT_EQ(code(all.first(0), room), ErrorCode::Corrupt);
  EXPECT_EQ(code(all, std::span(room).first(499)), ErrorCode::Corrupt);
}

}  // namespace
}  // namespace ringside
