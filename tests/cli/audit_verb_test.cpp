#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/cli/program.h"

// The audit as people start it, on the log of an invented job.

namespace ringside {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The log of two hosts without peer memory, with the topology in it.
std::string log_without_gdr() {
  const std::string folder = temporary_path("audit-verb");
  std::filesystem::remove_all(folder);
  const Outcome made =
      run_program({"generate", "logs", "-o", folder, "--on", "dgx-a100", "--nodes", "2", "--nccl",
                   "2.21.5", "--interleave", "--subsys", "INIT,GRAPH,ENV", "--break", "gdr"});
  EXPECT_EQ(made.status, 0) << made.err;
  return folder + "/job.log";
}

TEST(AuditVerb, AFollowedPipeEndsWithItsWriterAndGivesOneDocument) {
  const std::string log = text_of(log_without_gdr());
  const std::string pipe = temporary_path("audit-pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(pipe, std::ios::binary) << log; });
  const Outcome followed = run_program({"audit", "-f", "--json", pipe});
  EXPECT_EQ(followed.status, 1);
  EXPECT_NE(followed.err.find("gdr_missing"), std::string::npos) << "reported while it was read";
  const auto document = nlohmann::json::parse(followed.out, nullptr, false);
  ASSERT_TRUE(document.is_object()) << followed.out.substr(0, 300);
  EXPECT_EQ(document["findings"][0]["id"], "gdr_missing");
}

TEST(AuditVerb, TheTopologyOfALogIsAHostForOtherVerbs) {
  const std::string xml = temporary_path("audit-host.xml");
  const Outcome written = run_program({"audit", "--topo", xml, log_without_gdr()});
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_NE(written.out.find("--nodes 2"), std::string::npos) << written.out;
  const Outcome read =
      run_program({"explain", "all_reduce", "--bytes", "1G", "--on", xml, "--nodes", "2"});
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_NE(read.out.find("16 ranks, 2 nodes, 16 channels"), std::string::npos)
      << read.out.substr(0, 200);
}

TEST(AuditVerb, ThePageIsWrittenInAdditionToTheText) {
  const std::string page = temporary_path("audit.html");
  EXPECT_EQ(run_program({"audit", "--html", page, log_without_gdr()}).status, 1);
  const std::string text = text_of(page);
  EXPECT_TRUE(text.ends_with("</html>\n"));
  EXPECT_NE(text.find("gdr_missing"), std::string::npos);
  EXPECT_EQ(text.find("src="), std::string::npos) << "it needs no other file";
}

TEST(AuditVerb, AFindingIsExplainedByItsId) {
  const Outcome page = run_program({"audit", "--about", "gid_index"});
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_TRUE(page.out.starts_with("# gid_index\n")) << page.out.substr(0, 80);
  const Outcome wrong = run_program({"audit", "--about", "gid_indx"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("--about all"), std::string::npos) << wrong.err;
}

// Empty logs are not reported as healthy.
TEST(AuditVerb, AnEmptyOrBinaryFileIsBadInput) {
  const std::string folder = temporary_path("audit-nothing");
  std::filesystem::create_directories(folder);
  const std::string empty = folder + "/empty.log";
  std::ofstream(empty) << "";
  const std::string binary = folder + "/binary.log";
  std::ofstream(binary, std::ios::binary) << std::string(
      "\x7f"
      "ELF\x02\x01\x01\0\0\0",
      10);
  const std::string zeros = folder + "/zeros.log";
  std::ofstream(zeros, std::ios::binary) << std::string(8192, '\0');
  const std::string blank = folder + "/blank.log";
  std::ofstream(blank) << "\n \n\r\n\n";
  const std::string noise = folder + "/noise.bin";
  {
    std::ofstream file(noise, std::ios::binary);
    unsigned state = 1;  // of a linear congruential generator: each byte as often as any other
    for (int i = 0; i < 100'000; ++i)
      file.put(static_cast<char>((state = state * 1103515245 + 12345) >> 16));
  }
  for (const std::vector<std::string>& logs :
       {std::vector<std::string>{empty}, {binary}, {zeros}, {blank}, {noise}, {folder}}) {
    for (const char* const how : {"--json", "--facts", "-v"}) {
      std::vector<std::string> words{"audit", how};
      words.insert(words.end(), logs.begin(), logs.end());
      const Outcome outcome = run_program(words);
      EXPECT_EQ(outcome.status, 2) << logs[0] << ": " << outcome.out;
      EXPECT_EQ(outcome.out, "");
      EXPECT_NE(outcome.err.find(folder), std::string::npos) << outcome.err;
      EXPECT_NE(outcome.err.find("help:"), std::string::npos) << outcome.err;
    }
  }
  const Outcome both = run_program({"audit", empty, log_without_gdr()});
  EXPECT_EQ(both.status, 1) << "what can be read is judged";
}

TEST(AuditVerb, APasteOfUnknownWarningsIsNotHealthy) {
  const std::string paste = temporary_path("paste.md");
  std::ofstream(paste) << "> NCCL WARN The flux of the network is inverted\n";
  const Outcome unread = run_program({"audit", paste});
  EXPECT_EQ(unread.status, 1);
  EXPECT_NE(unread.out.find("not understood"), std::string::npos) << unread.out;
}

}  // namespace
}  // namespace ringside
