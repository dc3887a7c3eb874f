#include "engine/transport/socket/address.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

TEST(SocketAddress, TextGoesThereAndBack) {
  for (const char* text : {"127.0.0.1:4000", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:4000",
                           "[fd00::2:1]:1", "[::]:0"}) {
    const auto address = parse_socket_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(to_string(*address), text);
  }
}

TEST(SocketAddress, RefusesInvalidAddressesAndNamesTheReason) {
  const struct {
    const char* text;
    const char* why;
  } cases[] = {
      {"", "no ':port'"},
      {"127.0.0.1", "no ':port'"},
      {"127.0.0.1:", "the port '' is not a number"},
      {"127.0.0.1:65536", "the port '65536' is not a number from 0 to 65535"},
      {"127.0.0.1:-1", "the port '-1'"},
      {"127.0.0.1:4x", "the port '4x'"},
      {"127.0.0:1", "'127.0.0' is not an IPv4 address"},
      {"head-node:1", "'head-node' is not an IPv4 address"},
      {"::1:4000", "an IPv6 address needs brackets"},
      {"[::1:4000", "'[' without ']'"},
      {"[::1]4000", "no ':port' after ']'"},
      {"[127.0.0.1]:4000", "is not an IPv6 address"},
      {"[fe80::1%eth0]:4000", "a zone ('%') means nothing on another host"},
  };
  for (const auto& [text, why] : cases) {
    const auto address = parse_socket_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(address.error().message.find(why), std::string::npos) << address.error().message;
  }
  EXPECT_FALSE(parse_socket_address(std::string("127.0.0.1\0:1", 12)));
}

TEST(SocketAddress, TheWholeOf127IsLoopback) {
  EXPECT_TRUE(is_loopback(loopback_address()));
  EXPECT_TRUE(is_loopback(*parse_socket_address("127.0.1.1:1")));
  EXPECT_TRUE(is_loopback(*parse_socket_address("[::1]:1")));
  EXPECT_FALSE(is_loopback(*parse_socket_address("10.0.0.1:1")));
  EXPECT_FALSE(is_loopback(*parse_socket_address("[fd00::1]:1")));
}

TEST(Endpoint, AnAbstractNameBeginsWithAtAndFitsTheKernelsField) {
  const auto name = parse_endpoint("@ringside-7-shm");
  ASSERT_TRUE(name);
  EXPECT_EQ(std::get<AbstractName>(*name).name, "ringside-7-shm");
  EXPECT_EQ(to_string(*name), "@ringside-7-shm");
  EXPECT_TRUE(parse_endpoint("@" + std::string(107, 'x')));
  EXPECT_FALSE(parse_endpoint("@" + std::string(108, 'x')));
  EXPECT_FALSE(parse_endpoint("@"));
  EXPECT_TRUE(parse_endpoint("127.0.0.1:4000"));
}

TEST(HostPort, TakesNamesAndAddressesButNoPortZero) {
  const auto name = parse_host_port("head-node.cluster:29500");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->host, "head-node.cluster");
  EXPECT_EQ(name->port, 29500);
  EXPECT_EQ(parse_host_port("[fd00::1]:7")->host, "fd00::1");
  EXPECT_FALSE(parse_host_port("head-node:0"));
  EXPECT_FALSE(parse_host_port(":29500"));
  EXPECT_FALSE(parse_host_port("head-node"));
}

TEST(ResolveAddress, AnAddressResolvesToItself) {
  EXPECT_EQ(to_string(*resolve_address("127.0.0.1", 9)), "127.0.0.1:9");
  EXPECT_EQ(to_string(*resolve_address("::1", 9)), "[::1]:9");
  EXPECT_FALSE(resolve_address("", 9));
}

}  // namespace
}  // namespace ringside
