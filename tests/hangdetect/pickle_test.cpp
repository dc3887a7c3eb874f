#include "diag/hangdetect/readers/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace ringside::hang {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

/// The bytes of a pickle, opcode by opcode.
class Writer {
 public:
  Writer& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  Writer& text(std::string_view value) {
    raw("X");
    const auto size = static_cast<std::uint32_t>(value.size());
    for (int i = 0; i < 4; ++i) bytes_ += static_cast<char>((size >> (8 * i)) & 0xFFU);
    return raw(value);
  }
  Writer& number(std::int32_t value) {
    raw("J");
    for (int i = 0; i < 4; ++i) {
      bytes_ += static_cast<char>((static_cast<std::uint32_t>(value) >> (8 * i)) & 0xFFU);
    }
    return *this;
  }
  /// One call of `default_pg`, as PyTorch writes it.
  Writer& call(int sequence, std::string_view state = "scheduled") {
    raw("}(").text("record_id").number(sequence).text("pg_id").number(0);
    text("process_group").text("0").text("default_pg").raw("\x86"s);
    text("collective_seq_id").number(sequence).text("p2p_seq_id").number(0);
    text("profiling_name").text("nccl:all_reduce");
    text("input_sizes").raw("](](").number(4).number(8).raw("ee");
    text("output_sizes").raw("](](").number(4).number(8).raw("ee");
    text("input_dtypes").raw("](").text("Float").raw("e");
    text("state").text(state).text("retired").raw("\x89"s).text("is_p2p").raw("\x89"s);
    return raw("u");
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

Result<RankDump> parse(std::string_view bytes) {
  Names names;
  DumpBuilder builder(names);
  return parse_pickle(bytes, builder);
}

std::string small_dump() {
  Writer writer;
  writer.raw("\x80\x02}("s).text("version").text("2.10").text("entries").raw("](");
  writer.call(1, "completed").call(2).raw("eu.");
  return writer.bytes();
}

TEST(Pickle, ADumpOfTwoCallsIsRead) {
  Names names;
  DumpBuilder builder(names);
  const auto dump = parse_pickle(small_dump(), builder);
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_EQ(dump->version, "2.10");
  ASSERT_EQ(dump->calls.size(), 2U);
  EXPECT_EQ(dump->calls[1].sequence, 2U);
  EXPECT_TRUE(dump->calls[1].is_pending());
  EXPECT_FALSE(dump->calls[0].is_pending());
  const Signature& signature = names.signature(dump->calls[0].signature);
  EXPECT_EQ(signature.op, Op::AllReduce);
  EXPECT_EQ(signature.input_count, 32U) << "4 x 8";
  EXPECT_EQ(signature.inputs, "[[4, 8]]");
  EXPECT_EQ(names.group(dump->calls[0].group).description, "default_pg");
}

TEST(Pickle, EveryOpcodeThatIsNotDataIsRefusedAtItsByte) {
  // cos\nsystem\n(S'true'\ntR. : what a generic unpickler would run
  for (const std::string& attack :
       {"\x80\x02"s + "cos\nsystem\n(X\x04\0\0\0truetR."s, "\x80\x04\x8c\x02os\x8c\x06system\x93."s,
        "\x80\x02(c__main__\nA\no."s, "\x80\x02}\x81."s, "\x80\x02}}b."s, "\x80\x02Q."s,
        "\x80\x02\x82\x01."s, "\x80\x05\x97."s, "\x80\x02(i__main__\nA\n."s, "\x80\x02\xff."s}) {
    const auto dump = parse(attack);
    ASSERT_FALSE(dump);
    EXPECT_EQ(dump.error().code, ErrorCode::Corrupt);
    EXPECT_THAT(dump.error().message, HasSubstr("refused, nothing was run"));
    EXPECT_THAT(dump.error().message, HasSubstr("byte "));
  }
}

TEST(Pickle, AnAttackBehindAWholeDumpIsRefusedToo) {
  std::string bytes = small_dump();
  bytes.pop_back();
  const auto dump = parse(bytes + "cos\nsystem\n.");
  ASSERT_FALSE(dump);
  EXPECT_THAT(dump.error().message, HasSubstr("GLOBAL"));
}

TEST(Pickle, ACutFileGivesWhatItHolds) {
  const std::string whole = small_dump();
  bool had_one = false;
  for (std::size_t size = 2; size + 1 < whole.size(); ++size) {
    const auto dump = parse(std::string_view(whole).substr(0, size));
    if (!dump) continue;
    EXPECT_TRUE(dump->torn_at.has_value());
    had_one |= dump->calls.size() == 1;
  }
  EXPECT_TRUE(had_one) << "the first call is whole in the larger pieces";
}

TEST(Pickle, NestingAndSelfReferenceEndInAnErrorOrAPlainAnswer) {
  EXPECT_FALSE(parse("\x80\x02" + std::string(1'000'000, ']') + "."));
  EXPECT_FALSE(parse("\x80\x02]q\x00(h\x00h\x00"s + "e."));  // a list that holds itself
  EXPECT_FALSE(parse("\x80\x02}q\x00(h\x00h\x00u."s));       // a dictionary keyed by itself
  EXPECT_FALSE(parse("\x80\x02]r\xff\xff\xff\xff."s));       // kept as value 4,294,967,295
  EXPECT_FALSE(parse("\x80\x02X\xff\xff\xff\x7f"s));         // a text of 2 GiB in 7 bytes
  EXPECT_FALSE(parse("\x80\x02h\x07."s));                    // used before it is kept
  EXPECT_FALSE(parse("\x80\x02u."s));
  EXPECT_FALSE(parse("\x80\x02(\x8b\xff\xff\xff\xff."s));  // a number of 4 GiB
}

// Containers that grow in turns make each other move: bounded, not quadratic.
TEST(Pickle, ListsThatGrowInTurnsAreStopped) {
  std::string bytes = "\x80\x02]q\x00]q\x01"s;
  for (int i = 0; i < 200'000; ++i) bytes += "h\x00NaN0h\x01Na"s;
  EXPECT_FALSE(parse(bytes + "."));
}

TEST(Pickle, RandomBytesNeverCrash) {
  std::mt19937 random(1);
  const std::string whole = small_dump();
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    static_cast<void>(parse(bytes));
  }
}

}  // namespace
}  // namespace ringside::hang
