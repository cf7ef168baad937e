"""Spark in the process of the tests: one session for a module, and no Java left afterwards."""

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from bilingual_crawler.corpus.cluster.spark_build import open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

needs_spark = pytest.mark.skipif(
    importlib.util.find_spec("pyspark") is None or shutil.which("java") is None,
    reason="pip install 'bilingual-crawler[spark]', and Java 17: apt-get install"
    " openjdk-17-jre-headless",
)
MASTER = "local[1]"
QUICK = '--driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" pyspark-shell'
"""Java compiles little: the tests are over before that pays."""


@contextmanager
def running_spark() -> Iterator["SparkSession"]:
    """Provide a session on this machine; Java ends with it."""
    from pyspark import SparkContext  # noqa: PLC0415 - an extra

    os.environ["PYSPARK_SUBMIT_ARGS"] = QUICK
    session = open_session(MASTER)
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    try:
        yield session
    finally:
        del os.environ["PYSPARK_SUBMIT_ARGS"]
        session.stop()
        gateway = SparkContext._gateway
        gateway.shutdown()
        gateway.proc.stdin.close()  # Java ends when nobody can write to it any more
        gateway.proc.wait()
        SparkContext._gateway = SparkContext._jvm = None
