import { once } from 'node:events'
import { beforeEach, describe, expect, it } from 'vitest'
import { AUDITOR } from '#domain/shared/user-roles-and-statuses.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import type { LiveMessage } from '#read-api/contract/live-messages.ts'
import { channelChanged, channelCreated, type Given, granted } from '#test/projections/fixture.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { budget, startStopwatch } from '#test/support/time-limit.ts'
import { ADMIN, ALICE, BOB, ROOT } from './fixture.ts'
import { type Listener, type LiveSite, liveSite } from './live-site.ts'

const site = startedForEach(liveSite)
const CHANNELS = Array.from({ length: 30 }, (_, n) => n + 1)
const TOPICS = ['audit-log'] as const
let api: LiveSite['api']

const roleChanged = (userId: number, role: number, authVersion: number): Given => ({
  stream: `user-${userId}`,
  ...{ type: 'UserRoleChanged', v: 1, data: { userId, role, authVersion } },
})
const follow = (userId: number, after?: number) => site.follow(userId, after, TOPICS)

beforeEach(async () => {
  api = site.api
  const channels = CHANNELS.map((id) => channelCreated(id, `channel ${id}`))
  await api.settled(await api.append([roleChanged(BOB, AUDITOR, 2), ...channels]))
})

const actsOf = ({ seen }: Listener): AuditAct[] =>
  seen.flatMap((m) => (m.type === 'event' && m.topic === 'audit-log' ? [m.data] : []))

/** All acts after a position, in the order of positions and objects, as the list shows them. */
async function listed(after: number): Promise<AuditAct[]> {
  const acts: AuditAct[] = []
  const headers = await api.logIn(ROOT)
  for (let cursor: string | null = ''; cursor !== null; ) {
    type Page = { items: AuditAct[]; next_cursor: string | null }
    const url: string = `/api/audit/log?limit=100&cursor=${cursor}`
    const page: Page = (await api.get<Page>(url, headers)).body.data
    acts.push(...page.items)
    cursor = page.next_cursor
  }
  return acts.reverse().filter(({ position }) => position > after)
}

const at = (position: number) => (message: LiveMessage) =>
  message.type === 'event' && message.position >= position

/** One event on thirty channels, among events on one channel each. */
const acts = (count: number): Given[] =>
  Array.from({ length: count }, (_, n) =>
    n % 50 === 13
      ? channelChanged(1, 'ChannelsEnabled', { channelIds: CHANNELS })
      : channelChanged(1 + (n % 30), 'ChannelAutoDisabled', { reason: `reason ${n}` }),
  )

describe('the live audit log', () => {
  it('sends each act as the list shows it, only to auditors and admins', async () => {
    const before = await api.core.store.headPosition()
    const [admin, auditor, alice] = [await follow(ADMIN), await follow(BOB), await follow(ALICE)]
    await api.append([granted(ALICE, 5)])
    const last = await api.append(acts(60))
    await Promise.all([admin.until(at(last)), auditor.until(at(last))])
    const expected = await listed(before)
    expect(expected.length).toBeGreaterThan(60 + 29)
    expect(actsOf(admin)).toEqual(expected)
    expect(actsOf(auditor)).toEqual(expected)
    expect(alice.seen.map(({ type }) => type)).toEqual(['ready'])
  })

  it('sends what a client missed, each act once, even if one event has many', async () => {
    const listener = await follow(BOB)
    const first = await api.append(acts(5))
    await listener.until(at(first))
    listener.socket.terminate()
    for (let n = 0; n < 3; n += 1) await api.append(acts(250))
    await api.settled(await api.core.store.headPosition())
    const resumed = await follow(BOB, first)
    const last = await api.append(acts(3))
    await resumed.until(at(last))
    const expected = await listed(first)
    expect(expected.length).toBeGreaterThan(753)
    expect(actsOf(resumed)).toEqual(expected)
  })

  it('ends when the auditor loses the role, and then sends nothing', async () => {
    const listener = await follow(BOB)
    const closing = once(listener.socket, 'close')
    const elapsedMs = startStopwatch()
    await api.append([roleChanged(BOB, 1, 3)])
    expect((await closing)[0]).toBe(1008)
    expect(elapsedMs()).toBeLessThan(budget(1_000))
    await api.settled(await api.core.store.headPosition())
    const demoted = await follow(BOB, 1)
    const admin = await follow(ADMIN)
    await admin.until(at(await api.append(acts(3))))
    expect(actsOf(demoted)).toEqual([])
  })
})
