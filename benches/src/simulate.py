"""Labels, affected counts and author counts of a history in SQL, and the same read from the files that the pipeline
left behind. Prints both as JSON."""

import glob
import json
import sys

import duckdb

history, work = sys.argv[1:]
DAY = 24 * 3_600_000_000

database = duckdb.connect()
database.execute("SET threads TO 2")
database.execute("SET preserve_insertion_order TO false")
database.execute("SET enable_progress_bar TO false")

# One row per commit and target; of several executions the last that has a result counts.
LABELLED = f"""
WITH executions AS (
  SELECT position, epoch_us(time) AS t, author, target, result, file_row_number AS row
  FROM read_parquet('{history}/executions.parquet', file_row_number = true)
),
rows AS (
  SELECT position, target, any_value(t) AS t, any_value(author) AS author,
    max_by(result, row) FILTER (result <> 'not-run') AS result
  FROM executions GROUP BY position, target
),
neighbours AS (
  SELECT position, target, t, author, result,
    lag(result IGNORE NULLS) OVER by_target AS before,
    lag(CASE WHEN result IS NOT NULL THEN n END IGNORE NULLS) OVER by_target AS n_before,
    n,
    coalesce(result, lead(result IGNORE NULLS) OVER by_target) AS after
  FROM (SELECT *, row_number() OVER (PARTITION BY target ORDER BY position) AS n FROM rows)
  WINDOW by_target AS (PARTITION BY target ORDER BY position)
)
SELECT position, target, t, author,
  CASE
    WHEN before IS NULL THEN 3
    WHEN after IS NULL THEN 4
    WHEN before = after THEN 0
    WHEN result IS NULL OR n_before < n - 1 THEN 1
    ELSE 2
  END AS label
FROM neighbours
"""

database.execute(f"CREATE TEMP TABLE labelled AS {LABELLED}")
labels = dict(database.execute("SELECT label, count(*) FROM labelled GROUP BY label").fetchall())
SCORED = f"""
WITH scored AS (
  SELECT position, label,
    count(*) OVER window_before AS affected,
    count(DISTINCT coalesce(author, '')) OVER window_before AS authors
  FROM labelled
  WINDOW window_before AS (PARTITION BY target ORDER BY t RANGE BETWEEN {DAY - 1} PRECEDING AND 1 PRECEDING)
),
transitions AS (SELECT DISTINCT position FROM labelled WHERE label IN (1, 2))
SELECT count(*), sum(affected), sum(authors) FROM scored SEMI JOIN transitions USING (position) WHERE label < 3
"""
rows, affected, authors = database.execute(SCORED).fetchone()
sql = {
    "labels": [labels.get(label, 0) for label in range(5)],
    "scored_rows": rows,
    "affected_counts": int(affected),
    "author_counts": int(authors),
}

with open(f"{work}/stages.json", encoding="utf-8") as file:
    counts = json.load(file)["stages"]["label"]["result"]["counts"]
names = ["safe", "maybe_unsafe", "unsafe", "no_earlier_result", "after_last_result"]
files = glob.glob(f"{work}/scores-*.parquet")
rows, affected, authors = database.execute("SELECT count(*), sum(c1), sum(c2) FROM read_parquet(?)", [files]).fetchone()
pipeline = {
    "labels": [counts[name] for name in names],
    "scored_rows": rows,
    "affected_counts": int(affected),
    "author_counts": int(authors),
}
print(json.dumps({"sql": sql, "pipeline": pipeline}))
