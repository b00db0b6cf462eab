"""Whose turn each address is, in Redis: one script decides for all addresses of a request, in one round trip.

What is known of an address is one value that expires. All have the same hash tag, so that a turn of several addresses
is taken whole or not, in a Redis Cluster too. Times are those of Redis' own clock, in milliseconds; what comes and goes
is durations. The run id of the server goes with each answer: another one may lack the last turns.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from gregor.worker.adapters.cluster.redis_client import RedisClient, RedisCommand
from gregor.worker.adapters.cluster.redis_scripts import Script
from gregor.worker.borders.addresses import AddressGrant, AddressUse, HoldTerms

# KEYS[1]: the hash tag; ARGV: "take" or "release", the worker, four terms, then each address with the requests that run
# and the milliseconds since the last start. Of an address: who has it (h) until when it may begin (s) and send (u), who
# had it last (p) for how long (l), when it was let go (f), the last start of anyone (n), who waits (w) since when and
# asks again when, who has how many requests running (b) and until when that is believed.
_TURN: Final = """
local call, floor = redis.call, math.floor
local time = call('TIME')
local now = time[1] * 1000 + floor(time[2] / 1000)
local take, who = ARGV[1] == 'take', ARGV[2]
local shortest, longest = tonumber(ARGV[3]), tonumber(ARGV[4])
local allowance, lasting = tonumber(ARGV[5]), tonumber(ARGV[6])
local NEAR, PATIENCE, AGAIN = 100, 1000, 50
local states, again, contended = {}, 0, 0
local function refuse(milliseconds) again = math.max(again, milliseconds, AGAIN) end
for at = 7, #ARGV, 3 do
  local key = KEYS[1] .. ARGV[at]
  local data = call('GET', key)
  local s = data and cmsgpack.unpack(data) or {h = '', s = 0, u = 0, p = '', l = 0, f = 0, n = -1, w = {}, b = {}}
  s.key = key
  states[#states + 1] = s
  local running, since = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  if running > 0 then s.b[who] = {running, now + lasting} else s.b[who] = nil end
  for other, busy in pairs(s.b) do if busy[2] <= now then s.b[other] = nil end end
  if s.h ~= '' and s.u <= now then
    if s.h ~= who then s.n = math.max(s.n, s.u) end
    s.f, s.h = s.u, ''
  end
  if since >= 0 then s.n = math.max(s.n, now - since) end
  local first, others = nil, false
  for other, waits in pairs(s.w) do
    if other ~= who then
      if waits[2] + PATIENCE < now then s.w[other] = nil
      else
        others = true
        if not first or waits[1] < first then first = waits[1] end
      end
    end
  end
  if others then contended = 1 end
  if s.h == who and (not take or (others and now >= s.s - NEAR)) then
    s.h, s.u, s.f = '', now, now
    if take then refuse(AGAIN) end
  elseif take and s.h ~= '' and s.h ~= who then refuse(s.s - now)
  elseif take and s.h == '' and first and now - s.f < PATIENCE and first < (s.w[who] and s.w[who][1] or now + 1) then
    refuse(AGAIN)
  end
end
local answer = {again == 0 and 1 or 0, again, contended, string.match(call('INFO', 'server'), 'run_id:(%w+)') or ''}
local least = longest
for _, s in ipairs(states) do
  if take and again > 0 then
    s.w[who] = {s.w[who] and s.w[who][1] or now, now + again}
  elseif take then
    s.w[who] = nil
    if s.h ~= who or now >= s.s - NEAR then
      s.l = (contended == 0 and s.p == who) and math.min(longest, math.max(shortest, s.l * 2)) or shortest
      s.h, s.p, s.s = who, who, now + s.l
      s.u = s.s + allowance
    end
    least = math.min(least, s.s - now)
  end
  local running = 0
  for other, busy in pairs(s.b) do if other ~= who then running = running + busy[1] end end
  answer[#answer + 1] = running
  answer[#answer + 1] = s.n < 0 and -1 or math.max(0, now - s.n)
  local key = s.key
  s.key = nil
  local busy = 0
  for _ in pairs(s.b) do busy = lasting end
  call('SET', key, cmsgpack.pack(s), 'PX', math.max(s.u - now, busy, 0) + 60000)
end
if again == 0 then answer[2] = math.max(1, least) end
return answer
"""
TURN: Final = Script(_TURN, hashlib.sha1(_TURN.encode(), usedforsecurity=False).hexdigest())


class RedisAddresses:
    """`AddressTurns`."""

    def __init__(self, client: RedisClient, crawl: str) -> None:
        """``crawl`` is the crawl's random id."""
        self._client = client
        self._tag = f"{{{crawl}:addresses}}"

    async def take(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> AddressGrant:
        (answer,) = await self._client.write([self._command("take", worker, uses, terms)])
        granted, milliseconds, contended, server, *others = answer
        return AddressGrant(
            bool(granted),
            milliseconds / 1000.0,
            bool(contended),
            tuple(
                AddressUse(use.address, running, since / 1000.0 if since >= 0 else -1.0)
                for use, running, since in zip(uses, others[::2], others[1::2], strict=True)
            ),
            server.decode(),
        )

    async def release(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> None:
        if uses:
            await self._client.write([self._command("release", worker, uses, terms)])

    def _command(self, what: str, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> RedisCommand:
        times = (terms.shortest, terms.longest, terms.allowance, terms.lasting)
        arguments: list[Any] = [what, worker, *map(_milliseconds, times)]
        for use in uses:
            arguments += [use.address, use.running, -1 if use.since < 0.0 else _milliseconds(use.since)]
        return RedisCommand(self._tag, tuple(arguments), TURN)


def _milliseconds(seconds: float) -> int:
    return int(1000 * seconds)


async def probe_addresses(client: RedisClient, crawl: str) -> None:
    """See that this user may do it. Raises `Unavailable`."""
    terms = HoldTerms(0.001, 0.001, 0.001, 0.001)
    await RedisAddresses(client, crawl).take("probe", [AddressUse("probe")], terms)
