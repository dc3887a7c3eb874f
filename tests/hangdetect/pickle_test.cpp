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
  /// Writes one call of `default_pg` as PyTorch does.
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
  // The first pickle holds the command `true`, which a generic unpickler would run.
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

TEST(Pickle, RefusesAnAttackAfterACompleteDump) {
  std::string bytes = small_dump();
  bytes.pop_back();
  const auto dump = parse(bytes + "cos\nsystem\n.");
  ASSERT_FALSE(dump);
  EXPECT_THAT(dump.error().message, HasSubstr("GLOBAL"));
}

TEST(Pickle, ReadsATruncatedFileUpToItsEnd) {
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

/// Opcode r: keeps the topmost value under a number.
std::string keep_as(std::uint32_t number) {
  std::string bytes = "r";
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>((number >> (8 * i)) & 0xFFU);
  return bytes;
}

// 9,000 values in steps of 65,535 would take 9 GB of a file of 60 KB.
TEST(Pickle, NumbersOfKeptValuesThatRunAheadOfTheFileAreRefused) {
  std::string bytes = "\x80\x02";
  for (std::uint32_t i = 1; i <= 20; ++i) bytes += "N" + keep_as(i * 65'535);
  const auto dump = parse(bytes + small_dump().substr(2));
  ASSERT_FALSE(dump);
  EXPECT_THAT(dump.error().message, HasSubstr("byte 3: value 65535 is kept"));
}

// pickletools.optimize() of old Pythons removes the opcodes of values that are not used again, and keeps the numbers.
TEST(Pickle, NumbersOfKeptValuesMayHaveGaps) {
  Writer writer;
  writer.raw("\x80\x02}("s).text("version").text("2.10").text("entries").raw("](");
  writer.call(1).raw(keep_as(40)).call(2).raw("e");
  writer.text("nccl_version").text("2.30.7").raw(keep_as(90)).raw("u.");
  const auto dump = parse(writer.bytes());
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_EQ(dump->calls.size(), 2U);
  EXPECT_EQ(dump->library, "2.30.7");
}

/// Returns a dump that begins with values that are kept for later: `kept` pickles them, and `each`, repeated `times`
/// times, is one dictionary that uses them.
std::string dump_of_shared(const std::string& kept, const std::string& each, int times) {
  std::string bytes = "\x80\x02" + kept + "](";
  for (int i = 0; i < times; ++i) bytes += each;
  return bytes + "e" + small_dump().substr(2);
}

std::string kept_text(std::string_view value, std::uint8_t number) {
  return Writer().text(value).raw("q").bytes() + static_cast<char>(number);
}

// A text of 64 KB is used in a dictionary of 13 bytes, and again in each of the next ones.
TEST(Pickle, ATextThatManyFramesShareIsNotCopiedForEach) {
  const std::string kept = kept_text(std::string(65'536, 'f'), 0) + kept_text("name", 1) +
                           kept_text("filename", 2) + kept_text("line", 3);
  const std::string frame = "}(h\x01h\x00h\x02h\x00h\x03K\x01u"s;
  EXPECT_TRUE(parse(dump_of_shared(kept, frame, 4)));
  const auto dump = parse(dump_of_shared(kept, frame, 400));
  ASSERT_FALSE(dump);
  EXPECT_THAT(dump.error().message, HasSubstr("values are used again more often"));
}

TEST(Pickle, AListThatManyGroupsShareIsNotCopiedForEach) {
  std::string list = "](";
  for (int i = 0; i < 50'000; ++i) list += "K\x01";
  const std::string kept =
      list + "eq\x00"s + kept_text("ranks", 1) + kept_text("name", 2) + kept_text("x", 3);
  const std::string group = "}(h\x01h\x00h\x02h\x03u"s;
  EXPECT_TRUE(parse(dump_of_shared(kept, group, 4)));
  EXPECT_FALSE(parse(dump_of_shared(kept, group, 400)));
}

TEST(Pickle, AFrameThatManyStacksShareIsNotCopiedForEach) {
  std::string kept = kept_text(std::string(16'384, 'f'), 0) + kept_text("name", 1) +
                     kept_text("filename", 2) + kept_text("line", 3) +
                     kept_text("profiling_name", 4) + kept_text("nccl:all_reduce", 5) +
                     kept_text("frames", 6);
  kept += "}(h\x01h\x00h\x02h\x00h\x03K\x01uq\x08"s;
  std::string calls;
  for (int depth = 200; depth < 220; ++depth) {
    calls += "}(h\x04h\x05h\x06]("s;
    for (int i = 0; i < depth; ++i) calls += "h\x08";
    calls += "eu";
  }
  EXPECT_FALSE(parse(dump_of_shared(kept, calls, 1)));
}

// A dump that Python saved again: calls share their keys, names and stacks.
TEST(Pickle, ADumpWhoseCallsShareTheirStacksIsRead) {
  std::string kept = kept_text("name", 1) + kept_text("filename", 2) + kept_text("line", 3) +
                     kept_text("profiling_name", 4) + kept_text("nccl:all_reduce", 5) +
                     kept_text("frames", 6) + kept_text("collective_seq_id", 7) +
                     kept_text("/opt/conda/lib/python3.11/site-packages/torch/nn/module.py", 8);
  kept += "](";
  for (int depth = 0; depth < 100; ++depth) {
    kept += "}(h\x01h\x08h\x02h\x08h\x03K"s + static_cast<char>(depth) + "u";
  }
  kept += "eq\x09";
  std::string calls;
  for (int i = 0; i < 5'000; ++i) calls += "}(h\x04h\x05h\x06h\x09h\x07K\x01u"s;
  const auto dump = parse(dump_of_shared(kept, calls, 1));
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_EQ(dump->calls.size(), 5'002U);
}

// Containers that grow alternately make each other move: bounded, not quadratic.
TEST(Pickle, ListsThatGrowAlternatelyAreStopped) {
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
