#include <gtest/gtest.h>

#include "harness/probe/read_machine.h"

namespace ringside::probe {
namespace {

TEST(ProbeFirewall, RulesThatDropAreNamedWithTheirChains) {
  const Firewall found =
      read_firewall("nft",
                    "table inet filter {\n"
                    "\tset banned {\n\t\ttype ipv4_addr\n\t}\n"
                    "\tchain strict {\n\t\ttcp dport 20000-60000 drop\n\t}\n"
                    "\tchain unused {\n\t\tdrop\n\t}\n"
                    "\tchain input {\n"
                    "\t\ttype filter hook input priority filter; policy accept;\n"
                    "\t\tct state invalid drop\n"
                    "\t\tip saddr @banned drop\n"
                    "\t\tjump strict\n\t}\n"
                    "\tchain forward {\n"
                    "\t\ttype filter hook forward priority filter; policy drop;\n"
                    "\t}\n}\n");
  ASSERT_EQ(found.drops.size(), 1u);
  EXPECT_EQ(found.drops[0].chain, "inet filter strict");
  EXPECT_EQ(found.drops[0].rule, "tcp dport 20000-60000 drop");
}

TEST(ProbeFirewall, APolicyDropsToo) {
  const Firewall found = read_firewall(
      "nft",
      "table ip f {\n\tchain in {\n\t\ttype filter hook input priority 0; policy drop;\n\t}\n}\n");
  ASSERT_EQ(found.drops.size(), 1u);
  EXPECT_EQ(found.drops[0].rule, "policy drop");
}

TEST(ProbeFirewall, ReadsTheOlderTablesToo) {
  const Firewall found =
      read_firewall("iptables",
                    "*nat\n:INPUT DROP [0:0]\nCOMMIT\n*filter\n"
                    ":INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:mine - [0:0]\n"
                    "-A INPUT -j mine\n-A mine -p tcp -m tcp --dport 5000 -j DROP\n"
                    "-A FORWARD -j DROP\nCOMMIT\n");
  ASSERT_EQ(found.drops.size(), 1u);
  EXPECT_EQ(found.drops[0].chain, "ip filter mine");
}

TEST(ProbeFirewall, AnyTextIsRead) {
  for (const char* text :
       {"", "}\n}\n}", "chain {\n", "table {\nchain x {\ndrop\n", "-A\n:\n*\n"}) {
    for (const char* source : {"nft", "iptables"}) {
      EXPECT_TRUE(read_firewall(source, text).is_read);
    }
  }
}

}  // namespace
}  // namespace ringside::probe
