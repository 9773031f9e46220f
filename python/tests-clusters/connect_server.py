"""A server of Spark Connect: prints its port, and stops at the end of its input. Its jar is in the
package pyspark."""

import sys

from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]")
for key, value in {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    # One that is free.
    "spark.connect.grpc.binding.port": "0",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}.items():
    builder = builder.config(key, value)
session = builder.getOrCreate()
session.sparkContext.setLogLevel("OFF")
service = getattr(session._jvm.org.apache.spark.sql.connect.service, "SparkConnectService$")
print(getattr(service, "MODULE$").localPort(), flush=True)
sys.stdin.read()
session.stop()
