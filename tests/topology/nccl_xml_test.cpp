#include "engine/topology/sources/nccl_xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/small_hosts.h"

namespace ringside {
namespace {

using namespace small_hosts;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string one_gpu(const std::string& more = {}) {
  return system(cpu(0, gpu({.bus = "1b:00.0"}) + more));
}

void expect_refused(const std::string& xml, const std::string& message, const std::string& help) {
  SCOPED_TRACE(xml.substr(0, 400));
  const auto host = parse_nccl_xml(xml, "host.xml");
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code, ErrorCode::Corrupt);
  EXPECT_THAT(host.error().message, StartsWith("host.xml:"));
  EXPECT_THAT(host.error().message, HasSubstr(message));
  EXPECT_THAT(host.error().help, HasSubstr(help));
}

TEST(NcclXml, EveryElementIsRead) {
  const Host host = parsed(system(cpu(
      1, bridge("10:00.0",
                gpu({.bus = "1b:00.0",
                     .dev = 2,
                     .sm = 90,
                     .inside = nvswitch(18) + "<c2c bw=\"44712\" count=\"10\"/>"}) +
                    pci("1c:00.0", "0x020700",
                        "<nic><net name=\"mlx5_0\" dev=\"3\" latency=\"1.5\" speed=\"400000\" "
                        "port=\"2\" guid=\"0xa1\" maxconn=\"9\" gdr=\"1\" coll=\"1\" rail=\"4\" "
                        "plane=\"5\" keep=\"1\"/></nic>") +
                    "<pcilink target=\"0000:20:00.0\"/>",
                "vendor=\"0x1000\" device=\"0xc010\"") +
             "<nic><net dev=\"7\"/></nic>")));
  ASSERT_EQ(host.cpus.size(), 1U);
  const HostCpu& cpu = host.cpus[0];
  EXPECT_EQ(cpu.numa, 1);
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.model, 106);
  ASSERT_EQ(cpu.nics.size(), 1U);
  EXPECT_EQ(cpu.nics[0].nets[0].dev, 7);
  EXPECT_EQ(cpu.nics[0].nets[0].guid, 7U) << "as NCCL numbers a device without a guid";
  const HostPci& bridge = cpu.pci[0];
  EXPECT_EQ(bridge.device_class, 0x060400U);
  EXPECT_EQ(bridge.device, "0xc010");
  EXPECT_EQ(bridge.link_width, 16);
  EXPECT_EQ(bridge.peer_switches, std::vector<std::string>{"0000:20:00.0"});
  const HostGpu& gpu = *bridge.children[0].gpu;
  EXPECT_EQ(gpu.dev, 2);
  EXPECT_EQ(gpu.rank, 2);
  EXPECT_TRUE(gpu.gdr);
  EXPECT_EQ(gpu.nvlinks[0].target_class, 0x068000U);
  EXPECT_EQ(gpu.c2c->mbytes_per_second, 44712);
  const HostNet& net = bridge.children[1].nic->nets[0];
  EXPECT_EQ(net.mbits_per_second, 400000);
  EXPECT_EQ(net.latency_us, 1.5);
  EXPECT_EQ(net.port, 2);
  EXPECT_EQ(net.guid, 0xA1U);
  EXPECT_EQ(net.max_connections, 9);
  EXPECT_TRUE(net.coll);
  EXPECT_EQ(net.rail, 4);
  EXPECT_EQ(net.plane, 5);
}

TEST(NcclXml, GpusWithoutAnyRankAreNumberedInFileOrder) {
  const std::string bare = "<gpu dev=\"5\" sm=\"80\"/>";
  const Host host =
      parsed(system(cpu(0, pci("1b:00.0", "0x030200", bare) + pci("1c:00.0", "0x030200", bare))));
  const auto gpus = gpus_of(host);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0]->rank, 0);
  EXPECT_EQ(gpus[1]->rank, 1);
}

TEST(NcclXml, AGpuWithoutARankNextToOneWithARankTakesNoPart) {
  const Host host = parsed(one_gpu(pci("1c:00.0", "0x030200", "<gpu dev=\"1\" sm=\"80\"/>")));
  EXPECT_EQ(gpus_of(host).size(), 1U);
}

TEST(NcclXml, AnNvLinkToAGpuThatTheFileLacksIsSkipped) {
  const auto systems =
      systems_of(system(cpu(0, gpu({.bus = "1b:00.0", .inside = nvlink("2b:00.0", 4)}))), 1);
  for (const Link& link : systems[0].links) EXPECT_NE(link.kind, LinkKind::Nvl);
}

TEST(NcclXml, RefusesInvalidXmlAndNamesTheLine) {
  expect_refused("", "not XML", "complete");
  expect_refused("<system version=\"1\">\n<cpu numaid=\"0\"", "host.xml:2: not XML", "complete");
  const std::string whole = one_gpu(nic("1c:00.0", 0));
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    EXPECT_FALSE(parse_nccl_xml(whole.substr(0, size), "host.xml")) << size;
  }
  expect_refused(std::string("<system version=\"1\">\0</system>", 31), "a zero byte", "not text");
}

TEST(NcclXml, EntitiesAreRefusedAndNotExpanded) {
  expect_refused("<!DOCTYPE s [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]>\n" + one_gpu(),
                 "document type", "DOCTYPE");
}

// Names of adapters are written into logs: a line break in one would begin a line of the file's own.
TEST(NcclXml, ControlCharactersInAttributesAreRefused) {
  for (const char* const name : {"mlx5_0&#10;h:1:1 [0] NCCL WARN x", "a&#13;", "&#27;[2J"}) {
    expect_refused(one_gpu(pci("1c:00.0", "0x020700",
                               std::string("<nic><net name=\"") + name +
                                   "\" dev=\"0\" latency=\"1\" speed=\"400000\" port=\"1\" "
                                   "guid=\"0xa1\" maxconn=\"1\" gdr=\"1\"/></nic>")),
                   "attribute name has a control character", "leave it out");
  }
}

TEST(NcclXml, AnotherDocumentIsRefused) {
  expect_refused("<graphs version=\"1\"/>", "no <system>", "NCCL_TOPO_DUMP_FILE");
  expect_refused(one_gpu() + one_gpu(), "more than one element", "<system>");
  expect_refused("<system version=\"2\"/>", "version 2", "version=\"1\"");
  expect_refused("<system/>", "lacks the attribute version", "version=\"1\"");
}

TEST(NcclXml, AnElementUnknownOrOutOfPlaceNamesTheNearest) {
  expect_refused(system("<cpi numaid=\"0\"/>"), "<cpi> is not allowed inside <system>",
                 "did you mean 'cpu'?");
  expect_refused(one_gpu("<gpu dev=\"1\" sm=\"80\"/>"), "<gpu> is not allowed inside <cpu>", "pci");
  expect_refused(one_gpu("words"), "text inside <cpu>", "elements");
}

TEST(NcclXml, ADeviceComesOnce) {
  expect_refused(one_gpu(nic("1b:00.0", 0)), "host.xml:6: PCI address 0000:1b:00.0 appears twice",
                 "once");
  expect_refused(one_gpu(nic("1c:00.0", 0) + nic("1d:00.0", 0)), "network device 0 appears twice",
                 "dev of its own");
  expect_refused(one_gpu(gpu({.bus = "1c:00.0"})), "rank 0 appears twice", "its own");
  expect_refused(system(cpu(0, gpu({.bus = "1b:00.0"})) + cpu(0, "")), "NUMA node 0 appears twice",
                 "numaid");
  expect_refused(system("<cpu numaid=\"0\" numaid=\"1\" arch=\"arm64\"/>"),
                 "attribute numaid appears twice", "keep one");
}

TEST(NcclXml, RefusesAbsurdNumbers) {
  expect_refused(one_gpu(nic("1c:00.0", 0, -1)), "speed=\"-1\"", "speed=\"0\"");
  expect_refused(one_gpu(nic("1c:00.0", -1)), "dev=\"-1\"", "dev=\"0\"");
  expect_refused(system(cpu(0, gpu({.bus = "1b:00.0", .sm = 8000}))), "sm=\"8000\"", "sm=\"90\"");
  expect_refused(system(cpu(0, gpu({.bus = "1b:00.0", .inside = nvswitch(0)}))), "count=\"0\"",
                 "count");
  expect_refused(
      system(cpu(0, gpu({.bus = "1b:00.0", .inside = "<c2c bw=\"2000000000\" count=\"2\"/>"}))),
      "bw=\"2000000000\"", "44712");
  expect_refused(one_gpu("<nic><net dev=\"0\" latency=\"nan\"/></nic>"), "latency=\"nan\"", "");
}

TEST(NcclXml, AMalformedAddressOrClassIsRefused) {
  expect_refused(system(cpu(0, gpu({.bus = "1b:00"}))), "'0000:1b:00' is not a PCI address",
                 "0000:1b:00.0");
  expect_refused(one_gpu(pci("1c:00.0", "0x120000", "")), "unknown class 0x120000", "0x060400");
  expect_refused(one_gpu(pci("1c:00.0", "", "")), "lacks the attribute class", "0x060400");
  expect_refused(system("<cpu numaid=\"0\" arch=\"x86\"/>"), "unknown arch \"x86\"", "x86_64");
}

TEST(NcclXml, AnNvLinkThatItsOtherEndDoesNotListIsRefused) {
  expect_refused(system(cpu(0, gpu({.bus = "1b:00.0", .inside = nvlink("1c:00.0", 4)}) +
                                   gpu({.bus = "1c:00.0", .dev = 1}))),
                 "does not list", "both GPUs");
}

// source  nccl-versions 12.1: a missing familyid is an error; up to 2.30 NCCL does not read it
TEST(NcclXml, AnAmdCpuWithoutAFamilyIsRefusedBy231) {
  std::string text = system(cpu(0, gpu({.bus = "1b:00.0"}), "amd"));
  const std::string family = " familyid=\"23\"";
  text.erase(text.find(family), family.size());
  const Host host = parsed(text);
  const Host* const hosts[] = {&host};
  const auto systems = [&](const char* release) {
    TopologyParameters parameters;
    parameters.rules = *load_topology_rules(release);
    return make_systems({.hosts = hosts, .first_rank = 0, .nranks = 1}, parameters);
  };
  EXPECT_TRUE(systems("2.30"));
  const auto refused = systems("2.31");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused.error().message, StartsWith(host.cpus[0].lacks_family_at + ": a <cpu>"));
  EXPECT_THAT(host.cpus[0].lacks_family_at, ::testing::EndsWith(":2"));
  EXPECT_THAT(refused.error().help, HasSubstr("--nccl 2.30"));
}

TEST(NcclXml, LimitsKeepAHostileFileCheap) {
  expect_refused(system(cpu(0, "")), "no GPU", "<gpu");
  std::string gpus;
  for (int i = 0; i < 1000; ++i) {
    char bus[16];
    std::snprintf(bus, sizeof bus, "%02x:%02x.0", i / 32, i % 32);
    gpus += gpu({.bus = bus, .dev = i});
  }
  expect_refused(system(cpu(0, gpus)), "more than 72 <gpu> elements", "one host");
  std::string deep;
  for (int i = 0; i < 100; ++i) {
    char bus[16];
    std::snprintf(bus, sizeof bus, "%02x:00.0", i);
    deep += "<pci busid=\"0000:" + std::string(bus) + "\" class=\"0x060400\">";
  }
  for (int i = 0; i < 100; ++i) deep += "</pci>";
  expect_refused(system(cpu(0, deep)), "nested deeper than 64", "PCI tree");
  expect_refused(std::string((16U << 20) + 1, ' '), "larger than 16 MiB", "one host");
}

TEST(NcclXml, ADumpOfSeveralHostsIsAnErrorWithTheFix) {
  expect_refused(system("<cpu host_hash=\"0x1\" numaid=\"0\" arch=\"arm64\"/>\n"
                        "<cpu host_hash=\"0x2\" numaid=\"0\" arch=\"arm64\"/>\n"),
                 "host.xml:3: a second host", "--nvl-domain");
}

TEST(NcclXml, AMissingFileIsNotFound) {
  const auto host = load_nccl_xml("/nonexistent/host.xml");
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code, ErrorCode::NotFound);
}

TEST(NcclXml, ReadsWhatItPrints) {
  const std::string xml = system(
      cpu(0, bridge("10:00.0", gpu({.bus = "1b:00.0",
                                    .inside = nvswitch(18) + "<c2c bw=\"44712\" count=\"5\"/>"}) +
                                   nic("1c:00.0", 0) + "<pcilink target=\"0000:20:00.0\"/>") +
                 "<nic><net name=\"a &lt;&quot;&amp; b\" dev=\"7\" coll=\"1\" rail=\"2\" "
                 "latency=\"0.1\"/></nic>"));
  const std::string printed = to_nccl_xml(parsed(xml));
  EXPECT_THAT(printed, HasSubstr("name=\"a &lt;&quot;&amp; b\""));
  EXPECT_THAT(printed, HasSubstr("latency=\"0.1\""));
  EXPECT_EQ(to_nccl_xml(parsed(printed)), printed);
}

}  // namespace
}  // namespace ringside
