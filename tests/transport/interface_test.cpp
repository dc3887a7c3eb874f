#include "engine/transport/socket/interface.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace ringside {
namespace {

Interface make(const char* name, const char* address, bool is_up = true) {
  return {name, *parse_socket_address(address), is_up};
}

const std::vector<Interface> kHost = {
    make("lo", "127.0.0.1:0"),         make("docker0", "172.17.0.1:0"), make("eth0", "10.0.0.1:0"),
    make("eth1", "10.0.1.1:0", false), make("eth10", "10.0.10.1:0"),    make("lo", "[::1]:0"),
    make("eth0", "[fd00::1]:0"),
};

std::string chosen(const InterfaceSettings& settings, std::span<const Interface> there = kHost) {
  const auto interface = choose_interface(there, settings);
  return interface ? interface->name + " " + to_string(interface->address)
                   : "error: " + interface.error().message;
}

TEST(ChooseInterface, WithoutASettingNeitherDockerNorLoopbackIsTaken) {
  EXPECT_EQ(chosen({}), "eth0 10.0.0.1:0");
}

TEST(ChooseInterface, InfinibandGoesBeforeEthernet) {
  std::vector<Interface> there = kHost;
  there.push_back(make("ib0", "10.1.0.1:0"));
  EXPECT_EQ(chosen({}, there), "ib0 10.1.0.1:0");
}

TEST(ChooseInterface, UsesLoopbackIfNothingElseIsUpOrAllRanksAreOnOneHost) {
  EXPECT_EQ(chosen({}, std::vector{make("lo", "127.0.0.1:0"), make("eth0", "10.0.0.1:0", false)}),
            "lo 127.0.0.1:0");
  EXPECT_EQ(chosen({.is_single_host = true}), "lo 127.0.0.1:0");
  EXPECT_EQ(chosen({.names = "eth", .is_single_host = true}), "eth0 10.0.0.1:0");  // a setting wins
}

TEST(ChooseInterface, NamesFollowNcclsGrammar) {
  EXPECT_EQ(chosen({.names = "eth"}), "eth0 10.0.0.1:0");
  EXPECT_EQ(chosen({.names = "eth1"}), "eth10 10.0.10.1:0");  // a prefix, and eth1 itself is down
  EXPECT_EQ(chosen({.names = "ib,docker"}), "docker0 172.17.0.1:0");
  EXPECT_EQ(chosen({.names = "=eth10"}), "eth10 10.0.10.1:0");
  EXPECT_EQ(chosen({.names = "^lo,docker"}), "eth0 10.0.0.1:0");
  EXPECT_EQ(chosen({.names = "^=lo,eth0"}), "docker0 172.17.0.1:0");
}

TEST(ChooseInterface, AFamilyCanBeAskedFor) {
  EXPECT_EQ(chosen({.family = SocketAddress::Family::V6}), "eth0 [fd00::1]:0");
  EXPECT_EQ(chosen({.names = "lo", .family = SocketAddress::Family::V6}), "lo [::1]:0");
}

TEST(ChooseInterface, AMissingInterfaceIsASystemErrorThatNamesTheSettingAndTheOthers) {
  const auto missing = choose_interface(kHost, {.names = "=eth1"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::System);
  EXPECT_EQ(missing.error().message,
            "no interface that is up fits NCCL_SOCKET_IFNAME='=eth1'; there are: lo (127.0.0.1), "
            "docker0 (172.17.0.1), eth0 (10.0.0.1), eth1 (10.0.1.1, down), eth10 (10.0.10.1), "
            "lo ([::1]), eth0 ([fd00::1])");
}

TEST(InterfaceSettings, ComesFromTheEnvironment) {
  std::map<std::string, std::string> table{{"NCCL_SOCKET_IFNAME", "=eth0"},
                                           {"NCCL_SOCKET_FAMILY", "AF_INET6"}};
  const Environment environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = table.find(name);
    return found == table.end() ? std::nullopt : std::optional(found->second);
  };
  const auto settings = interface_settings_from(environment, true);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->names, "=eth0");
  EXPECT_EQ(settings->family, SocketAddress::Family::V6);
  EXPECT_TRUE(settings->is_single_host);
  table["NCCL_SOCKET_FAMILY"] = "AF_IENT";
  EXPECT_FALSE(interface_settings_from(environment, true));
}

}  // namespace
}  // namespace ringside
