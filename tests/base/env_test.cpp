#include "base/env.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/environment_table.h"

namespace ringside {
namespace {

TEST(EnvInt, ReadsDecimalHexadecimalAndOctalAsNcclDoes) {
  const Environment environment =
      environment_of({{"D", "20"}, {"H", "0x14"}, {"O", "024"}, {"N", "-1"}});
  EXPECT_EQ(**env_int(environment, "D", 0, 64), 20);
  EXPECT_EQ(**env_int(environment, "H", 0, 64), 20);
  EXPECT_EQ(**env_int(environment, "O", 0, 64), 20);
  EXPECT_EQ(**env_int(environment, "N", -1, 64), -1);
}

TEST(EnvInt, IsEmptyIfTheVariableIsUnsetOrEmpty) {
  const Environment environment = environment_of({{"EMPTY", ""}});
  EXPECT_FALSE(env_int(environment, "EMPTY", 0, 64)->has_value());
  EXPECT_FALSE(env_int(environment, "UNSET", 0, 64)->has_value());
}

TEST(EnvInt, NamesTheVariableItsValueAndTheRange) {
  for (const char* const text : {"16x", "x", "1.5", "65", "99999999999999999999"}) {
    const auto value = env_int(environment_of({{"V", text}}), "V", 1, 64);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(value.error().message.find(std::string("V='") + text + "'"), std::string::npos);
    EXPECT_NE(value.error().help.find("from 1 to 64"), std::string::npos);
  }
}

TEST(EnvInt, SaysWhetherANumberIsMissingOrOutOfRange) {
  constexpr const char* kName = "RINGSIDE_TEST_OF_ENV_INT";
  const auto message = [](const char* text) {
    ::setenv(kName, text, 1);  // NOLINT(concurrency-mt-unsafe): no other thread
    return env_int(kName, 1, 64).error().message;
  };
  EXPECT_NE(message("65").find("is out of range"), std::string::npos);
  EXPECT_NE(message("0x14").find("is not a whole number"), std::string::npos);
  ::unsetenv(kName);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace
}  // namespace ringside
