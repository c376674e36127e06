import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createTaskProgress } from '#infra/task-progress/store-task-progress.ts'
import type { LiveMessage, LiveTopic } from '#read-api/contract/live-messages.ts'
import type { LogEntry, LogPage } from '#read-api/contract/logs.ts'
import { LiveSession } from '#read-api/live/live-session.ts'
import { LiveBuffer } from '#read-api/live/shared-live-buffer.ts'
import {
  aCall,
  admitted,
  budgetSet,
  channelChanged,
  channelCreated,
  costing,
  type Given,
  granted,
  HOLD,
  settledCall,
  tokenCreated,
} from '#test/projections/fixture.ts'
import { accepted, aDrawing, begun, submitted } from '#test/projections/task-facts.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { budget, startStopwatch } from '#test/support/time-limit.ts'
import { ADMIN, ALICE, type Api, BOB, ROOT } from './fixture.ts'
import { type Listener, type LiveSite, liveSite } from './live-site.ts'

const site = startedForEach(liveSite)
let api: Api
let url: string
let connect: LiveSite['connect']
let follow: LiveSite['follow']

beforeEach(async () => {
  ;({ api, url, connect, follow } = site)
})

const aCallOf = (userId: number, charge = 5): Given[] => {
  const call = aCall({ userId })
  return [admitted(call), settledCall(call, charge)]
}

/** Messages about the health of channels come at any time and have no place in the stream. */
const isHealth = (message: LiveMessage): boolean =>
  message.type === 'event' && 'kind' in message.data && message.data.kind === 'health'

const positionsOf = ({ seen }: Listener): number[] =>
  seen.flatMap((message) =>
    message.type === 'event' && !isHealth(message) ? [message.position] : [],
  )

const at = (position: number) => (message: LiveMessage) =>
  message.type === 'event' && message.position >= position

describe('the live socket', () => {
  it('sends the same rows as the REST lists, limited to what each user may see', async () => {
    const [admin, alice] = [await follow(ADMIN), await follow(ALICE)]
    const [begun, ended] = aCallOf(ALICE) as [Given, Given]
    const costed = [begun, costing(ended, 3)]
    await api.append([channelCreated(1, 'simulated'), ...aCallOf(BOB), ...costed])
    const last = await api.append([channelChanged(1, 'ChannelsDisabled'), granted(ALICE, 5)])
    await Promise.all([admin.until(at(last)), alice.until(at(last))])
    const rows = ({ seen }: Listener): LogEntry[] =>
      seen.flatMap((m) => (m.type === 'event' && m.topic === 'logs' ? [m.data] : []))
    const own = await api.get<LogPage>('/api/log/self/', await api.logIn(ALICE))
    const all = await api.get<LogPage>('/api/log/', await api.logIn(ADMIN))
    expect(rows(alice)).toEqual([...own.body.data.items].reverse())
    expect(rows(admin)).toEqual([...all.body.data.items].reverse())
    expect(JSON.stringify(alice.seen)).not.toMatch(/channels|admin_info|simulated|cost/)
    expect(JSON.stringify(admin.seen)).toContain('\\"cost\\":3')
    const rowsOf = admin.seen.filter((m) => !isHealth(m))
    const channels = rowsOf.filter((m) => m.type === 'event' && m.topic === 'channels')
    expect(channels.at(-1)).toMatchObject({ data: { id: 1, status: 2, key: '' } })
  })

  it('sends the results of channel tests only to admins', async () => {
    const [admin, alice] = [await follow(ADMIN), await follow(ALICE)]
    const fact = (stream: string, type: string, data: object): Given => ({
      stream,
      type,
      v: 1,
      data,
    })
    const test = { channelId: 1, model: 'm', isSuccess: true, durationMs: 40, reason: '' }
    const tested = { ...test, usage: null, run: 'a' }
    const started = { run: 'a', total: 2 }
    const last = await api.append([
      fact('channel-test-runs', 'ChannelTestRunStarted', started),
      fact('channel-checks-1', 'ChannelTested', tested),
      ...aCallOf(ALICE),
    ])
    const isTest = (message: LiveMessage): boolean =>
      message.type === 'event' && 'kind' in message.data && message.data.kind === 'test'
    await Promise.all([admin.until(at(last)), alice.until(at(last))])
    expect(admin.seen.filter(isTest).at(-1)).toMatchObject({
      topic: 'channels',
      data: {
        channels: [{ id: 1, response_time: 40, is_success: true, balance: 0 }],
        run: { run: 'a', is_running: true, total: 2, tested: 1, failed: 0 },
      },
    })
    expect(alice.seen.filter(isTest)).toEqual([])
  })

  it('sends changes of a token by calls and by edits only to its owner', async () => {
    await api.append([tokenCreated(1, ALICE, 'mine'), budgetSet(1, ALICE, HOLD + 1)])
    const topics: LiveTopic[] = ['logs', 'tokens']
    const [admin, alice] = [
      await follow(ADMIN, undefined, topics),
      await follow(ALICE, undefined, topics),
    ]
    const states = ({ seen }: Listener) =>
      seen.flatMap((m) => (m.type === 'event' && m.topic === 'tokens' ? [m.data] : []))
    const call = aCall({ userId: ALICE, tokenId: 1 })
    const spent = await api.append([admitted(call), settledCall(call, HOLD + 1)])
    await alice.until(at(spent))
    await expect.poll(() => states(alice).at(-1)).toMatchObject({ id: 1, name: 'mine', status: 4 })
    // A change that arrives in two batches is sent twice.
    const exhausted = states(alice).at(-1)
    expect(exhausted).toMatchObject({ remain_quota: 0, used_quota: HOLD + 1 })
    await alice.until(at(await api.append([budgetSet(1, ALICE, HOLD)])))
    expect(states(alice).at(-1)).toMatchObject({ id: 1, status: 1, remain_quota: HOLD })
    const change = (type: string): Given => ({
      stream: `tokens-${ALICE}`,
      type,
      v: 1,
      data: { userId: ALICE, tokenIds: [1] },
    })
    const disabled = await api.append([change('TokensDisabled')])
    await alice.until(at(disabled))
    expect(states(alice).at(-1)).toMatchObject({ id: 1, status: 2 })
    const deleted = await api.append([change('TokensDeleted'), ...aCallOf(BOB)])
    await Promise.all([alice.until(at(deleted - 1)), admin.until(at(deleted))])
    await expect.poll(() => states(alice).at(-1)).toEqual({ id: 1, deleted: true })
    expect(states(admin)).toEqual([])
  })

  it('sends changes of a user only to admins, also after a reconnect', async () => {
    const before = await api.core.store.headPosition()
    const topics: LiveTopic[] = ['logs', 'users']
    const [admin, bob] = [
      await follow(ADMIN, undefined, topics),
      await follow(BOB, undefined, topics),
    ]
    const type = 'UserGroupChanged'
    const data = { userId: ALICE, group: 'vip' }
    const position = await api.append([{ stream: `user-${ALICE}`, type, v: 1, data }])
    const push = { type: 'event', topic: 'users', position, data: { id: ALICE } }
    // It is a row of the log as well, at the same position.
    expect(await admin.until((m) => 'topic' in m && m.topic === 'users')).toEqual(push)
    const later = await api.append(aCallOf(BOB))
    await bob.until(at(later))
    expect(bob.seen.filter((m) => 'topic' in m && m.topic === 'users')).toEqual([])
    const [again, other] = [await follow(ADMIN, before, topics), await follow(BOB, before, topics)]
    expect(await again.until((m) => 'topic' in m && m.topic === 'users')).toEqual(push)
    expect(other.seen.filter((m) => 'topic' in m && m.topic === 'users')).toEqual([])
  })

  it('sends the progress of a task only to its owner and to admins', async () => {
    const before = await api.core.store.headPosition()
    const topics: LiveTopic[] = ['tasks']
    const [admin, alice] = [
      await follow(ADMIN, before, topics),
      await follow(ALICE, before, topics),
    ]
    const bob = await follow(BOB, before, topics)
    const drawing = aDrawing('drawn', ALICE)
    await api.append([channelCreated(1, 'painter'), submitted(drawing), accepted(drawing)])
    const last = await api.append([begun(drawing)])
    await Promise.all([admin.until(at(last)), alice.until(at(last))])
    const progress = await createTaskProgress(api.core.pg)
    const isFar = (percent: string) => (message: LiveMessage) =>
      JSON.stringify(message).includes(`"progress":"${percent}"`)
    await expect
      .poll(
        async () => {
          await progress.put([{ id: 'drawn', text: `${Math.ceil(Math.random() * 98)}%` }])
          return alice.seen.some((message) => JSON.stringify(message).includes('"kind":"progress"'))
        },
        { interval: 300 },
      )
      .toBe(true)
    await progress.put([{ id: 'drawn', text: '99%' }])
    await Promise.all([admin.until(isFar('99%')), alice.until(isFar('99%'))])
    const moved = (listener: Listener) =>
      listener.seen.filter((message) => message.type === 'event' && message.position === last)
    expect(moved(alice)[0]).toMatchObject({
      data: { kind: 'drawing', task: { mj_id: 'drawn', status: 'IN_PROGRESS', channel_id: 0 } },
    })
    expect(moved(admin)[0]).toMatchObject({ data: { task: { channel_name: 'painter' } } })
    expect(bob.seen.filter(({ type }) => type === 'event')).toEqual([])
  })

  it('resumes without gap or repeat, in order, through reconnects under load', async () => {
    let listener = await follow(ADMIN, 0)
    const got: number[] = []
    const writing = (async () => {
      for (let i = 0; i < 500; i += 1) {
        await api.append([...aCallOf(i % 2 === 0 ? ALICE : BOB), channelCreated(i + 1, `c${i}`)])
      }
    })()
    let isDone = false
    void writing.then(() => {
      isDone = true
    })
    while (!isDone) {
      const seen = listener.seen.length
      await listener.until(
        (m) => (m.type === 'event' && listener.seen.length > seen + 20) || isDone,
      )
      listener.socket.terminate()
      got.push(...positionsOf(listener))
      listener = await follow(ADMIN, got.at(-1) ?? 0)
    }
    const last = await api.append(aCallOf(ALICE))
    await listener.until(at(last))
    got.push(...positionsOf(listener))
    const events = await api.core.store.readAll(0, 10_000)
    const expectedEvents = events.filter(
      ({ type }) => type === 'CallSettled' || type === 'ChannelsCreated',
    )
    expect(got).toEqual(expectedEvents.map(({ position }) => position))
    expect(got.length).toBe(1_001)
  })

  it('buffers little for a client that stops reading, and then sends it a resync', async () => {
    const slow = await follow(ADMIN)
    slow.socket.pause()
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
    let last = 0
    for (let i = 0; i < 60; i += 1) {
      last = await api.append(Array.from({ length: 250 }, () => aCallOf(ALICE)).flat())
    }
    await api.settled(last)
    const quick = await follow(ADMIN)
    const grown = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed - before
    slow.socket.resume()
    await slow.until(({ type }) => type === 'resync')
    const next = await api.append(aCallOf(ALICE))
    await Promise.all([slow.until(at(next)), quick.until(at(next))])
    expect(positionsOf(slow).length).toBeLessThan(15_000)
    expect(grown).toBeLessThan(400_000_000)
  })

  it('sends a resync to a client that missed too many events', async () => {
    for (let i = 0; i < 21; i += 1) {
      await api.append(Array.from({ length: 250 }, () => aCallOf(ALICE)).flat())
    }
    await api.settled(await api.core.store.headPosition())
    const late = await follow(ADMIN, 1)
    const ahead = await follow(ALICE, 1e9, ['logs'])
    for (const listener of [late, ahead]) await listener.until(({ type }) => type === 'resync')
    const next = await api.append(aCallOf(ALICE))
    await Promise.all([late.until(at(next)), ahead.until(at(next))])
  })

  it('closes within a second of a ban, deletion, new role or password, or a logout', async () => {
    const position = (id: number, type: string, data: object): Given => ({
      stream: `user-${id}`,
      type,
      v: 1,
      data: { userId: id, authVersion: 2, ...data },
    })
    const closed = async (userId: number, act: (listener: Listener) => Promise<unknown>) => {
      const listener = await follow(userId)
      const closing = once(listener.socket, 'close')
      const elapsedMs = startStopwatch()
      await act(listener)
      const [code] = await closing
      expect(code).toBe(1008)
      expect(elapsedMs()).toBeLessThan(budget(1_000))
    }
    await closed(ALICE, () => api.append([position(ALICE, 'UserDisabled', {})]))
    await closed(ADMIN, () => api.append([position(ADMIN, 'UserRoleChanged', { role: 1 })]))
    await closed(BOB, () => api.app.gate.sessions.endAllOf(BOB))
    const changed = { passwordRef: 'another' }
    await closed(BOB, () => api.append([position(BOB, 'UserPasswordChanged', changed)]))
    await closed(ROOT, () => api.append([position(ROOT, 'UserDeleted', {})]))
  })

  it('closes its sockets with 1012 on shutdown, and refuses new ones with 503', async () => {
    const session = await api.logIn(ALICE)
    const readers = [await follow(ALICE), await connect(BOB)]
    const closing = readers.map(({ socket }) => once(socket, 'close'))
    api.drain()
    expect((await Promise.all(closing)).map(([code]) => code)).toEqual([1012, 1012])
    // The app itself is open still, as it is while streams finish.
    expect((await api.get('/api/status')).status).toBe(200)
    const headers = { ...session, origin: `http://${url}` }
    const again = new WebSocket(`ws://${url}/api/live`, { headers })
    const [, response] = await once(again, 'unexpected-response')
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '5'])
  })

  it('closes a socket with 1012 if the shutdown begins during its handshake', async () => {
    // Past the refusal, and not among the open ones yet.
    api.app.websocketServer.once('headers', api.drain)
    const { socket } = await connect(ALICE)
    expect((await once(socket, 'close'))[0]).toBe(1012)
  })

  describe('after an exception', () => {
    afterEach(() => {
      vi.restoreAllMocks()
    })
    const bug = (): never => {
      throw new Error('a bug')
    }
    const closedWithLog = async (socket: WebSocket, act: () => void) => {
      const logged = vi.spyOn(api.core.log, 'error')
      const closed = once(socket, 'close')
      act()
      expect((await closed)[0]).toBe(1011)
      expect(logged.mock.calls[0]?.[0]).toMatchObject({ err: { message: 'a bug' } })
    }

    it('in the handler of the route closes this socket and is logged', async () => {
      const logged = vi.spyOn(api.core.log, 'error')
      vi.spyOn(api.freshness, 'onAdvance').mockImplementationOnce(bug)
      const { socket } = await connect(ALICE)
      expect((await once(socket, 'close'))[0]).toBe(1011)
      expect(logged.mock.calls[0]?.[0]).toMatchObject({ err: { message: 'a bug' } })
      for (let count = 0; count < 5; count += 1) await follow(ALICE)
    })

    it('in the answer to a message closes this socket and is logged', async () => {
      const { socket, ask } = await connect(ALICE)
      vi.spyOn(LiveSession.prototype, 'subscribe').mockImplementationOnce(bug)
      await closedWithLog(socket, () => ask({ type: 'subscribe', topics: ['logs'] }))
    })

    it('in an item that is sent later closes this socket and is logged', async () => {
      const [{ socket, ask }, bob] = [await follow(ALICE), await follow(BOB)]
      vi.spyOn(LiveBuffer.prototype, 'after').mockImplementationOnce(bug)
      await closedWithLog(socket, () => ask({ type: 'ping' }))
      const last = await api.append(aCallOf(BOB))
      await bob.until(at(last))
    })
  })

  it('refuses visitors, other sites, temporary passwords and a user’s sixth socket', async () => {
    const refused = async (headers: Record<string, string>): Promise<unknown> => {
      const socket = new WebSocket(`ws://${url}/api/live`, { headers })
      const [, response] = await once(socket, 'unexpected-response')
      return response.statusCode
    }
    const session = await api.logIn(ALICE)
    expect(await refused({ origin: `http://${url}` })).toBe(401)
    expect(await refused({ ...session, origin: 'http://evil.example' })).toBe(403)
    expect(await refused(session)).toBe(403)
    const temporary = await api.logIn(ALICE, true)
    expect(await refused({ ...temporary, origin: `http://${url}` })).toBe(403)
    for (let i = 0; i < 5; i += 1) await connect(ALICE)
    const sixth = await connect(ALICE)
    const [code] = await once(sixth.socket, 'close')
    expect(code).toBe(1013)
  })

  it('accepts a subscription with unknown topics, and ignores those', async () => {
    const listener = await connect(ALICE)
    listener.ask({ type: 'subscribe', topics: ['logs', 'weather', 'channels', 'stats'] })
    await listener.until(({ type }) => type === 'ready')
    expect(listener.seen.map(({ type }) => type)).toEqual(['ready'])
    listener.socket.close()
  })

  it('answers pings, explains invalid messages, and closes on long or many messages', async () => {
    const listener = await connect(ALICE, { 'accept-language': 'en' })
    const wrong = [
      ['', 'Invalid field message: is not valid JSON'],
      ['null', 'Invalid field message: must be an object'],
      ['[]', 'Invalid field message: must be an object'],
      ['{}', 'Invalid field type: is required'],
      ['{"type":"x"}', 'Invalid field type: must be one of subscribe, ping'],
      ['{"type":"subscribe"}', 'Invalid field topics: is required'],
      ['{"type":"subscribe","topics":[5]}', 'Invalid field topics[0]: must be a string'],
      ['{"type":"subscribe","topics":["logs"],"after":-1}', 'field after: must be at least 0'],
      [
        '{"type":"subscribe","topics":["__proto__"]}',
        'field topics: must contain at least one of logs',
      ],
    ] as const
    for (const [text] of wrong) listener.ask(text)
    listener.ask({ type: 'ping' })
    await listener.until(({ type }) => type === 'pong')
    const messages = listener.seen.flatMap((m) => (m.type === 'error' ? [m.message] : []))
    expect(messages).toEqual(wrong.map(([, words]) => expect.stringContaining(words)))
    const closing = once(listener.socket, 'close')
    listener.ask('x'.repeat(5_000))
    expect((await closing)[0]).toBe(1009)
    const chatty = await connect(ALICE)
    const ended = once(chatty.socket, 'close')
    for (let i = 0; i < 60; i += 1) chatty.ask({ type: 'ping' })
    expect((await ended)[0]).toBe(1008)
  })
})
