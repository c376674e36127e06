import { describe, expect, it } from 'vitest'
import type { LiveMessage } from '#read-api/contract/live-messages.ts'
import type { LogStat } from '#read-api/contract/logs.ts'
import { aCall, admitted, settledCall } from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE } from './fixture.ts'
import { liveSite } from './live-site.ts'

const site = startedOnce(liveSite)

const statOf = (message: LiveMessage): LogStat | null =>
  message.type === 'event' && message.topic === 'stats' ? message.data : null

describe('the totals of the site', () => {
  it('are sent only to admins, on subscription and when they change', async () => {
    const topics = ['logs', 'inbox', 'channels', 'stats'] as const
    const [admin, alice] = [
      await site.follow(ADMIN, undefined, topics),
      await site.follow(ALICE, undefined, topics),
    ]
    const first = statOf(await admin.until((message) => statOf(message) !== null))
    expect(first).toMatchObject({ count: 0, quota: 0, rpm: 0 })
    const call = aCall({ userId: ALICE })
    await site.api.append([admitted(call), settledCall(call, 5)])
    const next = statOf(await admin.until((message) => statOf(message)?.count === 1))
    const session = await site.api.logIn(ADMIN)
    const rest = await site.api.app.inject({ url: '/api/log/stat', headers: session })
    expect(next).toMatchObject({ ...rest.json<{ data: LogStat }>().data, quota: 5 })
    // One more second of nothing new: nothing more is said.
    const again = await site.follow(ADMIN, undefined, ['stats'])
    await again.until((message) => statOf(message)?.count === 1)
    expect(admin.seen.map(statOf).filter((stat) => stat?.count === 1)).toHaveLength(1)
    expect(alice.seen.map(statOf).filter((stat) => stat !== null)).toEqual([])
  })
})
