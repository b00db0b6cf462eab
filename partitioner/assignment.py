"""Who should own which partition: a pure function of the live members, their weights and the assignment before.

Every member gets its exact share, rounded down or up: of P partitions and weights w that sum to W, P*w/W. Among all
such assignments it is one of those that move the fewest partitions. (Modulo N, which moves nearly all of them when N
changes, and hashing onto a ring, which balances badly for few members, were rejected.)
"""

from collections.abc import Mapping


def assign(partitions: int, weights: Mapping[str, int], previous: Mapping[int, str]) -> dict[int, str]:
    """The member of each partition from 0 to ``partitions`` - 1; empty without members.

    ``weights`` has every live member with a weight of at least 1. ``previous`` says who has which partition; what it
    says of other members or partitions is ignored. The same arguments give the same answer, in whatever order.
    """
    if not weights:
        return {}
    held: dict[str, list[int]] = {member: [] for member in sorted(weights)}
    for partition in range(partitions):
        if (member := previous.get(partition)) in held:
            held[member].append(partition)
    wanted = _shares(partitions, weights, {member: len(mine) for member, mine in held.items()})
    kept = {member: mine[: wanted[member]] for member, mine in held.items()}
    assignment = {partition: member for member, mine in kept.items() for partition in mine}
    free = (partition for partition in range(partitions) if partition not in assignment)
    room = [member for member, mine in kept.items() for _ in range(wanted[member] - len(mine))]
    assignment.update(zip(free, room, strict=True))
    return assignment


def _shares(partitions: int, weights: Mapping[str, int], held: Mapping[str, int]) -> dict[str, int]:
    """How many each member gets: its share rounded down, one more for as many as it takes.

    One more goes first to whoever has it already: each saves a move, and nothing else could. Then to the largest rest.
    """
    total = sum(weights.values())
    shares = {member: partitions * weight // total for member, weight in weights.items()}
    rests = {member: partitions * weight % total for member, weight in weights.items()}

    def claim(member: str) -> tuple[bool, int, str]:
        return (held[member] <= shares[member], -rests[member], member)

    # Fewer are left over than there are members with a rest: their rests sum to the total times the number left over.
    for member in sorted((m for m in weights if rests[m]), key=claim)[: partitions - sum(shares.values())]:
        shares[member] += 1
    return shares
