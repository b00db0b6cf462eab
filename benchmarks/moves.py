"""What assignments are measured by: how many partitions move, how many must, and how many would by modulo N."""

from collections.abc import Collection, Mapping


def moves(before: Mapping[int, str], after: Mapping[int, str]) -> int:
    """How many partitions have another owner than before, or one for the first time."""
    return sum(before.get(partition) != member for partition, member in after.items())


def fewest_moves(partitions: int, weights: Mapping[str, int], previous: Mapping[int, str]) -> int:
    """How many moves a balanced assignment takes at least: what lies above the members' shares rounded up, is nobody's,
    or must go where less than the shares rounded down is held. A lower bound, told without making an assignment."""
    total = sum(weights.values())
    held = dict.fromkeys(weights, 0)
    for partition in range(partitions):
        if (member := previous.get(partition)) in held:
            held[member] += 1
    above = sum(max(0, held[m] + (-partitions * w // total)) for m, w in weights.items())
    below = sum(max(0, partitions * w // total - held[m]) for m, w in weights.items())
    return max(above + partitions - sum(held.values()), below)


def modulo(partitions: int, members: Collection[str]) -> dict[int, str]:
    """What is compared with: partition p belongs to member p mod N."""
    ordered = sorted(members)
    return {partition: ordered[partition % len(ordered)] for partition in range(partitions)}
