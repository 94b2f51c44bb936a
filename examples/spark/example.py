"""Fit on this machine, predict on Spark: python example.py, or spark-submit --master 'local[2]' example.py"""

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

import stope
from stope.spark import kneighbors, transform

# Flowers of two kinds. A tenth of the colours is unknown.
rng = np.random.default_rng(0)
kind = rng.integers(0, 2, 1000)
flowers = pd.DataFrame({
    "length": rng.normal(5 + kind, 0.5).round(1),
    "color": np.where(rng.random(1000) < 0.1, None, np.where(kind + rng.random(1000) > 0.7, "blue", "white")),
})
model = stope.KNeighborsClassifier(5, metric="gower", categorical_features=["color"])
model.fit(flowers, np.where(kind == 1, "iris", "lily"))

spark = SparkSession.builder.appName("stope").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
table = spark.range(100_000).selectExpr(
    "id", "round(4 + 3 * rand(1), 1) AS length", "element_at(array('blue', 'white', 'red', NULL), int(1 + id % 4)) AS color")

predicted = transform(table, model, proba=True)
predicted.groupBy("color", "prediction").count().orderBy("color", "prediction").show()

nearest = kneighbors(table.limit(3), model, 2)
nearest.selectExpr("id", "train_index", "distance").orderBy("id").show(truncate=False)
spark.stop()
