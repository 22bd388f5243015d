"""A worker in Python for Carillon's HTTP API. It needs nothing but the standard library.

    CARILLON_URL=http://127.0.0.1:7117 python3 worker.py

It executes one run at a time. A thread renews its lease, so a long handler keeps its run. If the worker is silent for
longer than the lease, other workers take its runs, and what it says about them later changes nothing.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request

URL = os.environ.get("CARILLON_URL", "http://127.0.0.1:7117").rstrip("/") + "/api/v1/work/"
TOKEN = os.environ.get("CARILLON_TOKEN")
LEASE_S = float(os.environ.get("CARILLON_LEASE_S", "60"))


def greet(data, run):
    """A handler takes the input and the run, and returns a result as JSON."""
    return "Hello " + data["name"]


def rest(data, run):
    """A long handler looks now and then whether its run is still its own."""
    for _ in range(int(data["seconds"] * 10)):
        if run["id"] in gone:
            raise InterruptedError("the run was cancelled or lost")
        time.sleep(0.1)
    return "rested"


HANDLERS = {"py.greet": greet, "py.rest": rest}

lease = None
held = {}  # The runs that this worker holds, by their ids.
gone = set()  # Those of them that it has lost, or that are cancelled.
stopping = threading.Event()


class LeaseLost(Exception):
    pass


def call(verb, body, patience=30):
    """Posts to the API. Tries again until the server answers."""
    headers = {"Content-Type": "application/json"}
    if TOKEN:
        headers["Authorization"] = "Bearer " + TOKEN
    request = urllib.request.Request(URL + verb, json.dumps(body).encode(), headers)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=patience) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            problem = json.load(error)
            if problem.get("code") == "LEASE_LOST":
                raise LeaseLost() from error
            if not problem.get("retryable"):
                raise RuntimeError(problem.get("detail")) from error
        except (OSError, ValueError) as error:
            print("no answer:", error, file=sys.stderr)
        if verb == "claim" and stopping.is_set():
            return {"lease": lease, "runs": []}
        time.sleep(1)


def beat():
    """Renews the lease three times as often as it must be."""
    unlisted = set()
    while not stopping.wait(LEASE_S / 3):
        if lease is None:
            continue
        runs = [{"id": run["id"], "claim": run["claim"]} for run in list(held.values())]
        try:
            said = call("heartbeat", {"lease": lease, "runs": runs, "leaseFor": LEASE_S * 1000}, patience=LEASE_S / 3)
        except LeaseLost:
            gone.update(list(held))
            continue
        gone.update(said["lost"], (run["id"] for run in said["cancelled"]))
        # The answer to their claim was lost: give them back.
        found = {run["id"]: run for run in said["unlisted"]}
        orphans = [{**run, "outcome": "released"} for run in found.values() if run["id"] in unlisted - set(held)]
        if orphans:
            call("settle", {"lease": lease, "ends": orphans, "leaseFor": LEASE_S * 1000})
        unlisted = set(found)


def execute(run):
    began = time.monotonic()
    end = {"id": run["id"], "claim": run["claim"], "outcome": "succeeded"}
    try:
        end["result"] = HANDLERS[run["job"]](run["input"], run)
    except Exception as error:
        message = {"message": str(error) or type(error).__name__, "stack": traceback.format_exc()}
        end.update(outcome="cancelled" if run["id"] in gone else "failed", error=message)
    end["durationMs"] = int((time.monotonic() - began) * 1000)
    return end


def work():
    global lease
    worker = {"name": f"{socket.gethostname()}:{os.getpid()} (python)", "jobs": list(HANDLERS)}
    while not stopping.is_set():
        who = {"worker": worker} if lease is None else {"lease": lease}
        try:
            claimed = call("claim", {**who, "limit": 1, "wait": "20s", "leaseFor": LEASE_S * 1000}, patience=30)
            lease = claimed["lease"]
            for run in claimed["runs"]:
                held[run["id"]] = run
                print("started", run["job"], run["id"], flush=True)
                settled = call("settle", {"lease": lease, "ends": [execute(run)], "leaseFor": LEASE_S * 1000})
                print("settled", run["id"], settled["runs"][0].get("state", "by another worker"), flush=True)
        except LeaseLost:
            print("lease lost", flush=True)
            lease = None
        held.clear()
        gone.clear()
    if lease is not None:
        call("heartbeat", {"lease": lease, "leaving": True})


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    threading.Thread(target=beat, daemon=True).start()
    print("ready", flush=True)
    work()
