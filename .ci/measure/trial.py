"""One timed trial, and what all measurements share: a scratch folder that goes
again, a cold page cache, the seconds, CPU time and peak memory of a command."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

# /proc has no high-water mark of anonymous memory, so it is looked at this often.
POLL_MS = 20


@dataclasses.dataclass
class Trial:
    seconds: float = 0
    cpu: float = 0  # seconds of user and system time
    rss: int = 0  # peak bytes, mapped files included; 0: it ended before it was looked at
    anon: int = 0  # peak bytes of anonymous memory
    first: float | None = None  # seconds to the first file that is staged in a target


def parser(doc):
    """A parser with the options of each measurement; doc is the script's text."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--on", default="/var/tmp", metavar="DIR", help="a folder on the drive to measure (default: %(default)s)")
    p.add_argument("--bin", metavar="HOURHAND", help="default: built from this checkout")
    p.add_argument("--json", action="store_true")
    return p


def refuse(text):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {text}")


def need(*tools):
    """Ends the script with what is missing: root, or tools."""
    missing = [] if os.geteuid() == 0 else ["root"]
    missing += [t for t in tools if not shutil.which(t)]
    if missing:
        refuse("missing: " + ", ".join(missing))


def room(folder, size):
    """Ends the script if the drive of a folder has no room for size bytes and 5 %."""
    free = shutil.disk_usage(folder).free
    if free < size * 1.05:
        refuse(f"{folder}: needs {size * 1.05 / 1e9:.1f} GB, {free / 1e9:.1f} GB are free")


@contextlib.contextmanager
def scratch(on):
    """A new folder for everything that a script makes; it goes however the script ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hourhand-measure-", dir=on))
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    os.environ["HOURHAND_DATA"] = str(folder / "data")
    os.environ["RCLONE_CONFIG"] = str(folder / "rclone.conf")  # nobody's settings
    try:
        yield folder
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # rm inherits this
        remove(folder)


def remove(folder):
    """rm, because it goes to any depth."""
    subprocess.run(["rm", "-rf", folder], check=True)


def chosen(given, names):
    """The names of an option like A,B; all of them without it."""
    some = given.split(",") if given else list(names)
    if unknown := [n for n in some if n not in names]:
        refuse(f"no such case: {', '.join(unknown)}; there are {', '.join(names)}")
    return some


def hourhand(given, folder):
    """The program to measure."""
    if given:
        return shutil.which(given) or refuse(f"not a program: {given}")
    need("go")
    subprocess.run(["go", "build", "-o", folder / "hourhand", "./cmd/hourhand"], cwd=HERE.parent.parent, check=True)
    return str(folder / "hourhand")


def workload(name, folder, scale=1.0):
    """Makes a tree in a new folder."""
    made = subprocess.run([HERE / "workload", "--scale", str(scale), name, folder], stdout=subprocess.DEVNULL)
    if made.returncode:
        sys.exit(made.returncode)


def settle(folder):
    """What earlier trials left to write is written; none of it is charged to the next."""
    subprocess.run(["sync", "-f", folder], check=True)


def drop():
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


@contextlib.contextmanager
def started(argv, **how):
    """A process that is ended when the block is left early."""
    p = subprocess.Popen(argv, **how)
    try:
        yield p
    finally:
        end(p)


def end(p):
    """Asks a process of ours to end, then makes it."""
    if p.poll() is None:
        p.terminate()
        try:
            p.wait(20)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()


def run(*steps, made_in=None):
    """Runs steps, command lines or functions, one after the other under one clock.

    made_in is a target; the time until hourhand makes the first file in it is taken too.
    """
    whole = Trial()
    began = time.monotonic()
    for step in steps:
        if callable(step):
            step()
            continue
        with tempfile.TemporaryFile() as err, started(step, stdout=subprocess.DEVNULL, stderr=err) as p:
            watch(p, whole, began, made_in)
            if p.returncode:
                err.seek(0)
                refuse(f"exit code {p.returncode}: {' '.join(map(str, step))}\n{err.read().decode()[-500:]}")
    whole.seconds = time.monotonic() - began
    return whole


def watch(p, whole, began, made_in):
    """Waits for a process and adds to a trial what it took."""
    gone = select.poll()
    fd = os.pidfd_open(p.pid)
    gone.register(fd, select.POLLIN)
    try:
        looked = 0.0
        while not gone.poll(1 if made_in and whole.first is None else POLL_MS):
            now = time.monotonic()
            if made_in and whole.first is None and holds_copy(made_in):
                whole.first = now - began
            if now - looked >= POLL_MS / 1000:
                looked = now
                rss, anon = memory(p.pid)
                whole.rss, whole.anon = max(whole.rss, rss), max(whole.anon, anon)
    finally:
        os.close(fd)
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    whole.cpu += used.ru_utime + used.ru_stime


def fio(argv):
    """Runs fio with these arguments and gives its report on each job."""
    with started(["fio", "--output-format=json", *argv], stdout=subprocess.PIPE) as p:
        out = p.stdout.read().decode()
        if p.wait():
            refuse(f"fio ended with exit code {p.returncode}: {out[-500:]}")
    return json.loads(out)["jobs"]


def memory(pid):
    """Peak resident and present anonymous bytes of a process and its children."""
    rss = anon = 0
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                rss = int(line.split()[1]) << 10
            elif line.startswith("RssAnon:"):
                anon = int(line.split()[1]) << 10
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            more = memory(int(child))
            rss, anon = rss + more[0], anon + more[1]
    except (FileNotFoundError, ProcessLookupError):
        pass  # it ended meanwhile
    return rss, anon


def holds_copy(target):
    """Whether `hourhand mirror` has staged a file in a target, as it does before it gives it its name."""
    return any(files for _, _, files in os.walk(os.path.join(target, ".hourhand", "tmp", "mirror")))


def spread(values):
    """Median, least and most."""
    return statistics.median(values), min(values), max(values)


def show(rows):
    """Prints rows, dicts of the same keys, as a table; the first column to the left."""
    cells = [list(rows[0])] + [["-" if v is None else str(v) for v in r.values()] for r in rows]
    wide = [max(map(len, column)) for column in zip(*cells)]
    for line in cells:
        print("  ".join([line[0].ljust(wide[0])] + [c.rjust(w) for c, w in zip(line[1:], wide[1:])]))


def report(title, rows, as_json):
    if as_json:
        print(json.dumps({"measured": title, "rows": rows}))
        return
    print(title)
    show(rows)
    print(flush=True)
