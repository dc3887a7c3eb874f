#include "study/host_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/topology/host_edit.h"
#include "engine/topology/sources/load_hosts.h"

namespace ringside::study {
namespace {

using testing::ElementsAre;

Host preset(const std::string& name) { return load_hosts(name, 1, {})->runs.front().host; }

std::vector<std::string> names(Host host) {
  std::vector<std::string> all;
  for (const HostNetPlace& place : nets_of(host)) all.push_back(place.net->name);
  return all;
}

TEST(HostChanges, KeepsNicsEvenlyAndNumbersThemAnew) {
  Host host = preset("dgx-h100");
  ASSERT_TRUE(change_host(host, {.nics = 4}));
  EXPECT_THAT(names(host), ElementsAre("mlx5_0", "mlx5_2", "mlx5_4", "mlx5_6"));
  EXPECT_EQ(nets_of(host).back().net->dev, 3);
  ASSERT_TRUE(change_host(host, {.nics = 3}));
  EXPECT_THAT(names(host), ElementsAre("mlx5_0", "mlx5_2", "mlx5_4"));
}

TEST(HostChanges, DropsOneNic) {
  Host host = preset("dgx-a100");
  ASSERT_TRUE(change_host(host, {.drop_rail = 2}));
  EXPECT_THAT(names(host), testing::Not(testing::Contains("mlx5_2")));
  EXPECT_EQ(names(host).size(), names(preset("dgx-a100")).size() - 1);
  EXPECT_FALSE(change_host(host, {.drop_rail = 7}));
  EXPECT_FALSE(change_host(host, {.nics = 0}));
  Host one = preset("one-gpu-one-nic");
  EXPECT_FALSE(change_host(one, {.drop_rail = 0}));
}

TEST(HostChanges, TurnsGpuDirectOffAndOn) {
  Host host = preset("dgx-h100");
  ASSERT_TRUE(change_host(host, {.gdr = false}));
  for (const HostNetPlace& place : nets_of(host)) EXPECT_FALSE(place.net->gdr);
  ASSERT_TRUE(change_host(host, {.gdr = true}));
  for (const HostNetPlace& place : nets_of(host)) EXPECT_TRUE(place.net->gdr);
  for (const HostGpuPlace& place : gpu_places_of(host)) EXPECT_TRUE(place.gpu->gdr);
  EXPECT_EQ(names(host).size(), 8U);
}

TEST(HostChanges, SettingsAreReadFromText) {
  HostChanges changes;
  ASSERT_TRUE(apply_host_setting(changes, "nics", "4"));
  ASSERT_TRUE(apply_host_setting(changes, "drop_rail", "2"));
  ASSERT_TRUE(apply_host_setting(changes, "gdr", "off"));
  EXPECT_EQ(changes, (HostChanges{.nics = 4, .drop_rail = 2, .gdr = false}));
  EXPECT_FALSE(apply_host_setting(changes, "nics", "four"));
  EXPECT_TRUE(apply_host_setting(changes, "nic_rate", "1Mbit/s"));
  EXPECT_FALSE(apply_host_setting(changes, "nic_rate", "1Kbit/s"))
      << "descriptions have whole Mbit/s";
  EXPECT_FALSE(apply_host_setting(changes, "gdr", "4"));
  EXPECT_FALSE(is_host_key("NCCL_ALGO"));
}

}  // namespace
}  // namespace ringside::study
