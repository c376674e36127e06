import { describe, expect, it } from 'vitest'
import type { HealthHistory } from '#read-api/contract/channel-health.ts'
import {
  aCall,
  admitted,
  channelCreated,
  type Given,
  NOW,
  releasedCall,
  settledCall,
} from '#test/projections/fixture.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture } from './fixture.ts'

const api = startedForEach(apiFixture)

const PATH = '/api/channel/1/health_history'
const HOUR = 3_600_000

async function given(...facts: Given[]): Promise<void> {
  await api.settled(await api.append(facts))
}

async function history(query = '', path = PATH) {
  const answer = await api.get<HealthHistory>(`${path}${query}`, await api.logIn(ADMIN))
  return { status: answer.status, body: answer.body }
}

/** Hours before now, of channel 1 unless it is said. */
const settledAt = (hours: number, channelId = 1): Given[] => {
  const call = aCall({ isStream: true })
  const at = NOW - hours * HOUR
  return [admitted(call, at), settledCall(call, 1, at, channelId)]
}
const failedAt = (hours: number): Given[] => {
  const call = aCall()
  const at = NOW - hours * HOUR
  const released = releasedCall(call, at)
  const attempts = [{ channelId: 1, status: 503, error: 'status', latencyMs: 40 }]
  return [admitted(call, at), { ...released, data: { ...released.data, attempts } }]
}

describe('GET /api/channel/{id}/health_history', () => {
  it('is for admins, and only for existing channels and valid ranges', async () => {
    await given(channelCreated(1, 'one'))
    expect((await api.get(PATH)).status).toBe(401)
    expect((await api.get(PATH, await api.logIn(ALICE))).status).toBe(403)
    expect((await history('', '/api/channel/9/health_history')).status).toBe(404)
    expect((await history('', '/api/channel/x/health_history')).status).toBe(400)
    const refused = await history('?range=30d')
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.body)).toContain('range')
  })

  it.each([
    ['1h', 120, 30],
    ['24h', 1_800, 48],
    ['7d', 10_800, 56],
  ])('returns every step of %s, of which the last contains now', async (range, step, count) => {
    await given(channelCreated(1, 'one'))
    const { data } = (await history(`?range=${range}`)).body
    expect(data).toMatchObject({ range, step })
    expect(data.points).toHaveLength(count)
    const starts = data.points.map(({ at }) => at)
    const [first = 0] = starts
    expect(starts).toEqual(starts.map((_, index) => first + index * step))
    expect(first % step).toBe(0)
    const last = starts.at(-1) ?? 0
    expect(last * 1_000).toBeLessThanOrEqual(NOW)
    expect((last + step) * 1_000).toBeGreaterThan(NOW)
  })

  it('counts the calls of this channel that ended in each step, with their latency', async () => {
    await given(
      channelCreated(1, 'one'),
      channelCreated(2, 'two'),
      ...settledAt(0),
      ...settledAt(0),
      ...failedAt(0),
      ...settledAt(0, 2),
      ...settledAt(3),
      ...failedAt(30),
    )
    const { data } = (await history()).body
    const busy = data.points.filter(({ successes, failures }) => successes + failures > 0)
    expect(busy.map(({ successes, failures }) => [successes, failures])).toEqual([
      [1, 0],
      [2, 1],
    ])
    const [, now] = busy
    expect(now?.at).toBe(data.points.at(-1)?.at)
    expect(now?.latency_ms?.p50).toBeGreaterThan(0)
    expect(now?.latency_ms?.p95).toBeGreaterThanOrEqual(now?.latency_ms?.p50 ?? Infinity)
    expect(now?.first_token_ms?.p50).toBeGreaterThan(0)
    const week = (await history('?range=7d')).body.data.points
    const sum = (of: 'successes' | 'failures') => week.reduce((all, point) => all + point[of], 0)
    expect([sum('successes'), sum('failures')]).toEqual([3, 2])
  })

  it('returns null latencies for a step without successful calls', async () => {
    await given(channelCreated(1, 'one'), ...failedAt(2))
    const { points } = (await history()).body.data
    const failed = points.filter(({ failures }) => failures > 0)
    expect(failed).toMatchObject([{ successes: 0, latency_ms: null, first_token_ms: null }])
    const empty = points.filter(({ failures }) => failures === 0)
    expect(empty).toHaveLength(47)
    expect(empty[0]).toMatchObject({ successes: 0, latency_ms: null, first_token_ms: null })
  })
})
