#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "diag/logparse/byte_source.h"
#include "diag/logparse/follow_logs.h"
#include "tests/logparse/records.h"
#include "tests/support/fake_clock.h"
#include "tests/support/other_user.h"

namespace ringside::logs {
namespace {

namespace fs = std::filesystem;

/// A folder for the files of a test.
class Inputs : public testing::Test {
 protected:
  Inputs() : folder_(fs::temp_directory_path() / ("ringside-logs-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Inputs() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& data) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << data;
    return path.string();
  }

  fs::path folder_;
};

std::string line_of(int rank, const std::string& text = "Connected all rings") {
  return "n01:" + std::to_string(100 + rank) + ":" + std::to_string(900 + rank) +
         " [0] NCCL INFO " + text + "\n";
}

/// All records of some files, read by that number of shards, with file and line.
struct Read {
  std::vector<std::string> records;
  ParseReport report;
};

Read read(const std::vector<std::string>& arguments, std::size_t shards = 1) {
  const LogFiles files = find_logs(arguments);
  struct Kept {
    std::string text;
    Place place;
  };
  std::vector<std::vector<Kept>> kept(shards);
  std::vector<std::unique_ptr<CallingSink>> sinks;
  std::vector<RecordSink*> pointers;
  for (std::size_t i = 0; i < shards; ++i) {
    sinks.push_back(
        std::make_unique<CallingSink>([&kept, i](const Record& record, const Speaker& speaker) {
          const std::string text = describe(record, speaker);
          kept[i].push_back({text.substr(text.find(' ')), record.place});
        }));
    pointers.push_back(sinks.back().get());
  }
  auto report = parse_logs(files, pointers, {});
  EXPECT_TRUE(report.has_value());
  Read all;
  all.report = *report;
  for (const auto& shard : kept) {
    for (const Kept& record : shard) {
      const FileLine at = all.report.where(record.place);
      all.records.push_back(files.files[at.file].name + ":" + std::to_string(at.line) +
                            record.text);
    }
  }
  return all;
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  ::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(::deflateBound(&stream, text.size()) + 64, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

std::string many_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += line_of(i % 97, "Channel 00/0 : " + std::to_string(i) + "[0] -> " +
                                std::to_string(i + 1) + "[1] via P2P/IPC");
    if (i % 11 == 0) text += "step " + std::to_string(i) + "\n";
  }
  return text;
}

TEST_F(Inputs, AnyNumberOfShardsGivesTheSameRecordsAndLines) {
  const std::string big = write("big.log", many_lines(60000));  // about 4.6 MB: cut into pieces
  const std::string small = write("small.log", many_lines(10));
  const Read one = read({big, small}, 1);
  for (const std::size_t shards : {2U, 3U, 5U}) {
    const Read more = read({big, small}, shards);
    ASSERT_EQ(more.records.size(), one.records.size()) << shards;
    EXPECT_EQ(more.records, one.records) << shards;
    EXPECT_EQ(more.report.counts.lines, one.report.counts.lines);
    EXPECT_EQ(more.report.counts.bytes, one.report.counts.bytes);
    EXPECT_GT(more.report.pieces.size(), 2U);
  }
}

TEST_F(Inputs, FoldersAreReadInTheOrderOfTheirNumbers) {
  write("job/rank10.log", line_of(10));
  write("job/rank2.log", line_of(2));
  write("job/.hidden", line_of(3));
  const LogFiles files = find_logs({(folder_ / "job").string()});
  ASSERT_EQ(files.files.size(), 2U);
  EXPECT_TRUE(files.files[0].name.ends_with("rank2.log"));
  const LogFiles globbed =
      find_logs({(folder_ / "job/rank*.log").string(), (folder_ / "nothing").string()});
  EXPECT_EQ(globbed.files.size(), 2U);
  ASSERT_EQ(globbed.problems.size(), 1U);
}

// glob() returns a link to nothing, too; expanded again, its name would match itself without end.
TEST_F(Inputs, TheNamesThatAPatternMatchesAreNotPatterns) {
  fs::create_symlink("/nowhere", folder_ / "a*");
  write("b[1].log", line_of(1));
  const LogFiles found = find_logs({(folder_ / "a*").string(), (folder_ / "b*.log").string()});
  ASSERT_EQ(found.files.size(), 1U);
  EXPECT_TRUE(found.files[0].name.ends_with("b[1].log"));
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].file, (folder_ / "a*").string());
}

TEST_F(Inputs, AFileNamedLikeStdinIsAFileForAPattern) {
  const fs::path before = fs::current_path();
  write("-", line_of(1));
  fs::current_path(folder_);
  const LogFiles found = find_logs({"?"});
  fs::current_path(before);
  ASSERT_EQ(found.files.size(), 1U);
  EXPECT_FALSE(found.files[0].is_stream);
}

TEST_F(Inputs, ReadsCompressedLogsAndTruncatedOnesUpToTheirEnd) {
  const std::string text = many_lines(2000);
  const std::string packed = gzipped(text);
  const Read plain = read({write("a.log", text)});
  EXPECT_EQ(read({write("a.gz", packed)}).records.size(), plain.records.size());
  EXPECT_EQ(read({write("twice.gz", packed + packed)}).records.size(), 2 * plain.records.size());
  const Read cut = read({write("cut.gz", packed.substr(0, packed.size() / 2))});
  EXPECT_GT(cut.records.size(), 100U);
  ASSERT_EQ(cut.report.problems.size(), 1U);
  EXPECT_NE(cut.report.problems[0].what.find("ends early"), std::string::npos);

  std::string zstd(::ZSTD_compressBound(text.size()), '\0');
  zstd.resize(::ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 1));
  EXPECT_EQ(read({write("a.zst", zstd)}).records.size(), plain.records.size());
  EXPECT_EQ(read({write("cut.zst", zstd.substr(0, zstd.size() / 2))}).report.problems.size(), 1U);
}

// A frame whose end coincides with that of a block of unpacked data is whole.
TEST_F(Inputs, ReadsACompressedLogOfWholeBlocks) {
  std::string text = many_lines(4000);
  for (const std::size_t block : {32U << 10, 64U << 10, 256U << 10}) {
    std::string whole = text.substr(0, text.size() / block * block);
    if (whole.empty()) whole = text + std::string(block - text.size(), '\n');
    std::string zstd(::ZSTD_compressBound(whole.size()), '\0');
    zstd.resize(::ZSTD_compress(zstd.data(), zstd.size(), whole.data(), whole.size(), 1));
    EXPECT_EQ(read({write("a.zst", zstd)}).report.problems.size(), 0U) << block;
  }
}

TEST_F(Inputs, ZerosThatPadAGzipArchiveAreSkipped) {
  const std::string text = many_lines(100);
  const std::string padding(512, '\0');
  const Read one = read({write("a.gz", gzipped(text) + padding)});
  EXPECT_EQ(one.records.size(), read({write("a.log", text)}).records.size());
  EXPECT_TRUE(one.report.problems.empty());
  const Read two = read({write("b.gz", gzipped(text) + padding + gzipped(text) + padding)});
  EXPECT_EQ(two.records.size(), 2 * one.records.size());
  EXPECT_TRUE(two.report.problems.empty());
  EXPECT_EQ(read({write("c.gz", gzipped(text) + "rest")}).report.problems.size(), 1U);
}

TEST(BinaryKind, KnowsTheBytesOfAnUnknownCompression) {
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    std::string bytes(4096, 'a');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    ASSERT_NE(binary_kind(bytes), nullptr) << i;
  }
  EXPECT_EQ(binary_kind("\x01\x02 a short text"), nullptr);
  EXPECT_EQ(binary_kind(many_lines(10)), nullptr);
}

TEST_F(Inputs, APackedBombIsOneLongLineAndBoundedMemory) {
  // 16 MiB of one letter without a line end: a part of what is promised, on the same code path.
  const Read bomb =
      read({write("bomb.gz", gzipped(std::string(16 << 20, 'x') + "\n" + line_of(1)))});
  EXPECT_EQ(bomb.report.counts.overlong, 1U);
  ASSERT_EQ(bomb.records.size(), 2U);
  EXPECT_NE(bomb.records[1].find(":2 connected"), std::string::npos) << bomb.records[1];
}

TEST_F(Inputs, OtherFilesAreNamedAndTheRestIsRead) {
  const Read some =
      read({write("a.bin", std::string("\x7f"
                                       "ELF\x02\x01\x01",
                                       7) +
                               std::string(5000, '\1')),
            (folder_ / "gone.log").string(), write("b.log", line_of(1)), write("empty.log", "")});
  EXPECT_EQ(some.records.size(), 1U);
  ASSERT_EQ(some.report.problems.size(), 1U);
  EXPECT_NE(some.report.problems[0].what.find("an executable"), std::string::npos);
}

TEST_F(Inputs, AFolderWithoutPermissionIsNotEmpty) {
  write("a/rank0.log", line_of(0));
  write("b/rank1.log", line_of(1));
  fs::permissions(folder_ / "b", fs::perms::none);
  {
    const OtherUser user;
    const LogFiles part = find_logs({folder_.string()});
    ASSERT_EQ(part.files.size(), 1U) << "the other one is read";
    ASSERT_EQ(part.problems.size(), 1U);
    EXPECT_EQ(part.problems[0].file, (folder_ / "b").string());
    EXPECT_EQ(part.problems[0].what, "Permission denied");
    const LogFiles none = find_logs({(folder_ / "b").string()});
    EXPECT_TRUE(none.files.empty());
    ASSERT_EQ(none.problems.size(), 1U) << "it is not said to be empty";
    EXPECT_EQ(none.problems[0].what, "Permission denied");
  }
  fs::permissions(folder_ / "b", fs::perms::owner_all);
  const LogFiles all = find_logs({folder_.string()});
  EXPECT_EQ(all.files.size(), 2U);
  EXPECT_TRUE(all.problems.empty());
}

// A pipe in a folder would block the reader; a link to nothing is worth a note.
TEST_F(Inputs, PipesAndBrokenLinksOfAFolderAreNamedAndNotWaitedFor) {
  write("rank0.log", line_of(0));
  ASSERT_EQ(::mkfifo((folder_ / "pipe.log").c_str(), 0600), 0);
  fs::create_symlink("/nowhere", folder_ / "link.log");
  const LogFiles found = find_logs({folder_.string()});
  EXPECT_EQ(found.files.size(), 1U);
  ASSERT_EQ(found.problems.size(), 2U);
  std::string problems;
  for (const InputProblem& problem : found.problems)
    problems += problem.what + ", " + problem.help + "; ";
  EXPECT_NE(problems.find("a link to nothing, restore its target"), std::string::npos) << problems;
  EXPECT_NE(problems.find("a pipe"), std::string::npos) << problems;
}

TEST_F(Inputs, APipeThatIsNamedIsReadToTheEndOfItsWriter) {
  const std::string pipe = (folder_ / "pipe.log").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&pipe] { std::ofstream(pipe) << line_of(0) << line_of(1); });
  const Read all = read({pipe});
  writer.join();
  EXPECT_EQ(all.records.size(), 2U);
  EXPECT_TRUE(all.report.problems.empty());
}

TEST_F(Inputs, LinesWithoutTextKeepTheirNumbers) {
  const Read zeros =
      read({write("z.log", std::string(100, '\0') + line_of(1) + "\n\n" + line_of(2) +
                               "\xff\xfe\n" + line_of(3).substr(0, 50))});
  ASSERT_EQ(zeros.records.size(), 4U);
  EXPECT_NE(zeros.records[1].find("z.log:4 "), std::string::npos) << zeros.records[1];
  EXPECT_EQ(zeros.report.counts.binary, 1U);
  EXPECT_EQ(zeros.report.counts.lines, 6U);
}

TEST_F(Inputs, CountsUnrecognisedLinesByShape) {
  const Read odd =
      read({write("o.log", line_of(1, "FOO: bar 7 of 0x12") + line_of(2, "FOO: bar 8 of 0x99"))});
  ASSERT_EQ(odd.report.unparsed.size(), 1U);
  EXPECT_EQ(odd.report.unparsed[0].shape, "FOO: bar # of #");
  EXPECT_EQ(odd.report.unparsed[0].count, 2U);
  EXPECT_EQ(odd.report.unparsed[0].example, "FOO: bar 7 of 0x12");
}

TEST_F(Inputs, ManyFilesNeedNoOpenOnes) {
  for (int i = 0; i < 2000; ++i) write("many/rank" + std::to_string(i) + ".log", line_of(i));
  EXPECT_EQ(read({(folder_ / "many").string()}, 3).records.size(), 2000U);
}

TEST_F(Inputs, GrowingFilesAreFollowedThroughRotation) {
  const std::string path = write("f.log", line_of(1) + line_of(2).substr(0, 30));
  std::vector<std::string> seen;
  CallingSink sink([&](const Record& record, const Speaker& speaker) {
    seen.push_back(std::to_string(speaker.pid) + "@" + std::to_string(record.place.line));
  });
  auto follower = LogFollower::make({path}, sink);
  ASSERT_TRUE(follower);
  (*follower)->poll();
  EXPECT_EQ(seen, std::vector<std::string>{"101@0"});
  std::ofstream(path, std::ios::app) << line_of(2).substr(30) << line_of(3);
  (*follower)->poll();
  EXPECT_EQ(seen, (std::vector<std::string>{"101@0", "102@1", "103@2"}));
  EXPECT_EQ((*follower)->poll().value, 0U);
  write("f.log", line_of(4));  // shorter: it was begun again
  (*follower)->poll();
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen.back(), "104@0");
  fs::rename(path, path + ".1");  // rotated, and a longer one in its place
  write("f.log", line_of(5) + line_of(6) + "torn end");
  (*follower)->poll();
  EXPECT_EQ(seen.size(), 6U);
  (*follower)->finish();
  EXPECT_EQ(seen.size(), 7U);
  const ParseReport report = (*follower)->report();
  EXPECT_EQ(report.pieces.size(), 3U);
  EXPECT_EQ(report.counts.lines, 7U);
}

TEST_F(Inputs, WaitsFiveSecondsForTheWriterOfANamedPipe) {
  const std::string path = (folder_ / "lonely").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  FakeClock clock;
  const auto alone = open_source(path, 0, clock);
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, ErrorCode::NotFound);
  EXPECT_EQ(clock.elapsed(), std::chrono::seconds(5));
}

TEST_F(Inputs, ANamedPipeIsFollowedUntilItsWriterGoes) {
  const std::string path = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::size_t seen = 0;
  CallingSink sink([&](const Record&, const Speaker&) { ++seen; });
  auto follower = LogFollower::make({path}, sink);
  ASSERT_TRUE(follower);
  EXPECT_EQ((*follower)->poll().value, 0U) << "no program writes yet, and nothing waits for it";
  EXPECT_FALSE((*follower)->is_over());
  std::jthread writer([&] {
    std::ofstream pipe(path);
    for (int i = 0; i < 2'000; ++i) pipe << line_of(i);  // more than the 64 KiB that a pipe holds
    pipe << "the last line has no end";
  });
  while (!(*follower)->is_over()) (*follower)->poll();
  EXPECT_EQ(seen, 2'001U);
  EXPECT_TRUE((*follower)->is_over());
}

TEST_F(Inputs, AFileThatIsFollowedIsNeverOver) {
  CallingSink sink([](const Record&, const Speaker&) {});
  auto follower = LogFollower::make({write("f.log", line_of(1))}, sink);
  ASSERT_TRUE(follower);
  (*follower)->poll();
  EXPECT_FALSE((*follower)->is_over());
}

}  // namespace
}  // namespace ringside::logs
