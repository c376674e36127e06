import { sql } from 'slonik'
import { beforeAll, describe, expect, it } from 'vitest'
import { matching } from '#projections/logs/select-log-rows.ts'
import { monthOf } from '#projections/runner/monthly-partitions.ts'
import type { LogPage, LogStat } from '#read-api/contract/logs.ts'
import { newCallId } from '#relay/pipeline/http-exchange.ts'
import { aCall, admitted, NOW, settledCall } from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, BOB } from './fixture.ts'

const api = startedOnce(apiFixture)
const MONTH_MS = 31 * 86_400_000
const calls = [
  { userId: ALICE, at: NOW },
  { userId: ALICE, at: NOW - 3 * MONTH_MS },
  { userId: BOB, at: NOW - 10_000 },
].map(({ userId, at }) => ({ userId, at, id: newCallId(at) }))
const [recent, old, bobs] = calls.map(({ id }) => id) as [string, string, string]

beforeAll(async () => {
  const events = calls.flatMap(({ userId, at, id }) => {
    const call = aCall({ userId, tokenId: 1, call: id })
    return [admitted(call, at), settledCall(call, 5, at + 2_000)]
  })
  await api.settled(await api.append(events))
})

async function idsFor(requestId: string, who: number, isEverybodys = false): Promise<string[]> {
  const path = isEverybodys ? '/api/log/' : '/api/log/self/'
  const query = `${path}?request_id=${encodeURIComponent(requestId)}&page_size=100`
  const { status, body } = await api.get<LogPage>(query, await api.logIn(who))
  expect(status, body.message).toBe(200)
  expect(body.data.items).toHaveLength(body.data.total)
  return body.data.items.map(({ request_id }) => request_id)
}

describe('the log filtered by request id', () => {
  it('finds a call by its whole id, in either case and at any age', async () => {
    expect(await idsFor(recent, ALICE)).toEqual([recent])
    expect(await idsFor(old.toUpperCase(), ALICE)).toEqual([old])
  })

  it.each(['batch_', 'msgbatch_', 'batches/'])(
    'finds a batch by its id for callers, %s…',
    async (prefix) => {
      expect(await idsFor(prefix + old.replaceAll('-', ''), ALICE)).toEqual([old])
      expect(await idsFor(prefix + bobs.replaceAll('-', ''), ALICE)).toEqual([])
    },
  )

  it('finds a call by a prefix of at least eight characters', async () => {
    expect(await idsFor(old.slice(0, 8), ALICE)).toEqual([old])
    expect(await idsFor(old.slice(0, 20), ALICE)).toEqual([old])
    expect(await idsFor(old.slice(0, 7), ALICE)).toEqual([])
  })

  it('finds all calls that share the prefix', async () => {
    const alike = calls.map(({ id }) => id).filter((id) => id.startsWith(recent.slice(0, 8)))
    expect((await idsFor(recent.slice(0, 8), ADMIN, true)).toSorted()).toEqual(alike.toSorted())
  })

  it('finds calls of other users only for admins', async () => {
    expect(await idsFor(bobs, ALICE)).toEqual([])
    expect(await idsFor(bobs, ADMIN, true)).toEqual([bobs])
  })

  it('finds nothing by wildcards or by an unknown id', async () => {
    for (const text of ['%', '________', `${old.slice(0, 8)}%`, 'zzzzzzzz', '-'.repeat(8)]) {
      expect(await idsFor(text, ADMIN, true), text).toEqual([])
    }
  })

  it('returns the totals of that call', async () => {
    const path = `/api/log/self/stat?request_id=${old.slice(0, 13)}`
    const { body } = await api.get<LogStat>(path, await api.logIn(ALICE))
    expect(body.data.count).toBe(1)
  })
})

const planOf = (requestId: string): Promise<string> =>
  api.core.db.transaction(async (db) => {
    await db.query(sql.unsafe`set local enable_seqscan = off`)
    const rows = sql.fragment`select id from read_call_log.log where ${matching({ requestId })}`
    return (await db.anyFirst(sql.unsafe`explain ${rows}`)).join('\n')
  })

describe('the query for a request id', () => {
  it.each([
    ['a whole id', () => old],
    ['a prefix', () => old.slice(0, 10)],
  ])('uses an index for %s, and reads no months before the call', async (_name, requestId) => {
    const plan = await planOf(requestId())
    expect(plan).toMatch(/Index Cond: .*request_id/)
    const old = monthOf(Math.floor((NOW - 3 * MONTH_MS) / 1_000)).name
    expect(plan).toContain(`log_${old}`)
    expect(await planOf(recent)).not.toContain(`log_${old}`)
  })
})
