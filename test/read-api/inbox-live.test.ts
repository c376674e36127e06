import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { unreadCounts } from '#projections/messages/query.ts'
import type { LiveMessage } from '#read-api/contract/live-messages.ts'
import { budget, startStopwatch } from '#test/support/time-limit.ts'
import { type SeededFixture, seededFixture } from '#test/write-api/write-fixture.ts'

const USERS = 10_000
const CONSOLES = 60
const WITHIN_MS = 2_000

let fixture: SeededFixture
let host: string
const open: Console[] = []

/** One user's open console: `unread` is what its badge shows, null before anything was said. */
type Console = {
  readonly userId: number
  readonly socket: WebSocket
  unread: number | null
  pushes: number
}

beforeAll(async () => {
  fixture = await seededFixture()
  await fixture.core.pg.query(
    `insert into read_users.users (id, username, display_name, role, user_group, created_at)
     select id, 'many' || id, '', 1, 'default', 0 from generate_series(4, $1) id`,
    [USERS],
  )
  await fixture.app.listen({ port: 0, host: '127.0.0.1' })
  host = `127.0.0.1:${(fixture.app.server.address() as AddressInfo).port}`
  // With odd ids, and two of one user.
  const userIds = Array.from({ length: CONSOLES - 1 }, (_, n) => 3 + n * 2)
  open.push(...(await Promise.all([...userIds, 3].map((userId) => consoleOf(userId)))))
})
afterAll(async () => {
  for (const { socket } of open) socket.terminate()
  await fixture.close()
})

async function consoleOf(userId: number, after?: number): Promise<Console> {
  const session = await fixture.app.gate.sessions.start(userId, 1)
  const socket = new WebSocket(`ws://${host}/api/live`, {
    headers: { cookie: `session=${session}`, origin: `http://${host}` },
  })
  const mine: Console = { userId, socket, unread: null, pushes: 0 }
  socket.on('message', (bytes) => {
    const message = JSON.parse(String(bytes)) as LiveMessage
    if (message.type !== 'event' || message.topic !== 'inbox') return
    mine.unread = message.data.unread_count
    mine.pushes += 1
  })
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'subscribe', topics: ['inbox'], after }))
  await vi.waitFor(() => expect(mine.pushes).toBeGreaterThan(0), { timeout: 45_000 })
  return mine
}

const badges = () => new Set(open.map(({ unread }) => unread))
const tellAll = (body: object) =>
  fixture.admin.call<{ id: number; total_recipients: number }>('POST', '/api/admin/messages', {
    body: { title: 'Hello', content: 'World', ...body },
  })
const allUsers = Array.from({ length: USERS }, (_, n) => n + 1)

it('a message to 10 000 users reaches each inbox and badge within two seconds', async () => {
  const elapsedMs = startStopwatch()
  const { data } = await tellAll({ everybody: true })
  await expect.poll(badges, { interval: 5 }).toEqual(new Set([1]))
  const counts = await unreadCounts(fixture.core.db, allUsers)
  expect(elapsedMs()).toBeLessThan(budget(WITHIN_MS))
  expect(data.total_recipients).toBe(USERS)
  expect(counts.size).toBe(USERS)
  expect(new Set(counts.values())).toEqual(new Set([1]))
})

it('a message to 5 000 scattered users reaches their badges within two seconds', async () => {
  const recipients = allUsers.filter((id) => id % 2 === 1)
  const elapsedMs = startStopwatch()
  await tellAll({ user_ids: recipients })
  await expect.poll(badges, { interval: 5 }).toEqual(new Set([2]))
  expect(elapsedMs()).toBeLessThan(budget(WITHIN_MS))
  const counts = await unreadCounts(fixture.core.db, allUsers)
  expect(allUsers.every((id) => counts.get(id) === (id % 2 === 1 ? 2 : 1))).toBe(true)
})

it('reading a message updates only the reader’s badges; deleting it updates all', async () => {
  const before = open.map((one) => one.pushes)
  expect((await fixture.user.call('PUT', '/api/user/messages/1/read')).success).toBe(true)
  const own = open.filter(({ userId }) => userId === 3)
  expect(own).toHaveLength(2)
  await expect.poll(() => own.map(({ unread }) => unread)).toEqual([1, 1])
  const others = open.flatMap((one, n) => (one.userId === 3 ? [] : [one.pushes - (before[n] ?? 0)]))
  expect(new Set(others)).toEqual(new Set([0]))
  for (const id of [1, 2]) await fixture.admin.call('DELETE', `/api/admin/messages/${id}`)
  await expect.poll(badges).toEqual(new Set([0]))
})

it('a console that reconnects receives its current unread count at once', async () => {
  const [first] = open.splice(0, 1)
  first?.socket.terminate()
  await tellAll({ user_ids: [3] })
  const back = await consoleOf(3, 1)
  open.push(back)
  expect(back).toMatchObject({ unread: 1, pushes: 1 })
})
