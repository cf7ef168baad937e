"""Which addresses and hosts are taken for the open web."""

import pytest

from bilingual_crawler.crawl.fetching.guard import is_open_host, is_public, literal_address


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.5",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:c0a8:101::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "not an address",
        "",
    ],
)
def test_an_address_of_a_local_network_is_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "93.184.216.34",
        "172.15.0.1",
        "172.32.0.1",
        "100.128.0.1",
        "2606:2800:220:1:248:1893:25c8:1946",
        "::ffff:93.184.216.34",
        "64:ff9b::5db8:d822",
        "2002:5db8:d822::1",
    ],
)
def test_an_address_of_the_open_web_is_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "spelling",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0X7F.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "\uff11\uff12\uff17.\uff10.\uff10.\uff11",
        "127\u30020\u30020\u30021",
    ],
)
def test_odd_spellings_of_an_address_are_read_as_resolvers_read_them(spelling):
    assert literal_address(spelling) == "127.0.0.1"
    assert not is_open_host(spelling)


@pytest.mark.parametrize("spelling", ["[::1]", "::1", "[0:0:0:0:0:0:0:1]"])
def test_ipv6_hosts_are_read_with_and_without_brackets(spelling):
    assert literal_address(spelling) == "::1"


@pytest.mark.parametrize("name", ["example.org", "cafe", "dead.beef", "1.2.3.4.example", "x", ""])
def test_a_name_is_no_address(name):
    assert literal_address(name) is None


@pytest.mark.parametrize(
    "name",
    ["localhost", "LOCALHOST", "localhost.", "a.localhost", "db.internal", "printer.local"],
)
def test_local_names_are_not_on_the_open_web(name):
    assert not is_open_host(name)


@pytest.mark.parametrize(
    "name", ["example.org", "mylocalhost.org", "local.example", "93.184.216.34"]
)
def test_other_names_may_be_on_the_open_web(name):
    assert is_open_host(name)
