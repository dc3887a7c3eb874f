#!/usr/bin/env python3
"""Runs jobs over several hosts that this test makes (hosts.py), and breaks the network between them.

    tests/network/network_test.py PATH/OF/ringside [NAME]...

NAME as in unittest: Faults.test_a_one_way_black_hole_names_the_pair. Status 77: no hosts can be made here, with the reason.
"""

import json
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from hosts import Hosts, run, wait_all, why_not  # noqa: E402

PROGRAM = ""
NRANKS = 4
# Keepalives and unanswered data are noticed after 8 s (engine/transport/socket/socket.h), the ranks then settle.
NOTICED_S = 13


def bench(*more):
    return [PROGRAM, "bench", "all_reduce", *more]


class Data(unittest.TestCase):
    """What is carried is right, whatever the hosts' interfaces are."""

    def check(self, hosts, environment=None, master="10.88.0.1", nranks=NRANKS):
        words = bench("-b", "8", "-e", "1M", "-f", "64", "--iters", "2", "-w", "1", "-c", "every", "--json")
        ranks = hosts.start_ranks(words, nranks, environment, master)
        self.assertIsNotNone(wait_all(ranks, 60), hosts.said(0))
        self.assertEqual([rank.returncode for rank in ranks], [0] * nranks, hosts.said(0))
        answer = json.loads(hosts.said(0))
        self.assertEqual(sum(row["wrong"] for row in answer["results"]), 0)
        return answer

    def test_hosts_are_joined_by_tcp_and_ranks_of_one_by_memory(self):
        with Hosts(2) as hosts:
            self.assertEqual(self.check(hosts)["transport"], "shm+tcp")

    def test_ipv6_alone(self):
        with Hosts(2) as hosts:
            for host in (1, 2):
                run("ip", "-n", hosts.name(host), "-4", "addr", "flush", "dev", "eth0")
            self.check(hosts, master="fd88::1")

    def test_the_interface_is_the_one_that_is_named(self):
        with Hosts(2) as hosts:
            for host in (1, 2):
                hosts.add_link(host, "data0", f"d{host}", f"10.99.0.{host}/24")
            log = hosts.folder / "log.%h.%p"
            self.check(hosts, {"NCCL_SOCKET_IFNAME": "=data0", "NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": str(log)})
            lines = [line for file in hosts.folder.glob("log.*") for line in file.read_text().splitlines()]
            used = [line for line in lines if "NET/Socket : Using" in line]
            self.assertEqual(len(used), NRANKS)
            self.assertTrue(all("[0]data0:10.99.0." in line for line in used), used)

    def test_an_interface_that_is_not_there_is_an_error_that_lists_them(self):
        with Hosts(2) as hosts:
            ranks = hosts.start_ranks(bench("-b", "8", "-e", "8"), 2, {"NCCL_SOCKET_IFNAME": "ib"})
            self.assertIsNotNone(wait_all(ranks, 30))
            self.assertIn("no interface that is up fits NCCL_SOCKET_IFNAME='ib'", hosts.said(1))
            self.assertIn("eth0 (10.88.0.2)", hosts.said(1))

    def test_several_sockets_and_threads_carry_the_same_data(self):
        with Hosts(2) as hosts:
            log = hosts.folder / "log.%h.%p"
            self.check(hosts, {"NCCL_SOCKET_NTHREADS": "2", "NCCL_NSOCKS_PERTHREAD": "2", "NCCL_DEBUG": "INFO",
                               "NCCL_DEBUG_FILE": str(log)}, nranks=2)
            lines = [line for file in hosts.folder.glob("log.*") for line in file.read_text().splitlines()]
            self.assertTrue(any("NET/Socket: Using 2 threads and 2 sockets per thread" in line for line in lines), lines)

    def test_loss_slows_and_spoils_nothing(self):
        with Hosts(2) as hosts:
            hosts.lose_each(2, 50)
            self.check(hosts, nranks=2)


class Faults(unittest.TestCase):
    """Each ends on every rank, and from the dumps `hang` names both ends."""

    def break_network(self, fault, nranks=NRANKS, seconds=NOTICED_S, options=("--op-timeout", "8s")):
        """Runs all-reduce on a host a rank, and the fault in the middle. returns  the verdict, all that was said"""
        with Hosts(nranks) as hosts:
            dumps = hosts.folder / "dumps"
            words = bench("-b", "4M", "-e", "4M", "--iters", "100000", "-w", "1", "-c", "off", "--dumps", str(dumps),
                          *options)
            ranks = hosts.start_ranks(words, nranks)
            # The table's head is printed once all are connected.
            for _ in range(300):
                if "(us)" in hosts.said(0):
                    break
                time.sleep(0.1)
            time.sleep(1)
            self.assertEqual([rank.poll() for rank in ranks], [None] * nranks, hosts.said(0))
            fault(hosts, ranks)
            took = wait_all(ranks, seconds)
            all_said = "\n".join(hosts.said(rank) for rank in range(nranks))
            self.assertIsNotNone(took, f"still running after {seconds} s:\n{all_said}")
            self.assertTrue(all(rank.returncode != 0 for rank in ranks), all_said)
            verdict = json.loads(run(PROGRAM, "hang", str(dumps), "--json", check=False))["verdict"]
            return verdict, all_said

    def test_a_one_way_black_hole_names_the_pair(self):
        verdict, said = self.break_network(lambda hosts, _: hosts.black_hole(2, 3))
        self.assertEqual(verdict["kind"], "network_stall", verdict)
        self.assertRegex(verdict["why"], "rank 1 (lost|to) rank 2|rank 2 lost rank 1")
        self.assertRegex(said, "rank 1 lost rank 2|rank 2 lost rank 1")

    def test_a_reset_after_silence_is_no_death(self):
        # Nothing travels: rank 1 stalls in a call. Who gives up first resets the connection, and that way is open.
        for source, target in ((1, 2), (2, 1)):
            verdict, said = self.break_network(lambda hosts, _: hosts.black_hole(source, target), nranks=2, seconds=20,
                                               options=("--op-timeout", "60s", "--fault", "stall:rank=1,call=3"))
            self.assertEqual(verdict["kind"], "network_stall", verdict)
            self.assertRegex(verdict["why"], "rank [01] lost rank [01]")
            self.assertNotIn("is gone", said)

    def test_a_firewall_that_drops_everything_names_the_host(self):
        verdict, _ = self.break_network(lambda hosts, _: hosts.close_port(3, "1-65535"))
        self.assertEqual(verdict["kind"], "network_stall", verdict)
        self.assertRegex(verdict["why"], "rank [13] (lost|to) rank 2|rank 2 (lost|to) rank [13]")

    def test_a_cable_that_is_pulled_names_the_host(self):
        verdict, _ = self.break_network(lambda hosts, _: hosts.link(2, "down"))
        self.assertEqual(verdict["kind"], "network_stall", verdict)
        self.assertRegex(verdict["why"], "rank [02] (lost|to) rank 1|rank 1 (lost|to) rank [02]")

    def test_a_switch_that_drops_long_packets_names_the_pair_and_the_mtu(self):
        # Watches' news are short and pass: the time-out of operations must not be what ends this.
        verdict, said = self.break_network(lambda hosts, _: hosts.set_switch_mtu(2, 1400), seconds=25,
                                           options=("--op-timeout", "60s"))
        self.assertEqual(verdict["kind"], "network_stall", verdict)
        self.assertRegex(verdict["why"], "rank 1 (lost|to) rank 2")
        self.assertRegex(said, "short packets pass and those of up to 1500 bytes do not: the MTU differs")

    def test_a_process_that_is_killed_is_dead_and_no_network(self):
        def kill(hosts, _):
            # The process itself, not `ip netns exec` before it.
            for pid in run("ip", "netns", "pids", hosts.name(3)).split():
                run("kill", "-9", pid)
        verdict, _ = self.break_network(kill)
        self.assertEqual((verdict["kind"], verdict["culprits"]), ("dead_rank", [2]))

    def test_a_connection_that_is_half_open_names_the_rank_that_went(self):
        def lose_host(hosts, _):
            # As when a host loses its power and comes back: no peer got a notice.
            hosts.link(3, "down")
            for pid in run("ip", "netns", "pids", hosts.name(3)).split():
                run("kill", "-9", pid)
            time.sleep(1)
            hosts.link(3, "up")
        verdict, _ = self.break_network(lose_host)
        self.assertIn(verdict["kind"], ("dead_rank", "network_stall"), verdict)
        self.assertIn(2, verdict["culprits"], verdict)

    def test_a_process_that_is_stopped_is_named(self):
        def stop(hosts, ranks):
            for pid in run("ip", "netns", "pids", hosts.name(3)).split():
                run("kill", f"-{int(signal.SIGSTOP)}", pid)
            ranks.remove(ranks[2])
        verdict, _ = self.break_network(stop, seconds=20)
        self.assertEqual(verdict["culprits"], [2], verdict)

    def test_a_link_ten_times_slower_is_named_by_the_pairs(self):
        with Hosts(4) as hosts:
            hosts.set_rate(2, "100mbit")
            # A busy machine may have others slow as well, but not each time so slow that this one is not named.
            for _ in range(3):
                ranks = hosts.start_ranks([PROGRAM, "probe", "--pairs", "--size", "256K", "--json"], 4)
                self.assertIsNotNone(wait_all(ranks, 60), hosts.said(0))
                slow = [one for one in json.loads(hosts.said(0))["findings"] if one["id"] == "low_bandwidth"]
                if any("rank 1" in one["title"] for one in slow):
                    return
            self.fail(hosts.said(0))


def main():
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    PROGRAM = str(Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)


if __name__ == "__main__":
    main()
