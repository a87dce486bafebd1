"""Executors as pods: a double of Kubernetes' API server, and a node of which each pod is a machine
of its own, which shares nothing with the driver but an S3 server."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from tests.support.certificates import certificate_of
from tests.support.drivers import AGAIN, SEVERAL, driver, ended, only_line, said, wait_until
from tests.support.kubelet import Kubelet
from tests.support.kubernetes_api import Api, Key, served
from tests.support.networks import HUB, Network
from tests.support.places import ROOT
from tests.support.s3 import Store, locally

IMAGE = "registry.example/logreplay-executor:1"
TOKEN = "token-never-in-a-message"
OTHER = "other-never-in-a-message"
NAMESPACE = "logs"
NOTHING = {"memory": "0", "cpu": "0"}


@dataclass
class Cluster:
    """A cluster that runs, the store that its pods use, and a folder with certificate, token and
    what the driver writes."""

    api: Api
    node: Kubelet
    network: Network
    store: Store
    folder: Path

    def options(self, settings: Mapping[str, str] | None = None) -> list[str]:
        """The words of a command that name the cluster."""
        prefix = "spark.kubernetes"
        secret = f"{prefix}.executor.secretKeyRef"
        asked = {
            f"{prefix}.container.image": IMAGE,
            f"{prefix}.namespace": NAMESPACE,
            f"{prefix}.authenticate.caCertFile": str(self.folder / "server.pem"),
            f"{prefix}.authenticate.oauthTokenFile": str(self.folder / "token"),
            f"{secret}.AWS_ACCESS_KEY_ID": "store:user",
            f"{secret}.AWS_SECRET_ACCESS_KEY": "store:password",
            "spark.executorEnv.AWS_ENDPOINT_URL": self.store.environment["AWS_ENDPOINT_URL"],
            "spark.executorEnv.AWS_DEFAULT_REGION": "us-east-1",
            "spark.executor.memory": "600m",
            "spark.driver.memory": "600m",
            **(settings or {}),
        }
        words = [word for one in asked.items() for word in ("--conf", "=".join(one))]
        return ["--engine", "spark", "--master", f"k8s://{self.api.url}", "--split-mb", "1", *words]

    def started(self, *commands: list[str], program: str = SEVERAL) -> subprocess.Popen[str]:
        environment = self.store.environment
        return driver(self.network, self.folder, environment, commands, program=program)


def role_of_the_docs() -> set[tuple[str, str]]:
    """What the account of logreplay may do, as users are told to say."""
    text = (ROOT / "replay" / "docs" / "cluster.md").read_text(encoding="utf-8")
    blocks = map(dedent, re.findall(r"```yaml\n(.*?)```", text, re.DOTALL))
    role = next(map(yaml.safe_load, (block for block in blocks if "kind: Role" in block)))
    pairs = [(rule["resources"], rule["verbs"]) for rule in role["rules"]]
    return {pair for resources, verbs in pairs for pair in product(resources, verbs)}


@pytest.fixture
def cluster(wires: Network, store: Store, tmp_path: Path) -> Iterator[Cluster]:
    api = Api(TOKEN, role_of_the_docs())
    folder = tmp_path / "driver"
    folder.mkdir()
    (folder / "token").write_text(TOKEN, encoding="ascii")
    secret = {"user": "testing", "password": store.environment["AWS_SECRET_ACCESS_KEY"]}
    api.create(
        ("secrets", NAMESPACE, "store"), {"metadata": {"name": "store"}, "stringData": secret}
    )
    node = Kubelet(api, wires, tmp_path / "pods", [IMAGE])
    with served(api, wires.opened(), certificate_of(HUB, folder)):
        node.start()
        yield Cluster(api, node, wires, store, folder)
        node.stop()


def _driver_in_a_pod(api: Api) -> dict[str, str]:
    """Have a driver's pod, which is ready; the settings that name it."""
    container = {"name": "driver", "image": "-", "resources": {"requests": NOTHING}}
    key = ("pods", NAMESPACE, "logreplay")
    spec = {"nodeName": "another", "containers": [container]}
    api.create(key, {"metadata": {"name": key[2]}, "spec": spec})
    ready = {"type": "Ready", "status": "True"}
    api.patch(key, {"status": {"phase": "Running", "conditions": [ready]}})
    return {"spark.kubernetes.driver.pod.name": key[2]}


def _executors(cluster: Cluster) -> list[Key]:
    return [key for key in list(cluster.api.objects) if "-exec-" in key[2]]


#: Both directions of each family; redo is cut into more files.
WAYS = [
    (family, words)
    for family in ("logmaster", "db2luw", "soliddb")
    for words in (["redo", "--records-per-file", "3000"], ["undo", "--schema", "none"])
]


@pytest.mark.spark
@pytest.mark.long
def test_the_same_bytes(cluster: Cluster, logs: dict[str, list[str]], tmp_path: Path) -> None:
    """Of a driver in a pod. The end of the command leaves nothing."""
    on = cluster.options(_driver_in_a_pod(cluster.api))
    commands = [
        [*words, *logs[family], "--out", f"s3://logs/pods/{number}", *on]
        for number, (family, words) in enumerate(WAYS)
    ]
    process = cluster.started(*commands)
    wait_until(lambda: len(_executors(cluster)) == 3)
    for key in _executors(cluster):  # two pods, and a config map
        owners = cluster.api.get(key)["metadata"]["ownerReferences"]
        assert [owner["name"] for owner in owners] == ["logreplay"]
    ended(process)
    assert _executors(cluster) == []
    (tmp_path / "local").mkdir()
    for number, (family, words) in enumerate(WAYS):
        expected = locally(tmp_path / "local", [*words, *logs[family]])
        assert cluster.store.digests(f"pods/{number}") == expected, (family, words)


@pytest.mark.spark
@pytest.mark.long
def test_a_pod_that_is_deleted_while_it_works(
    cluster: Cluster, logs: dict[str, list[str]], tmp_path: Path
) -> None:
    """Another one takes its place; executors are allocated as there is work for them. Spark looks
    once a second whether it lacks one, and a command may end before: so the driver has work until
    Spark has asked for another, and the command that lost its pod is not the one that is repeated.
    """
    how = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.maxExecutors": "2",
    }
    words = ["redo", *logs["logmaster"], "--records-per-file", "1500"]
    places = ["s3://logs/deleted", "s3://logs/again"]
    on = [*cluster.options(how), "--overwrite"]
    commands = [[*words, "--out", place, *on] for place in places]
    process = cluster.started(*commands, program=AGAIN)
    wait_until(lambda: any("redo" in name for name in cluster.store.names("deleted")))
    cluster.api.delete(next(iter(cluster.node.running)), 0)
    asked = cluster.api.asked  # two at a time are the most
    wait_until(lambda: asked["create", "pods"] >= 3 or process.poll() is not None)
    (cluster.folder / "enough").touch()
    ended(process)
    assert asked["create", "pods"] >= 3
    (tmp_path / "local").mkdir()
    expected = locally(tmp_path / "local", words)
    assert [cluster.store.digests(name) for name in ("deleted", "again")] == [expected] * 2


#: What is wrong with a cluster, and what is said of it.
TROUBLES = {
    "full": "found no executor of k8s://{url} within 15 s (--executor-timeout), in the stage: write"
    " scripts (2 pods Pending: Unschedulable: 0/1 nodes are available: 1 Insufficient memory.)",
    "image": "(2 pods Pending: ImagePullBackOff: Back-off pulling image ",
    "crash": "found that Spark gave up its executors: Max number of executor failures (3) reached",
    "token": "Message: Unauthorized. The API server does not know the account: spark.kubernetes.",
    "role": "cannot create pods; expected executors that stay. The account that asks needs a role",
    "silent": ". Is --master k8s://URL the address of the API server, and can it be reached",
    "nobody": "ConnectException: Connection refused: /10.213.77.1:1. Is --master k8s://URL",
}
#: Seconds for which an executor is waited for, where none comes. Others fail before, however long
#: this machine takes for it.
WAITED = {"full": 15, "image": 15, "silent": 5}


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_cluster_that_cannot_be_had_is_an_error_and_not_a_hang(
    cluster: Cluster, logs: dict[str, list[str]], trouble: str
) -> None:
    settings = {
        "full": {"spark.executor.memory": "60g"},
        "image": {"spark.kubernetes.container.image": "registry.example/other:1"},
        "crash": {"spark.executor.extraJavaOptions": "-agentlib:none"},
        # Spark's end waits for that, where it gives up by itself
        "role": {"spark.kubernetes.executorSnapshotsSubscribersShutdownGracePeriod": "2s"},
    }
    if trouble == "role":
        cluster.api.rules = {rule for rule in role_of_the_docs() if rule != ("pods", "create")}
    if trouble == "silent":
        cluster.api.answers.clear()
    on = cluster.options(settings.get(trouble))
    if trouble == "token":
        name = "spark.kubernetes.authenticate.oauthToken"
        on[on.index(f"{name}File={cluster.folder / 'token'}")] = f"{name}={OTHER}"
    if trouble == "nobody":
        on[on.index(f"k8s://{cluster.api.url}")] = f"k8s://https://{HUB}:1"
    waited = ["--executor-timeout", str(WAITED.get(trouble, 100))]
    words = ["redo", *logs["logmaster"], "--out", "s3://logs/none", *waited]
    process = cluster.started([*words, *on])
    told = said(process)
    cluster.api.answers.set()
    line = only_line(told)
    assert line.startswith("logreplay: LR1005 ")
    assert TROUBLES[trouble].format(url=cluster.api.url) in line
    assert TOKEN not in told
    assert OTHER not in told
    assert cluster.store.digests("none") == {}
    if trouble in ("full", "image", "token"):
        assert _executors(cluster) == []
