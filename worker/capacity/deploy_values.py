"""A plan as the values of terraform/examples/cluster and of helm/gregor: only what it computed, and no secrets."""

import math
from typing import Final

from gregor.worker.base.errors import BadInput
from gregor.worker.capacity.model import LARGEST_DISK
from gregor.worker.capacity.types import Plan

TERRAFORM: Final = "terraform.tfvars.json"
HELM: Final = "values.yaml"
_HEADROOM: Final = 1.2
"""Of the budget alarm over the bill."""


def terraform(plan: Plan) -> dict[str, object]:
    """Variables of the example ``cluster``. BadInput when the plan is beyond what its modules make."""
    if plan.shards > 1:
        raise BadInput(f"the Terraform modules make one shard of Redis, and this takes {plan.shards:,}")
    return {
        "partitions": plan.partitions,
        "workers_min": plan.workers.count,
        "workers_max": plan.workers_max,
        "worker_instance_type": plan.workers.machine.name,
        "spot": True,
        "kafka_brokers": plan.kafka.count,
        "kafka_instance_type": plan.kafka.machine.name,
        "kafka_volume_size": plan.kafka.disk,
        "kafka_volume_size_max": min(LARGEST_DISK, 2 * plan.kafka.disk),
        "redis_node_type": plan.redis.machine.name,
        "redis_nodes": plan.redis.count,
        "cassandra_nodes": plan.cassandra.count,
        "cassandra_instance_type": plan.cassandra.machine.name,
        "cassandra_volume_size": plan.cassandra.disk,
        "budget": math.ceil(plan.month * _HEADROOM / 100) * 100,
    }


def helm(plan: Plan, worker_memory: float) -> dict[str, object]:
    """Values of the chart, for workers on servers that are there. ``worker_memory``: MB that were measured."""
    memory = f"{max(1024, 512 * math.ceil(2 * worker_memory * 1e6 / 2**20 / 512))}Mi"
    wish = plan.wish
    return {
        "config": {
            "partitions": plan.partitions,
            "delay": wish.delay,
            "concurrency": plan.concurrency,
            "kafka_replication": wish.kafka_replication,
            "cassandra_replication": wish.cassandra_replication,
        },
        "workers": {
            "replicas": plan.workers.count,
            "resources": {"requests": {"cpu": "1", "memory": memory}, "limits": {"memory": memory}},
        },
        "autoscaling": {"minimum": plan.workers.count, "maximum": plan.workers_max},
    }
