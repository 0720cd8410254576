"""Which addresses are public, in every notation."""

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from foundry.fetching.addresses import Policy, is_public
from foundry.fetching.failures import FetchError
from foundry.urls import parse_url

NOT_PUBLIC = """
    127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1
    169.254.169.254 169.254.0.1 100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 198.18.0.1
    198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 192.88.99.1
    :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
    64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 2002:7f00:1:: 2002:a00:1::
    2002:c0a8:101::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 fe80::1 fec0::1 fc00::1 fd00:ec2::254
    ff02::1 100::1 2001:db8::1 3fff::1 5f00::1 2001:470:1f0b::5efe:127.0.0.1 2001:2::1
""".split()
PUBLIC = """
    8.8.8.8 93.184.216.34 1.1.1.1 2606:2800:220:1:248:1893:25c8:1946 2001:4860:4860::8888
    ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1
""".split()


def test_public() -> None:
    listed = [*NOT_PUBLIC, *PUBLIC]
    assert [each for each in listed if is_public(ipaddress.ip_address(each))] == PUBLIC


@given(st.ip_addresses(v=4))
def test_ipv6_forms_of_a_private_address_are_not_public(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    wrapped = (
        (0xFFFF << 32) | number,
        (0x0064FF9B << 96) | number,
        (0x2002 << 112) | (number << 80),
        (0x20014860 << 96) | (0x5EFE << 32) | number,
    )
    for value in wrapped:
        assert is_public(ipaddress.IPv6Address(value)) <= is_public(address)


def check(allowed: str, url: str, address: str) -> bool:
    try:
        Policy.parse((allowed,)).check(parse_url(url), ipaddress.ip_address(address))
    except FetchError as error:
        assert (error.kind, error.reason) == ("refused", "private address")
        return False
    return True


def test_allowed_hosts_include_their_port() -> None:
    assert check("docs.internal", "http://docs.internal/", "10.0.0.7")
    assert check("docs.internal", "https://docs.internal/", "10.0.0.7")
    assert check("docs.internal:8000", "http://docs.internal:8000/", "127.0.0.1")
    assert check("127.0.0.1:8000", "http://127.0.0.1:8000/", "127.0.0.1")
    assert not check("docs.internal", "http://docs.internal:8000/", "10.0.0.7")
    assert not check("docs.internal:8000", "http://docs.internal/", "10.0.0.7")
    assert not check("docs.internal", "http://other.internal/", "10.0.0.7")
    assert not check("127.0.0.1", "http://localhost/", "127.0.0.1")
    assert not check("127.0.0.1", "http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1")
    assert check("docs.internal:443", "https://docs.internal/", "10.0.0.7")


def test_an_allowed_name_does_not_allow_the_metadata_service() -> None:
    assert not check("docs.internal", "http://docs.internal/", "169.254.169.254")
    assert not check("docs.internal", "http://docs.internal/", "224.0.0.1")
    assert not check("docs.internal", "http://docs.internal/", "0.0.0.0")
    assert check("169.254.169.254", "http://169.254.169.254/", "169.254.169.254")
