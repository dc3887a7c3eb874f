"""Hosts on one machine: network namespaces on one switch, with rates and faults. Root, iproute2, nftables.

    with Hosts(4, rate="1gbit") as hosts:
        ranks = hosts.start_ranks([program, "bench", "all_reduce"], nranks=4)
        hosts.black_hole(2, 3)

Host i (from 1) has eth0 with 10.88.0.i and fd88::i. Each has a name and a file /etc/hosts of its own. What runs there is
killed at the end, and everything is removed.
"""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NEEDED = ("ip", "tc", "nft", "unshare")


def why_not():
    """Why no hosts can be made here; empty: they can."""
    if os.geteuid() != 0:
        return "not root"
    missing = [tool for tool in NEEDED if not shutil.which(tool, path=search_path())]
    if missing:
        return f"not here: {', '.join(missing)} (apt-get install iproute2 nftables)"
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "no network namespaces may be made"


def search_path():
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def run(*words, check=True):
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": search_path()})
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Hosts:
    def __init__(self, count, rate="1gbit"):
        self.count = count
        self.rate = rate
        self.prefix = f"rs{os.getpid()}"
        self.folder = Path(tempfile.mkdtemp(prefix="ringside-hosts-"))
        self.started = []

    def name(self, host):
        return f"{self.prefix}-h{host}"

    @property
    def switch(self):
        return f"{self.prefix}-sw"

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        run("ip", "netns", "add", self.switch)
        run("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", self.switch, "link", "set", "br0", "up")
        for host in range(1, self.count + 1):
            name = self.name(host)
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
            self.add_link(host, "eth0", f"p{host}", f"10.88.0.{host}/24", f"fd88::{host}/64")
            # A congestion control that loss does not slow would hide it.
            run("ip", "-n", name, "route", "replace", "10.88.0.0/24", "dev", "eth0", "src", f"10.88.0.{host}",
                "congctl", "cubic")

    def add_link(self, host, interface, port, *addresses):
        """A cable from the host to the switch, shaped both ways."""
        name = self.name(host)
        run("ip", "-n", name, "link", "add", interface, "type", "veth", "peer", "name", port, "netns", self.switch)
        for address in addresses:
            words = ["ip", "-n", name, "addr", "add", address, "dev", interface]
            run(*words, *(["nodad"] if ":" in address else []))
        run("ip", "-n", name, "link", "set", interface, "up")
        run("ip", "-n", self.switch, "link", "set", port, "master", "br0", "up")
        for space, device in ((name, interface), (self.switch, port)):
            run("ip", "netns", "exec", space, "tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", self.rate,
                "burst", "256kb", "latency", "50ms")

    def __exit__(self, *_):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
        for space in [self.name(host) for host in range(1, self.count + 1)] + [self.switch]:
            for pid in run("ip", "netns", "pids", space, check=False).split():
                subprocess.run(["kill", "-9", pid], check=False)
            run("ip", "netns", "del", space, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- who runs there --------------------------------------------------------------------------

    def start(self, host, words, environment=None, output=None):
        """Starts a process on the host. output: the file for what it says on stdout and stderr"""
        inside = ["ip", "netns", "exec", self.name(host), "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"',
                  f"h{host}", *words]
        with open(output or os.devnull, "w", encoding="utf-8") as file:
            process = subprocess.Popen(inside, stdout=file, stderr=subprocess.STDOUT, cwd=self.folder,
                                       env={**os.environ, "PATH": search_path(), **(environment or {})})
        self.started.append(process)
        return process

    def start_ranks(self, words, nranks, environment=None, master="10.88.0.1"):
        """As torchrun does: ranks in order, as many on each host. Their words go to out.RANK in the folder."""
        local = nranks // self.count
        ranks = []
        for rank in range(nranks):
            variables = {"RANK": str(rank), "WORLD_SIZE": str(nranks), "LOCAL_RANK": str(rank % local),
                    "LOCAL_WORLD_SIZE": str(local), "MASTER_ADDR": master, "MASTER_PORT": "29500",
                    "RINGSIDE_SECRET": "of these tests"}
            ranks.append(self.start(rank // local + 1, words, {**variables, **(environment or {})},
                                    self.folder / f"out.{rank}"))
        return ranks

    def said(self, rank):
        return (self.folder / f"out.{rank}").read_text(encoding="utf-8", errors="replace")

    # ---- faults ----------------------------------------------------------------------------------

    def _rule(self, space, family, hook, rule):
        run("ip", "netns", "exec", space, "nft", f"add table {family} faults; add chain {family} faults in {{ type filter "
            f"hook {hook} priority 0; }}; add rule {family} faults in {rule} counter drop")

    def black_hole(self, source, target):
        """What the one host sends to the other vanishes; the other way is open."""
        self._rule(self.switch, "netdev", f"ingress device p{source}", f"ip daddr 10.88.0.{target}")

    def lose(self, host, permille):
        """Of the packets that reach the host, one by one."""
        self._uncut(host)
        self._rule(self.name(host), "inet", "input", f"iifname eth0 numgen random mod 1000 < {permille}")

    def lose_each(self, host, count):
        """Of the packets that reach the host each so-many-th. At random what is sent again is lost at times, and again: its
        sender waits twice as long each time."""
        self._uncut(host)
        self._rule(self.name(host), "inet", "input", f"iifname eth0 numgen inc mod {count} == 0")

    def _uncut(self, host):
        run("ip", "netns", "exec", self.name(host), "ethtool", "-K", "eth0", "gso", "off", "tso", "off", "gro", "off",
            check=False)

    def close_port(self, host, ports):
        """A firewall on the host that drops TCP to these ports silently."""
        self._rule(self.name(host), "inet", "input", f"tcp dport {ports}")

    def link(self, host, state):
        run("ip", "-n", self.switch, "link", "set", f"p{host}", state)

    def set_mtu(self, host, mtu):
        run("ip", "-n", self.name(host), "link", "set", "eth0", "mtu", str(mtu))

    def set_switch_mtu(self, host, mtu):
        """The switch's port takes no longer packets from the host, without notice. (A veth passes what its own host has
        yet to cut, whatever the length: so each host cuts for itself.)"""
        for other in range(1, self.count + 1):
            self._uncut(other)
        self._rule(self.switch, "netdev", f"ingress device p{host}", f"meta length > {mtu + 14}")

    def set_rate(self, host, rate):
        for space, device in ((self.name(host), "eth0"), (self.switch, f"p{host}")):
            run("ip", "netns", "exec", space, "tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate, "burst",
                "256kb", "latency", "50ms")


def wait_all(processes, seconds):
    """returns  the seconds until the last one ended; None: some still run"""
    began = time.monotonic()
    for process in processes:
        left = seconds - (time.monotonic() - began)
        try:
            process.wait(timeout=max(0.0, left))
        except subprocess.TimeoutExpired:
            return None
    return time.monotonic() - began
