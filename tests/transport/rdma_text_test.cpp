// Tests what RDMA decides and writes before it uses an adapter: settings, ports, GIDs, messages, error texts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/verbs_status.h"
#include "engine/transport/rdma/rdma_ack_watch.h"
#include "engine/transport/rdma/rdma_failure.h"
#include "engine/transport/rdma/rdma_message.h"
#include "engine/transport/rdma/rdma_ports.h"
#include "engine/transport/rdma/rdma_settings.h"
#include "engine/transport/rdma/rdma_slots.h"
#include "tests/support/environment_table.h"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RdmaSettings settings_of(std::map<std::string, std::string> values) {
  const auto settings = rdma_settings_from(environment_of(std::move(values)));
  EXPECT_TRUE(settings) << settings.error().message;
  return *settings;
}

TEST(RdmaSettings, AreNcclsDefaultsAndVariables) {
  const RdmaSettings usual = settings_of({});
  EXPECT_EQ(usual.timeout, 20);
  EXPECT_EQ(usual.retries, 7);
  EXPECT_EQ(usual.queues, 1);
  EXPECT_FALSE(usual.is_disabled);
  const RdmaSettings set = settings_of({{"NCCL_IB_DISABLE", "1"},
                                        {"NCCL_IB_TIMEOUT", "0x12"},
                                        {"NCCL_IB_QPS_PER_CONNECTION", "4"},
                                        {"NCCL_IB_SPLIT_DATA_ON_QPS", "1"},
                                        {"NCCL_IB_GID_INDEX", "-1"},
                                        {"NCCL_IB_TC", "106"}});
  EXPECT_TRUE(set.is_disabled);
  EXPECT_EQ(set.timeout, 18);
  EXPECT_EQ(set.queues, 4);
  EXPECT_TRUE(set.splits_data);
  EXPECT_EQ(set.gid_index, -1);
  EXPECT_EQ(set.traffic_class, 106);
}

TEST(RdmaAddress, ContainsKindAndQueues) {
  const std::vector<std::string> ports{"mlx5_0:1", "mlx5_1:1"};
  EXPECT_EQ(rdma_address(true, 4, ports), "RoCE 4 mlx5_0:1 mlx5_1:1");
  EXPECT_EQ(rdma_kind_of("RoCE 4 mlx5_0:1"), "RoCE");
  EXPECT_EQ(rdma_queues_of("IB 4 mlx5_0:1"), 4);
  for (const char* none : {"", "IB", "IB ", "IB mlx5_0:1", "IB -3 x", "IB 0"}) {
    EXPECT_EQ(rdma_queues_of(none), 1) << none;
  }
  EXPECT_EQ(rdma_queues_of("IB 100000 x"), static_cast<int>(kMostRdmaQueues / kMostRdmaPorts));
}

TEST(RdmaSettings, OutOfRangeValuesAreErrorsThatNameTheVariable) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"NCCL_IB_TIMEOUT", "32"},
                                          {"NCCL_IB_RETRY_CNT", "8"},
                                          {"NCCL_IB_GID_INDEX", "x"},
                                          {"NCCL_IB_QPS_PER_CONNECTION", "0"},
                                          {"NCCL_IB_ADDR_FAMILY", "INET"}}) {
    const auto settings = rdma_settings_from(environment_of({{name, value}}));
    ASSERT_FALSE(settings) << name;
    EXPECT_EQ(settings.error().code, ErrorCode::InvalidArgument);
    EXPECT_THAT(settings.error().message, HasSubstr(name));
  }
}

Gid ipv4(std::uint8_t last) { return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}}; }
Gid link_local(std::uint8_t last) {
  return {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}};
}

RdmaPort roce(const std::string& device, std::uint8_t last, const std::string& card) {
  return {.device = device,
          .number = 1,
          .is_ethernet = true,
          .state = "ACTIVE",
          .card = card,
          .gids = {{0, link_local(last), GidType::RoceV1, "eth0"},
                   {1, link_local(last), GidType::RoceV2, "eth0"},
                   {2, ipv4(last), GidType::RoceV1, "eth0"},
                   {3, ipv4(last), GidType::RoceV2, "eth0"}}};
}

RdmaPort infiniband(const std::string& device, const std::string& card) {
  return {.device = device,
          .number = 1,
          .is_ethernet = false,
          .state = "ACTIVE",
          .card = card,
          .gids = {{0, link_local(1), GidType::InfiniBand, ""}}};
}

TEST(RdmaGid, IsTheWantedVersionsAndFamilysUnlessOneIsAskedFor) {
  const RdmaPort port = roce("mlx5_0", 1, "0000:01:00");
  const auto index = [&](std::map<std::string, std::string> values) {
    return choose_gid(port, settings_of(std::move(values)), {})->index;
  };
  EXPECT_EQ(index({}), 3);
  EXPECT_EQ(index({{"NCCL_IB_ROCE_VERSION_NUM", "1"}}), 2);
  EXPECT_EQ(index({{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}), 1);
  EXPECT_EQ(index({{"NCCL_IB_GID_INDEX", "0"}}), 0);
  const auto none = choose_gid(port, settings_of({{"NCCL_IB_GID_INDEX", "7"}}), {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("3 (::ffff:10.0.0.1)"));
}

TEST(RdmaGid, PrefersAGidOfAnAddressOfThisHost) {
  RdmaPort port = roce("mlx5_0", 1, "0000:01:00");
  port.gids.push_back({4, ipv4(9), GidType::RoceV2, "eth0"});
  const std::array own{ipv4(9)};
  EXPECT_EQ(choose_gid(port, {}, own)->index, 4);
}

std::vector<std::string> devices_of(const std::vector<RdmaCard>& cards) {
  std::vector<std::string> texts;
  for (const RdmaCard& card : cards) {
    std::string text;
    for (const RdmaPort& port : card.ports) text += (text.empty() ? "" : "+") + port.device;
    texts.push_back(text);
  }
  return texts;
}

TEST(RdmaCards, AreActiveAndNamedInTheirOrderOnPciWithPortsOfOneMerged) {
  std::vector<RdmaPort> there{roce("mlx5_0", 1, "0000:81:00"), roce("mlx5_1", 2, "0000:01:00"),
                              roce("mlx5_2", 3, "0000:01:00"), roce("mlx5_3", 4, "0000:02:00")};
  there[3].state = "DOWN";
  const auto chosen = [&](std::map<std::string, std::string> values) {
    const auto cards = choose_rdma_cards(there, settings_of(std::move(values)), {});
    EXPECT_TRUE(cards) << cards.error().message;
    return devices_of(*cards);
  };
  EXPECT_THAT(chosen({}), ElementsAre("mlx5_1+mlx5_2", "mlx5_0"));
  EXPECT_THAT(chosen({{"NCCL_IB_MERGE_NICS", "0"}}), ElementsAre("mlx5_1", "mlx5_2", "mlx5_0"));
  EXPECT_THAT(chosen({{"NCCL_IB_HCA", "^mlx5_1"}}), ElementsAre("mlx5_2", "mlx5_0"));
  EXPECT_THAT(chosen({{"NCCL_IB_HCA", "=mlx5_0:1"}}), ElementsAre("mlx5_0"));
  const auto none = choose_rdma_cards(there, settings_of({{"NCCL_IB_HCA", "mlx5_3"}}), {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(none.error().message, HasSubstr("mlx5_3:1/RoCE (DOWN)"));
  EXPECT_THAT(none.error().message, HasSubstr("mlx5_0:1/RoCE (ACTIVE, not named by NCCL_IB_HCA)"));
}

TEST(RdmaCards, SkipsCardsOfAnotherNetworkNamespace) {
  const std::vector<RdmaPort> there{roce("rx1", 1, "rx1"), roce("rx2", 2, "rx2")};
  const std::array own{ipv4(2)};
  EXPECT_THAT(devices_of(*choose_rdma_cards(there, {}, own)), ElementsAre("rx2"));
  // If no card is known to be the rank's own, all cards are.
  EXPECT_EQ(choose_rdma_cards(there, {}, {})->size(), 2U);
}

TEST(RdmaCards, PrefersInfiniBandToRoceUnlessNamed) {
  const std::vector<RdmaPort> there{roce("mlx5_0", 1, "a"), infiniband("mlx5_1", "b")};
  EXPECT_THAT(devices_of(*choose_rdma_cards(there, {}, {})), ElementsAre("mlx5_1"));
  EXPECT_THAT(devices_of(*choose_rdma_cards(there, settings_of({{"NCCL_IB_HCA", "mlx5_0"}}), {})),
              ElementsAre("mlx5_0"));
}

void put(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << '\n';
}

TEST(RdmaPorts, AreReadAsTheKernelShowsThem) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("rdma-ports-" + std::to_string(::getpid()));
  const std::filesystem::path port = folder / "rxe0" / "ports" / "1";
  put(port / "state", "4: ACTIVE");
  put(port / "link_layer", "Ethernet");
  put(port / "rate", "2.5 Gb/sec (1X SDR)");
  put(port / "gids" / "0", "fe80:0000:0000:0000:5054:00ff:fe77:0001");
  put(port / "gids" / "1", "0000:0000:0000:0000:0000:ffff:0a4d:0001");
  put(port / "gids" / "2", "0000:0000:0000:0000:0000:0000:0000:0000");
  put(port / "gid_attrs" / "types" / "1", "RoCE v2");
  put(port / "gid_attrs" / "ndevs" / "1", "eth0");
  const auto ports = read_rdma_ports(folder.string());
  ASSERT_EQ(ports.size(), 1U);
  EXPECT_EQ(ports[0].text(), "rxe0:1/RoCE");
  EXPECT_TRUE(ports[0].is_active());
  EXPECT_EQ(ports[0].megabits, 2500);
  ASSERT_EQ(ports[0].gids.size(), 2U);
  EXPECT_EQ(to_string(ports[0].gids[1].gid), "::ffff:10.77.0.1");
  EXPECT_EQ(ports[0].gids[1].type, GidType::RoceV2);
  EXPECT_EQ(ports[0].gids[1].interface, "eth0");
  EXPECT_TRUE(read_rdma_ports((folder / "none").string()).empty());
  std::filesystem::remove_all(folder);
}

constexpr ConnectionShape kShape{Protocol::LL, Bytes{4096}};

RdmaEndInfo some_info() {
  return {.memory = 0x123456789a,
          .ports = {{ipv4(1), 17, 3, 3, true, "mlx5_0:1"}, {ipv4(2), 18, 0, 5, false, "mlx5_1:1"}},
          .queues = {{7, 1000}, {8, 0xffffff}}};
}

TEST(RdmaMessage, ContainsTheDataThatTheOtherEndNeeds) {
  const auto bytes = make_rdma_message(some_info(), kShape);
  EXPECT_LE(bytes.size(), kRdmaMessageLimit);
  const auto read = parse_rdma_message(bytes, kShape);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, some_info());
  EXPECT_EQ(parse_rdma_message(bytes, {Protocol::LL, Bytes{8192}}).error().code,
            ErrorCode::InvalidArgument);
}

TEST(RdmaMessage, RefusesOtherLengthsAndCounts) {
  const auto bytes = make_rdma_message(some_info(), kShape);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_rdma_message(std::span(bytes).first(size), kShape)) << size;
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(parse_rdma_message(longer, kShape));
  auto strange = bytes;
  strange[32 + 22] = std::byte{9};  // an MTU
  EXPECT_FALSE(parse_rdma_message(strange, kShape));
  strange = bytes;
  strange[32 + 24] = std::byte{27};  // a name that would colour a terminal
  EXPECT_FALSE(parse_rdma_message(strange, kShape));
}

TEST(RdmaMessage, AnswersReadyOrWhyNot) {
  EXPECT_TRUE(parse_rdma_answer(make_rdma_answer({})));
  const Error why{ErrorCode::System, "no route"};
  EXPECT_THAT(parse_rdma_answer(make_rdma_answer(why)).error().message, HasSubstr("no route"));
  EXPECT_FALSE(parse_rdma_answer({}));
}

TEST(RdmaMark, HoldsSlotAndLength) {
  const RdmaMark mark = RdmaMark::from_word(RdmaMark{255, RdmaMark::kLongest}.word());
  EXPECT_EQ(mark.slot, 255U);
  EXPECT_EQ(mark.bytes, RdmaMark::kLongest);
}

TEST(RdmaSlots, AreSplitAtLinesCompletely) {
  for (std::size_t bytes = 1; bytes < 3000; bytes += 37) {
    for (std::size_t queues = 1; queues <= 8; ++queues) {
      const std::size_t part = rdma_part(bytes, queues);
      EXPECT_EQ(part % RdmaSlots::kGrain, 0U);
      EXPECT_GE(part * queues, bytes);
    }
  }
}

// The word that frees slots is written after half of them: with LL, once for 16 messages.
TEST(RdmaSlots, AreMoreWhereAMessageIsAsShortAsTheWordThatFreesThem) {
  const RdmaSlots lines({Protocol::LL, 4_KiB});
  EXPECT_EQ(lines.slots, 32U);
  EXPECT_EQ(lines.offset(31), 31 * lines.stride);
  EXPECT_EQ(lines.offset(32), 0U);
  EXPECT_EQ(RdmaSlots({Protocol::Simple, 128_KiB}).slots, 8U);
}

RdmaPath some_path() {
  return {.peer = "10.0.0.2:4000",
          .device = "mlx5_0:1",
          .remote_device = "mlx5_3:1",
          .local = ipv4(1),
          .remote = ipv4(2),
          .gid_index = 3,
          .queue = 17,
          .remote_queue = 21};
}

TEST(RdmaFailure, NamesStatusVendorPeerDeviceGidsQueueAndCause) {
  const Error error = rdma_completion_error(12, 129, true, some_path());
  EXPECT_EQ(error.code, ErrorCode::Unreachable);
  for (const char* part : {"IBV_WC_RETRY_EXC_ERR(12)", "vendor_err=129", "peer 10.0.0.2:4000",
                           "localGid ::ffff:10.0.0.1", "remoteGid ::ffff:10.0.0.2", "qp 17 to 21",
                           "hca mlx5_0:1 to mlx5_3:1", "req_type=Send"}) {
    EXPECT_THAT(error.message, HasSubstr(part));
  }
  EXPECT_THAT(error.help, HasSubstr("no acknowledgement"));
  EXPECT_THAT(with_answering_host(error).message, HasSubstr("answers over TCP"));
  RdmaPath path = some_path();
  path.mtu = 1024;
  EXPECT_THAT(rdma_completion_error(12, 129, true, path).help, HasSubstr("up to 1024 bytes"));
  EXPECT_EQ(rdma_completion_error(10, 129, true, path).help.find("1024"), std::string::npos);
  EXPECT_STREQ(verbs_status_name(99), "unknown");
}

// With NCCL's defaults: 4.096 us x 2^20 x 8 tries = 34.4 s. With a time-out of 14, 0.5 s; but TCP's 8 s are the
// minimum.
TEST(RdmaAckWatch, IsNoticedWhenTheAdapterShouldHaveGivenUp) {
  const auto at = [](double seconds) {
    return Clock::Time{std::chrono::duration_cast<Nanoseconds>(Seconds{seconds})};
  };
  RdmaAckWatch usual(RdmaSettings{});
  EXPECT_FALSE(usual.look(0, 0, at(0)));
  EXPECT_FALSE(usual.look(3, 0, at(100)));  // the time of the post is unknown: it counts from here
  EXPECT_FALSE(usual.look(3, 0, at(134)));
  EXPECT_TRUE(usual.look(3, 0, at(134.4)));
  EXPECT_FALSE(usual.look(4, 1, at(134.5)));
  EXPECT_FALSE(usual.look(4, 4, at(200)));
  EXPECT_FALSE(usual.look(5, 4, at(300)));

  RdmaSettings quick;
  quick.timeout = 14;
  RdmaAckWatch brief(quick);
  EXPECT_FALSE(brief.look(1, 0, at(0)));
  EXPECT_FALSE(brief.look(1, 0, at(7.9)));
  EXPECT_TRUE(brief.look(1, 0, at(8)));
}

TEST(RdmaAckWatch, IsReportedWithPathAndMtu) {
  RdmaPath path = some_path();
  path.mtu = 1024;
  const Error error = with_answering_host(rdma_unacknowledged_error(Seconds{8.2}, path));
  EXPECT_EQ(error.code, ErrorCode::Unreachable);
  EXPECT_THAT(error.message, HasSubstr("peer 10.0.0.2:4000 has acknowledged nothing for 8 s"));
  EXPECT_THAT(error.message, HasSubstr("qp 17 to 21 hca mlx5_0:1 to mlx5_3:1"));
  EXPECT_THAT(error.message, HasSubstr("the MTU differs on the way"));
  EXPECT_THAT(error.message, HasSubstr("an adapter was removed"));
  EXPECT_THAT(error.help, HasSubstr("up to 1024 bytes"));
}

TEST(RdmaFailure, AConnectFailureNamesBothGidsAndTheUsualCause) {
  const Error error = rdma_connect_error(ETIMEDOUT, "INIT", "RTR", some_path());
  EXPECT_THAT(error.message,
              HasSubstr("Call to ibv_modify_qp failed with 110 Connection timed out, on "
                        "dev mlx5_0:1, curr state INIT, next state RTR, local GID index 3"));
  EXPECT_THAT(error.help, HasSubstr("NCCL_IB_GID_INDEX"));
}

TEST(RdmaFailure, AMemoryFailureNamesTheLimitAndTheFix) {
  const Error error = rdma_memory_error(ENOMEM, 1 << 20, 65536, "mlx5_0:1");
  EXPECT_THAT(error.message, HasSubstr("ulimit -l): 64 KiB"));
  EXPECT_THAT(error.help, HasSubstr("ulimit -l unlimited"));
}

}  // namespace
}  // namespace ringside
