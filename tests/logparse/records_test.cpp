#include "tests/logparse/records.h"

#include <gtest/gtest.h>

#include "diag/logparse/benchmark_records.h"
#include "diag/logparse/call_records.h"
#include "diag/logparse/channel_records.h"
#include "diag/logparse/host_records.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/ras_records.h"
#include "diag/logparse/topo_records.h"

/// Lines of every version as docs/formats gives them, and their fields.
namespace ringside::logs {
namespace {

std::string info(const std::string& text) { return "n01:411:980 [3] NCCL INFO " + text; }

ChannelEdge edge_of(const std::string& text) {
  ChannelEdge found;
  expect_record<ChannelEdge>(info(text), [&](const ChannelEdge& edge, const Record& record) {
    found = edge;
    EXPECT_FALSE(record.is_torn) << text;
    found.net = edge.net == "IB"              ? std::string_view("IB")
                : edge.net == "AWS Libfabric" ? std::string_view("AWS Libfabric")
                : edge.net.empty()            ? std::string_view()
                                              : std::string_view("other");
  });
  return found;
}

TEST(ChannelEdges, ReadsAllVersions) {
  const ChannelEdge cumem = edge_of("Channel 00/0 : 3[3] -> 4[4] via P2P/CUMEM/read");
  EXPECT_EQ(cumem.via, Via::P2pCumem);
  EXPECT_TRUE(cumem.read);
  EXPECT_EQ(cumem.connection, 0);
  EXPECT_EQ(cumem.from, 3);
  EXPECT_EQ(cumem.to, 4);

  const ChannelEdge old = edge_of("Channel 00 : 3[5d000] -> 4[9a000] via P2P/IPC");
  EXPECT_EQ(old.via, Via::P2pIpc);
  EXPECT_EQ(old.connection, -1);
  EXPECT_EQ(old.from_id, 0x5d000U);

  const ChannelEdge ring = edge_of("Ring 00 : 0[0] -> 1[1] via P2P/direct pointer");
  EXPECT_TRUE(ring.is_ring_word);
  EXPECT_EQ(ring.via, Via::P2pDirect);

  const ChannelEdge send = edge_of("Channel 02/0 : 7[7] -> 8[0] [send] via NET/IB/2(3)/GDRDMA");
  EXPECT_EQ(send.via, Via::Net);
  EXPECT_EQ(send.direction, Direction::Send);
  EXPECT_EQ(send.net, "IB");
  EXPECT_EQ(send.net_device, 2);
  EXPECT_EQ(send.proxy, 3);
  EXPECT_TRUE(send.gdr);

  const ChannelEdge ofi =
      edge_of("Channel 02/0 : 15[7] -> 0[0] [receive] via NET/AWS Libfabric/1/GDRDMA/Shared");
  EXPECT_EQ(ofi.net, "AWS Libfabric");
  EXPECT_EQ(ofi.direction, Direction::Receive);
  EXPECT_TRUE(ofi.shared);

  const ChannelEdge pci =
      edge_of("Channel 02/1 : 7[7] -> 9[1] [send] via NET/IB/2/GDRDMA(PCI)/Shared");
  EXPECT_TRUE(pci.gdr_pci);
  EXPECT_EQ(pci.connection, 1);

  EXPECT_EQ(edge_of("Channel 01 : 3[3] -> 4[4] via SHM/direct/direct").via, Via::Shm);
  EXPECT_EQ(edge_of("Channel 01 : 3[3] -> 4[4] via SHM/direct").via, Via::Shm);
  EXPECT_EQ(edge_of("Ring 01 : 3[3] -> 4[4] via direct shared memory").via, Via::Shm);
  EXPECT_TRUE(edge_of("Channel 01 : 3[3] -> 4[4] via SHM/CE/direct").copy_engine);
  EXPECT_EQ(edge_of("Channel 01/0 : 3[3] -> 4[4] via P2P/indirect/5[5]").via, Via::P2pIndirect);
  EXPECT_EQ(edge_of("Channel 01/0 : 3[3] -> 4[4] via P2P/MNNVL").via, Via::P2pMnnvl);
  EXPECT_EQ(edge_of("Ring 00 : 3 -> 4 [send] via NET/Socket/0").via, Via::Net);
  const ChannelEdge collnet = edge_of("CollNet 00/0 : 3 [send] via COLLNET/SHARP/0/GDRDMA");
  EXPECT_EQ(collnet.via, Via::CollNet);
  EXPECT_EQ(collnet.to, -1);

  const ChannelEdge rccl =
      edge_of("Channel 03/0 : 0[29000] -> 1[2f000] via P2P/IPC comm 0x9990 nRanks 16");
  EXPECT_EQ(rccl.comm, 0x9990U);
  EXPECT_EQ(rccl.nranks, 16);
}

TEST(Rings, InBothLayouts) {
  expect_record<RingOrder>(info("Channel 00/16 :    0   1   2   3"),
                           [](const RingOrder& ring, const Record&) {
                             EXPECT_EQ(ring.channel, 0);
                             EXPECT_EQ(ring.nchannels, 16);
                             EXPECT_EQ(ring.count, 4);
                             EXPECT_FALSE(ring.ends_in_dots);
                             std::vector<std::int32_t> ranks;
                             std::int32_t rank = 0;
                             for (IntCursor at(ring.ranks); at.next(rank);) ranks.push_back(rank);
                             EXPECT_EQ(ranks, (std::vector<std::int32_t>{0, 1, 2, 3}));
                           });
  expect_record<RingOrder>(info("Channel 00/16 : 0 1 2 3 4 5 6 7 8 9 ..."),
                           [](const RingOrder& ring, const Record&) {
                             EXPECT_TRUE(ring.ends_in_dots);
                             EXPECT_EQ(ring.count, 10);
                           });
  expect_record<RingNeighbours>(info("Ring 02 : 2 -> 3 -> 4"),
                                [](const RingNeighbours& ring, const Record&) {
                                  EXPECT_EQ(ring.channel, 2);
                                  EXPECT_EQ(ring.previous, 2);
                                  EXPECT_EQ(ring.rank, 3);
                                  EXPECT_EQ(ring.next, 4);
                                });
}

TEST(Trees, ReadsThreeGenerations) {
  const auto links = [](const std::string& text) {
    std::vector<TreeLink> found;
    expect_record<Trees>(info(text), [&](const Trees& trees, const Record&) {
      TreeLink link;
      for (TreeCursor at(trees); at.next(link);) found.push_back(link);
    });
    return found;
  };
  const auto now = links("Trees [0] 4/-1/-1->3->2 [1] 4/11/-1->3->-1");
  ASSERT_EQ(now.size(), 2U);
  EXPECT_EQ(now[0].up, 2);
  EXPECT_EQ(now[0].down[0], 4);
  EXPECT_EQ(now[1].up, -1);
  EXPECT_EQ(now[1].down[1], 11);
  const auto with_bar =
      links("Trees [0] 1/-1/-1->0->-1|-1->0->1/-1/-1 [1] -1/-1/-1->0->3|3->0->-1/-1/-1");
  ASSERT_EQ(with_bar.size(), 2U);
  EXPECT_EQ(with_bar[1].up, 3);
  const auto up_first = links("Trees [0] 2->3->4/-1/-1");
  ASSERT_EQ(up_first.size(), 1U);
  EXPECT_EQ(up_first[0].up, 2);
  EXPECT_EQ(up_first[0].down[0], 4);
  expect_record<TreeNeighbours>(info("Tree 1 : -1 -> 0 -> 1/2/-1"),
                                [](const TreeNeighbours& tree, const Record&) {
                                  EXPECT_EQ(tree.link.up, -1);
                                  EXPECT_EQ(tree.link.down[1], 2);
                                });
}

TEST(CommEvents, ReadsAllVersions) {
  const auto event = [](const std::string& text,
                        const std::function<void(const CommEvent&)>& check) {
    expect_record<CommEvent>(info(text), [&](const CommEvent& found, const Record& record) {
      EXPECT_FALSE(record.is_torn) << text;
      check(found);
    });
  };
  event("comm 0x55aa10 rank 7 nranks 16 cudaDev 7 nvmlDev 7 - Init COMPLETE",
        [](const CommEvent& e) {
          EXPECT_EQ(e.comm, 0x55aa10U);
          EXPECT_EQ(e.nvml_device, 7);
          EXPECT_EQ(e.bus_id, -1);
        });
  event("comm 0x55aa10 rank 7 nranks 16 cudaDev 7 busId db000 - Destroy COMPLETE",
        [](const CommEvent& e) {
          EXPECT_EQ(e.event, CommEventType::DestroyComplete);
          EXPECT_EQ(e.bus_id, 0xdb000);
        });
  event(
      "ncclCommInitRank comm 0x55aa10 rank 7 nranks 16 cudaDev 7 nvmlDev 7 busId db000 commId "
      "0x9f00c1d2e3f40516 - "
      "Init COMPLETE",
      [](const CommEvent& e) {
        EXPECT_EQ(e.comm_id, 0x9f00c1d2e3f40516U);
        EXPECT_EQ(e.function, "ncclCommInitRank");
      });
  // From 2.31 on.
  event(
      "comm 0x55aa10 rank 7 nRanks 16 cudaDev 7 busId db000 commId 0x9f00c1d2e3f40516 - Finalize "
      "START",
      [](const CommEvent& e) {
        EXPECT_EQ(e.event, CommEventType::FinalizeStart);
        EXPECT_EQ(e.nranks, 16);
        EXPECT_EQ(e.comm_id, 0x9f00c1d2e3f40516U);
      });
  event("comm 0x55aa10 rank 7 nranks 16 cudaDev 7 busId db000 commId 0x9 - Finalize COMPLETE",
        [](const CommEvent& e) { EXPECT_EQ(e.event, CommEventType::FinalizeComplete); });
  event("comm 0x55aa10 rank 7 nRanks 16 cudaDev 7 busId db000 commId 0x9 - Destroy START",
        [](const CommEvent& e) { EXPECT_EQ(e.event, CommEventType::DestroyStart); });
  event(
      "ncclCommSplit comm 0x55aa10 rank 1 nranks 4 cudaDev 7 nvmlDev 7 busId db000 commId 0x9 "
      "parent 0x44bb20 childCount 2 color 3 key 1 - Init COMPLETE",
      [](const CommEvent& e) {
        EXPECT_EQ(e.comm_id, 9U);
        EXPECT_EQ(e.parent, 0x44bb20U);
        EXPECT_EQ(e.child, 2);
      });
  event(
      "ncclCommSplit comm 0x55aa10 rank 1 nranks 4 cudaDev 7 nvmlDev 7 busId db000 parent 0x44bb20 "
      "splitCount 2 color 3 "
      "key 1- Init START",
      [](const CommEvent& e) {
        EXPECT_EQ(e.event, CommEventType::InitStart);
        EXPECT_EQ(e.parent, 0x44bb20U);
        EXPECT_EQ(e.child, 2);
        EXPECT_EQ(e.color, 3);
        EXPECT_EQ(e.key, 1);
      });
  event(
      "[Rank 3] ncclCommInitRankConfig comm 0x55aa10 rank 3 nranks 4 cudaDev 3 nvmlDev 3 busId "
      "db000 commId 0x9 - Init "
      "START",
      [](const CommEvent& e) { EXPECT_EQ(e.function, "ncclCommInitRankConfig"); });
  event(
      "ncclCommInitRank comm 0x9 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 9f000 commId 0x7 "
      "localSize 8 used 21024 bytes "
      "on core 5 - Init COMPLETE",
      [](const CommEvent& e) { EXPECT_TRUE(e.is_rccl); });
  expect_record<CommNodes>(
      info("comm 0x55aa10 rank 7 nRanks 16 nNodes 2 localRanks 8 localRank 7 MNNVL 0"),
      [](const CommNodes& nodes, const Record&) {
        EXPECT_EQ(nodes.nnodes, 2);
        EXPECT_EQ(nodes.local_ranks, 8);
        EXPECT_EQ(nodes.mnnvl, 0);
      });
}

TEST(InitLines, ReadsTimingsCountsAndConnections) {
  expect_record<InitTimings>(
      info(
          "Init timings - ncclCommInitRank: rank 7 nranks 16 total 4.10 (kernels 0.30, alloc 0.20, "
          "bootstrap 2.90, allgathers 0.10, topo 0.40, graphs 0.00, connections 0.10, rest 0.10)"),
      [](const InitTimings& t, const Record&) {
        EXPECT_FLOAT_EQ(t.total, 4.1F);
        EXPECT_FLOAT_EQ(t.bootstrap, 2.9F);
        EXPECT_FLOAT_EQ(t.rest, 0.1F);
      });
  expect_record<InitTimings>(
      info("Init timings: rank 7 nranks 16 total 4.10 (kernels 0.30, bootstrap 2.90, allgathers "
           "0.10, topo 0.40, graphs 0.00, connections 0.10, rest 0.10)"),
      [](const InitTimings& t, const Record&) {
        EXPECT_FLOAT_EQ(t.alloc, -1);
        EXPECT_EQ(t.function, "");
      });
  const auto counts = [](const std::string& text, int coll, int nvls, int p2p, int per_peer) {
    expect_record<ChannelCounts>(info(text), [&](const ChannelCounts& c, const Record&) {
      EXPECT_EQ(c.coll, coll);
      EXPECT_EQ(c.nvls, nvls);
      EXPECT_EQ(c.p2p, p2p);
      EXPECT_EQ(c.p2p_per_peer, per_peer);
    });
  };
  counts("2 coll channels, 4 p2p channels, 1 p2p channels per peer", 2, -1, 4, 1);
  counts("24 coll channels, 16 nvls channels, 32 p2p channels, 32 p2p channels per peer", 24, 16,
         32, 32);
  counts(
      "16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per "
      "peer",
      16, 0, 16, 2);
  expect_record<Connected>(info("Connected all rings, use ring PXN 0 GDR 1"),
                           [](const Connected& c, const Record&) {
                             EXPECT_EQ(c.what, Connected::What::Rings);
                             EXPECT_EQ(c.gdr, 1);
                           });
}

TEST(Networks, DeviceListsOfAllVersions) {
  const auto devices = [](const std::string& text) {
    std::vector<std::string> found;
    expect_record<NetDevices>(info(text), [&](const NetDevices& net, const Record&) {
      NetDevice device;
      for (NetDeviceCursor at(net); at.next(device);) {
        found.push_back(std::string(device.name) + "/" + std::string(device.link) + "/" +
                        std::to_string(device.index) + "/" + std::to_string(device.merged) + "/" +
                        std::string(device.rail) + "/" + std::string(device.plane));
      }
    });
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(
      devices("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB/SHARP [RO]; OOB eth0:10.1.0.1<0>"),
      (Names{"mlx5_0/IB/0/-1//", "mlx5_1/IB/1/-1//"}));
  EXPECT_EQ(devices("NET/IB : Using [0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE} [1]={[2] "
                    "mlx5_2:1/RoCE}; OOB eth0:1.1.1.1<0>"),
            (Names{"mlx5_0/RoCE/0/0//", "mlx5_1/RoCE/1/0//", "mlx5_2/RoCE/2/1//"}));
  EXPECT_EQ(
      devices("NET/IB : Using [0]mlx5_0:1:0:1/RoCE [1]mlx5_1:1::1/RoCE [RO]; OOB eth0:10.1.0.1<0>"),
      (Names{"mlx5_0/RoCE/0/-1/0/1", "mlx5_1/RoCE/1/-1//1"}));
  EXPECT_EQ(devices("NET/Socket : Using [0]eth0:10.1.0.1<0> [1]eth1:10.2.0.1<0>").size(), 2U);
  EXPECT_TRUE(devices("NET/IB : No device found.").empty());
  expect_record<NetDevices>(info("NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.1.0.1<0>"),
                            [](const NetDevices& net, const Record&) {
                              EXPECT_TRUE(net.relaxed_ordering);
                              EXPECT_EQ(net.oob, "eth0:10.1.0.1<0>");
                            });
}

TEST(Networks, BootstrapAndGdrOfAllVersions) {
  for (const char* text :
       {"Bootstrap : Using eth0:10.1.0.1<0>", "Bootstrap: Using eth0:10.1.0.1<0>",
        "Bootstrap : Using [0]eth0:10.1.0.1<0>"}) {
    expect_record<BootstrapInterface>(info(text), [](const BootstrapInterface& b, const Record&) {
      EXPECT_EQ(b.interface, "eth0");
      EXPECT_EQ(b.address, "10.1.0.1");
    });
  }
  expect_record<GdrOfHca>(info("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)"),
                          [](const GdrOfHca& gdr, const Record&) {
                            EXPECT_TRUE(gdr.is_module_missing);
                            EXPECT_FALSE(gdr.is_enabled);
                            EXPECT_EQ(gdr.name, "mlx5_0");
                          });
  expect_record<GdrOfHca>(
      info("NET/IB : GPU Direct RDMA (nvidia-peermem) enabled for HCA 0 'mlx5_0"),
      [](const GdrOfHca& gdr, const Record&) {
        EXPECT_TRUE(gdr.is_enabled);
        EXPECT_EQ(gdr.name, "mlx5_0");
      });
  expect_record<GdrOfPair>(
      info("GPU Direct RDMA Enabled for GPU 1b000 / HCA 0 (distance 4 <= 5), read 1"),
      [](const GdrOfPair& gdr, const Record&) {
        EXPECT_TRUE(gdr.is_enabled);
        EXPECT_EQ(gdr.gpu, "1b000");
        EXPECT_EQ(gdr.distance, 4);
        EXPECT_EQ(gdr.limit, 5);
        EXPECT_EQ(gdr.read, 1);
      });
}

TEST(Environments, WithAndWithoutFinalPeriod) {
  const auto variable = [](const std::string& text, std::string_view name, std::string_view value,
                           bool is_integer) {
    expect_record<Environment>(text, [&](const Environment& e, const Record&) {
      EXPECT_EQ(e.name, name);
      EXPECT_EQ(e.value, value);
      EXPECT_EQ(e.is_integer, is_integer);
    });
  };
  variable(info("NCCL_IB_DISABLE set by environment to 0."), "NCCL_IB_DISABLE", "0", true);
  variable(info("NCCL_SOCKET_IFNAME set by environment to eth0,a b."), "NCCL_SOCKET_IFNAME",
           "eth0,a b.", false);
  variable("+ export NCCL_DEBUG=INFO", "NCCL_DEBUG", "INFO", false);
}

TEST(Calls, ReadsCollectivesAndTuning) {
  expect_record<CollCall>(info("AllReduce: opCount 1f sendbuff 0x7f00 recvbuff (nil) count 1048576 "
                               "datatype 9 op 0 root 0 "
                               "comm 0x55aa10 [nranks=16] stream 0x6600"),
                          [](const CollCall& call, const Record& record) {
                            EXPECT_EQ(call.op_count, 0x1fU);
                            EXPECT_EQ(call.count, 1048576U);
                            EXPECT_EQ(call.comm, 0x55aa10U);
                            EXPECT_EQ(call.nranks, 16);
                            EXPECT_EQ(call.datatype, 9);  // bfloat16
                            EXPECT_FALSE(record.is_torn);
                          });
  const auto choice = [](const std::string& text, int algorithm, int protocol) {
    expect_record<TuningChoice>(info(text), [&](const TuningChoice& c, const Record& record) {
      EXPECT_EQ(c.algorithm, algorithm) << text;
      EXPECT_EQ(c.protocol, protocol) << text;
      EXPECT_FALSE(record.is_torn) << text;
    });
  };
  choice("AllReduce: 2097152 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}", 1, 2);
  choice(
      "AllReduce: 2097152 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15} cgaClusterSize 4",
      1, 2);
  choice("2097152 Bytes -> Algo 1 proto 2 time 12.3", 1, 2);
  choice("AllReduce: 2097152 Bytes -> Algo 0 proto 1 time 12.3", 0, 1);
  choice("AllGather [Symmetric]: 4096 Bytes -> Kernel AllGather_LL nchannels 4 nthreads 512", -1,
         -1);
  expect_record<ApiCall>("n01:411:411 NCCL CALL ncclGroupStart()",
                         [](const ApiCall& call, const Record& record) {
                           EXPECT_EQ(call.function, "ncclGroupStart");
                           EXPECT_EQ(record.device, -1);
                         });
  expect_record<ResultStack>(info("group.cc:80 (groupLaunch) -> 6 [Async thread]"),
                             [](const ResultStack& r, const Record&) {
                               EXPECT_EQ(r.code, 6);
                               EXPECT_EQ(r.line, 80);
                               EXPECT_EQ(r.function, "groupLaunch");
                               EXPECT_EQ(r.thread, "Async thread");
                             });
}

// A known text must not lend its numbers to a similar text.
TEST(Calls, TuningTextsThatComeAgainMeanTheSame) {
  const std::string first =
      "n01.cluster.local:411101:411980 [3] NCCL INFO 4194304 Bytes -> Algo 1 proto 2 time 45.5\n"
      "n02.cluster.local:411102:411981 [4] NCCL INFO 4194304 Bytes -> Algo 1 proto 2 time 45.5\n";
  // What was learned applies only after the lines that are matched together: the writer, then the text.
  const std::string together(64, '\n');
  const std::string text =
      first + together + first + together +
      "n01.cluster.local:411101:411980 [3] NCCL INFO 4194304 Bytes -> Algo 0 proto 2 time 45.5\n"
      "n01.cluster.local:411101:411980 [3] NCCL INFO 4194304 Bytes -> Algo 1 proto 2 time 45.5\n"
      "n02.cluster.local:411102:411981 [4] NCCL INFO 4194304 Bytes -> Algo 1 proto 2 ti\n";
  std::vector<int> algorithms;
  std::vector<int> pids;
  std::vector<bool> torn;
  each_record(text, [&](const Record& record, const Speaker& speaker) {
    ASSERT_EQ(record.kind, RecordKind::TuningChoice);
    EXPECT_EQ(record.as<TuningChoice>().bytes, 4194304U);
    algorithms.push_back(record.as<TuningChoice>().algorithm);
    pids.push_back(speaker.pid);
    torn.push_back(record.is_torn);
  });
  EXPECT_EQ(algorithms, (std::vector<int>{1, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(pids, (std::vector<int>{411101, 411102, 411101, 411102, 411101, 411101, 411102}));
  EXPECT_EQ(torn, (std::vector<bool>{false, false, false, false, false, false, true}));
}

TEST(Calls, PointersOfEveryLengthAreRead) {
  std::uint64_t wanted = 0;
  std::string digits;
  for (int length = 1; length <= 16; ++length) {
    const int digit = length % 16;
    wanted = wanted << 4 | static_cast<std::uint64_t>(digit);
    digits += "0123456789abcdef"[digit];
    const std::string text =
        "AllReduce: opCount 1f sendbuff 0x7f00 recvbuff 0x7f00 count 8 datatype 7 op 0 "
        "root 0 comm 0x" +
        digits + " [nranks=16] stream 0x5500";
    expect_record<CollCall>(info(text), [&](const CollCall& call, const Record& record) {
      EXPECT_EQ(call.comm, wanted) << digits;
      EXPECT_EQ(call.nranks, 16);
      EXPECT_FALSE(record.is_torn);
    });
  }
}

TEST(Topology, ReadsSeveralVersions) {
  expect_record<TopoSystem>(
      info("=== System : maxBw 48.0 totalBw 480.0 ==="),
      [](const TopoSystem& s, const Record&) { EXPECT_FLOAT_EQ(s.total_bw, 480); });
  expect_record<TopoNode>(info("              + NVL[40.0] - GPU/0-1b000 (0)"),
                          [](const TopoNode& n, const Record&) {
                            EXPECT_EQ(n.indent, 14);
                            EXPECT_EQ(n.link, "NVL");
                            EXPECT_EQ(n.id, "0-1b000");
                          });
  expect_record<GraphPattern>(info("Pattern 4, crossNic 0, nChannels 8, bw 40.000000/40.000000, "
                                   "type NVL/PXB, sameChannels 1"),
                              [](const GraphPattern& p, const Record&) {
                                EXPECT_EQ(p.type_inter, "PXB");
                                EXPECT_FLOAT_EQ(p.bw_intra, 40);
                              });
  expect_record<TopoPaths>(
      info("GPU/1B000 :GPU/1B000 (0/5000.000000/LOC) NET/0 (3/24.000000/PXB) "),
      [](const TopoPaths& paths, const Record&) {
        TopoPath path;
        int count = 0;
        std::string last;
        for (TopoPathCursor at(paths); at.next(path); ++count) last = path.path;
        EXPECT_EQ(count, 2);
        EXPECT_EQ(last, "PXB");
      });
}

TEST(Benchmarks, RowsOfAllLayouts) {
  const auto row = [](const std::string& text,
                      const std::function<void(const BenchmarkRow&)>& check) {
    expect_record<BenchmarkRow>(text,
                                [&](const BenchmarkRow& found, const Record&) { check(found); });
  };
  row("     8388608       2097152     float     sum      -1    412.3   20.35   38.15      0    "
      "410.1   20.46   38.36      0",
      [](const BenchmarkRow& r) {
        EXPECT_EQ(r.bytes, 8388608U);
        EXPECT_EQ(r.root, -1);
        EXPECT_FLOAT_EQ(r.out_of_place.busbw_gbs, 38.15F);
        EXPECT_FLOAT_EQ(r.in_place.time_us, 410.1F);
        EXPECT_FLOAT_EQ(r.in_place.wrong, 0);
      });
  // Up to 2.12 an all-reduce has no root and an all-gather neither operation nor root.
  row("     8388608       2097152     float     sum    412.3   20.35   38.15  0e+00    410.1   "
      "20.46   38.36  0e+00",
      [](const BenchmarkRow& r) { EXPECT_FLOAT_EQ(r.out_of_place.time_us, 412.3F); });
  row("     8388608       2097152     float    412.3   20.35   38.15  0e+00    410.1   20.46   "
      "38.36  0e+00",
      [](const BenchmarkRow& r) { EXPECT_FLOAT_EQ(r.in_place.busbw_gbs, 38.36F); });
  row("  1024  256  float  sum  -1  12.3  0.08  0.15  N/A  12.1  0.08  0.15  N/A",
      [](const BenchmarkRow& r) { EXPECT_FLOAT_EQ(r.out_of_place.wrong, -1); });
  row("  1024  256  float  sum  -1",
      [](const BenchmarkRow& r) {  // a stall: only the size was written
        EXPECT_EQ(r.root, -1);
        EXPECT_FLOAT_EQ(r.out_of_place.time_us, -1);
      });
  row("  1024  256  float  sum  -1  12.3  0.08  0.15  0  12.1",
      [](const BenchmarkRow& r) {  // cut in its second half
        EXPECT_FLOAT_EQ(r.out_of_place.time_us, 12.3F);
        EXPECT_FLOAT_EQ(r.out_of_place.wrong, 0);
        EXPECT_FLOAT_EQ(r.in_place.time_us, 12.1F);
      });
  row("  1024  256  float  sum  1e30  12.3  0.08  0.15  0",
      [](const BenchmarkRow& r) { EXPECT_EQ(r.root, -1); });
  expect_record<BenchmarkRank>(
      "#  Rank  0 Group  0 Pid     25 on node-a device  0 [0x53] NVIDIA H100 80GB HBM3",
      [](const BenchmarkRank& r, const Record&) {
        EXPECT_EQ(r.host, "node-a");
        EXPECT_EQ(r.pci, "0x53");
        EXPECT_EQ(r.name, "NVIDIA H100 80GB HBM3");
      });
  expect_record<BenchmarkAverage>(
      "# Avg bus bandwidth    : 38.25 ",
      [](const BenchmarkAverage& a, const Record&) { EXPECT_FLOAT_EQ(a.busbw_gbs, 38.25F); });
}

TEST(HostLines, XidsAndTracebacks) {
  expect_record<Xid>(
      "[ 1234.567890] NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has "
      "fallen off "
      "the bus.",
      [](const Xid& xid, const Record&) {
        EXPECT_EQ(xid.code, 79);
        EXPECT_EQ(xid.bus_id, 0x1b000);
        EXPECT_EQ(xid.text, "GPU has fallen off the bus.");
      });
  expect_record<Xid>(
      "Mar  1 10:11:12 n01 kernel: nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link "
      "30 LTSSM",
      [](const Xid& xid, const Record&) {
        EXPECT_TRUE(xid.is_switch);
        EXPECT_TRUE(xid.is_fatal);
      });
  expect_record<Traceback>("[rank3]:   File \"train.py\", line 7, in step",
                           [](const Traceback& frame, const Record&) {
                             EXPECT_EQ(frame.line, 7);
                             EXPECT_EQ(frame.function, "step");
                           });
  expect_record<PythonError>("ValueError: no data", [](const PythonError& error, const Record&) {
    EXPECT_EQ(error.type, "ValueError");
    EXPECT_EQ(error.text, "no data");
  });
}

TEST(RasReports, RowsAndRanks) {
  expect_record<RasComm>(
      "      0         1         2         4-8         16        16  RUNNING  MISMATCH",
      [](const RasComm& comm, const Record&) {
        EXPECT_EQ(comm.nranks, 16);
        EXPECT_EQ(comm.status, "RUNNING");
        EXPECT_EQ(comm.errors, "MISMATCH");
      });
  expect_record<RasRank>(
      "  Rank 3 has launched up to operation 61 -- GPU 3 (NVML 4) managed by process 77 on node "
      "10.1.0.2",
      [](const RasRank& rank, const Record&) {
        EXPECT_EQ(rank.operation, 61);
        EXPECT_EQ(rank.nvml, 4);
        EXPECT_EQ(rank.pid, 77);
        EXPECT_EQ(rank.host, "10.1.0.2");
      });
}

TEST(Versions, AsNumbers) {
  const auto version = [](const std::string& text) {
    std::int32_t code = 0;
    expect_record<LibraryVersion>(text,
                                  [&](const LibraryVersion& v, const Record&) { code = v.code; });
    return code;
  };
  EXPECT_EQ(version("NCCL version 2.19.3+cuda12.3"), 21903);
  EXPECT_EQ(version(info("NCCL version 2.30.7+cuda13.0")), 23007);
  EXPECT_EQ(version("NCCL version 2.4.8+cuda10.1"), 20408);
  // Two banners whose line ends came late.
  EXPECT_EQ(version("NCCL version 2.7.8+cuda10.2NCCL version 2.7.8+cuda10.2"), 20708);
  EXPECT_EQ(version("RCCL version : 2.21.5-HEAD:7a3ed27"), 22105);
  EXPECT_EQ(version("# nccl-tests version 2.17.6 nccl-headers=22605 nccl-library=22605"), 22605);
}

}  // namespace
}  // namespace ringside::logs
