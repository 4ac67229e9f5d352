"""Tests of TestNG get the parameters that the project's suites give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.model.words import Label
from tests.projects import mined, pom, source, write

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

BUILD = """<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId>
  <artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version><configuration>
  <suiteXmlFiles><suiteXmlFile>testng.xml</suiteXmlFile></suiteXmlFiles>
  </configuration></plugin></plugins></build>"""
JUNIT = '<groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version>'
TESTNG = '<groupId>org.testng</groupId><artifactId>testng</artifactId><version>7.5.1</version>'
SUITE = """<!DOCTYPE suite SYSTEM "https://testng.org/testng-1.0.dtd">
<suite name="shop"><parameter name="count" value="2"/>
  <parameter name="price" value="{}"/>
  <test name="one"><parameter name="side" value="left"/><classes>
    <class name="shop.TillTest"/></classes></test>
  <test name="other"><parameter name="side" value="right"/></test></suite>
"""
TEST = """package shop;
import static org.testng.Assert.*;
import org.testng.annotations.*;
public class TillTest {{
    @Test @Parameters("count") public void counts(int count) {{
        assertEquals(Till.price() * count, {});
    }}
    @Test @Parameters("price") public void sells(int price) {{
        assertEquals(Till.price() + {}, price + {});
    }}
    @Test @Parameters({{"side"}}) public void sides(@Optional("neither") String side) {{
        assertEquals(side + Till.price(), "neither{}");
    }}
}}
"""


def test_parameters_of_a_suite_reach_its_tests_unless_its_parts_contradict(tmp_path: Path) -> None:
    steps = [
        {
            'pom.xml': pom(BUILD).replace(JUNIT, TESTNG),
            'testng.xml': SUITE.format(number),
            **source('Till', f'    public static int price() {{ return {number}; }}\n'),
            'src/test/java/shop/TillTest.java': TEST.format(2 * number, number, number, number),
        }
        for number in (3, 4)
    ]
    found = mined(write(tmp_path / 'repository', steps), tmp_path / 'store')
    assert {row.test_method: row.label for row in found.methods} == {
        'counts': Label.UPDATE,
        'sells': Label.UPDATE,
        'sides': Label.UPDATE,
    }
