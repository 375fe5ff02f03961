"""Runs the kernels of fewer-lab on a Spark cluster: Spark reads, shuffles, sorts and recovers; every number comes from
the kernels, which are a program that rows are piped through.

Started by fewer-lab with the path of a JSON file that says what to do. Tells on standard output which stage begins,
and waits on standard input for the file of commits with transitions once the survey is written. An error that people
can mend ends with code 3 and a sentence on standard error.
"""

import json
import os
import subprocess
import sys
import threading


def give_up(message):
    print(message, file=sys.stderr)
    sys.exit(3)


def load_packages():
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        give_up(f"{sys.executable} has no pyarrow ({error}): install it with `{sys.executable} -m pip install pyarrow`")
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        give_up(
            f"{sys.executable} has no pyspark ({error}): install the version of your cluster with "
            f"`{sys.executable} -m pip install pyspark`"
        )


def connect(job):
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.builder.appName("fewer-lab")
        .master(job["master"])
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.parquet.enableVectorizedReader", "true")
    )
    for name, value in job["settings"]:
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:  # Java and the cluster say why in many ways.
        text = str(error)
        if "JAVA_GATEWAY_EXITED" in text or "JAVA_HOME" in text:
            give_up("Spark cannot start Java: install Java 17 (Debian: default-jdk-headless), or set JAVA_HOME")
        give_up(f"Spark cannot be reached at {job['master']}: {text.splitlines()[0] if text else error!r}")
    session.sparkContext.setLogLevel("ERROR")
    return session


def kernel(job, arguments, files):
    """Pipes the batches of a partition through the kernel: Arrow IPC in, Arrow IPC out."""
    name = os.path.basename(job["program"])

    def pipe(batches):
        import pyarrow
        from pyspark import SparkFiles

        first = next(batches, None)
        if first is None:
            return
        shipped = [word for option, file in files for word in (option, SparkFiles.get(file))]
        program = [SparkFiles.get(name), "kernel", *arguments, *shipped]
        child = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        problems = []

        def feed():
            try:
                with pyarrow.ipc.new_stream(child.stdin, first.schema) as stream:
                    stream.write_batch(first)
                    for batch in batches:
                        stream.write_batch(batch)
                child.stdin.close()
            except BrokenPipeError:
                pass  # The kernel has ended; it says why.
            except BaseException as error:
                problems.append(error)
                child.kill()

        said = []
        listener = threading.Thread(target=lambda: said.append(child.stderr.read()))
        feeder = threading.Thread(target=feed)
        listener.start()
        feeder.start()
        try:
            try:
                yield from pyarrow.ipc.open_stream(child.stdout)
            except pyarrow.ArrowInvalid as error:
                problems.append(error)
            feeder.join()
            code = child.wait()
            listener.join()
            if code != 0:
                raise RuntimeError(f"the kernel failed: {said[0].decode(errors='replace').strip()}")
            if problems:
                raise problems[0]
        finally:
            child.kill()
            child.wait()

    return pipe


def begin(stage):
    print(stage, flush=True)


def run(job):
    session = connect(job)
    context = session.sparkContext
    context.addFile(job["program"])
    files = []
    if job["modified_files"]:
        context.addFile(job["modified_files"])
        files.append(("--modified-files", os.path.basename(job["modified_files"])))

    columns = ["position", "time", "author", "target", "result", "pre_submit"]
    # The row number keeps executions of one target at one commit in their order.
    rows = session.read.parquet(job["executions"]).selectExpr(*columns, "_metadata.row_index AS row")
    partitions = job["partitions"] or max(2 * context.defaultParallelism, 2)
    by_target = rows.repartition(partitions, "target").sortWithinPartitions("target", "position", "row").drop("row")

    begin("label")
    surveys = by_target.mapInArrow(kernel(job, ["a", "--survey"], []), "survey string").collect()
    with open(job["survey"], "w", encoding="utf-8") as file:
        file.writelines(survey["survey"] + "\n" for survey in surveys)

    begin("surveyed")
    if not sys.stdin.readline():
        return  # Nobody waits any more.
    context.addFile(job["commits"])
    files.append(("--commits", os.path.basename(job["commits"])))

    scores = "".join(f", `{name}` int" for name in job["scored"])
    scored = by_target.mapInArrow(kernel(job, ["a", *job["experiment"]], files), f"position int, label tinyint{scores}")
    by_commit = scored.repartition(partitions, "position").sortWithinPartitions("position")
    sums = ", ".join(f"{name} bigint" for name in job["sums"])
    schema = f"configuration string, rate bigint, {sums}"
    tallies = by_commit.mapInArrow(kernel(job, ["b", *job["experiment"]], []), schema)
    begin("evaluate")
    added = tallies.groupBy("configuration", "rate").agg(*[summed(name) for name in job["sums"]]).collect()
    write(job, added)
    session.stop()


def summed(name):
    from pyspark.sql import functions

    return functions.sum(name).alias(name)


def write(job, rows):
    import pyarrow

    names = ["rate", *job["sums"]]
    columns = {"configuration": pyarrow.array([row["configuration"] for row in rows], pyarrow.string())}
    columns.update({name: pyarrow.array([row[name] for row in rows], pyarrow.int64()) for name in names})
    table = pyarrow.table(columns)
    with pyarrow.OSFile(job["tallies"], "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    load_packages()
    try:
        run(job)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        reason = next((line for line in str(error).splitlines() if "the kernel failed" in line), str(error))
        give_up(f"the Spark job failed: {reason.strip()}")


if __name__ == "__main__":
    main()
