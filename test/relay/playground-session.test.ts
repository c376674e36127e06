import { afterEach, beforeAll, describe, expect, it, type MockInstance, vi } from 'vitest'
import type { RelayError } from '#relay/canonical/relay-error.ts'
import { RELAY_ERRORS } from '#relay/canonical/relay-error-catalogue.ts'
import type { PlaygroundSession } from '#relay/playground/playground-request.ts'
import { addPlayground } from '#relay/playground/playground-route.ts'
import { httpFixture } from '#test/infra/http/http-fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'

const fixture = startedOnce(httpFixture)
const url = '/pg/chat/completions'

type Stream = { readonly session: PlaygroundSession; readonly end: () => void }

/** The streams that a test keeps open; null: each call is answered at once. */
let streams: Stream[] | null = null

beforeAll(async () => {
  addPlayground(fixture.app, {
    call: (_request, response, session) => {
      const end = () => void response.end(JSON.stringify({ userId: session.userId }))
      if (streams === null) end()
      else streams.push({ session, end })
    },
    reject: (_request, response, error: RelayError) => void response.end(JSON.stringify(error)),
  })
  fixture.addUser(7)
})

it('a session with a temporary password is refused with 403 and logs no fault', async () => {
  const play = async (isByTemporaryPassword: boolean): Promise<unknown> => {
    const from = { ip: '', userAgent: '', isByTemporaryPassword }
    const id = await fixture.app.gate.sessions.start(7, 0, from)
    const headers = { cookie: `session=${id}`, 'user-id': '7' }
    return JSON.parse((await fixture.app.inject({ method: 'POST', url, headers })).body)
  }
  expect(await play(false)).toEqual({ userId: 7 })
  expect(await play(true)).toMatchObject({ code: 'password_not_own', params: {} })
  expect(RELAY_ERRORS.password_not_own.status).toBe(403)
  expect(fixture.logged.filter((line) => line.includes('could not be identified'))).toEqual([])
})

describe('the sessions of running streams', () => {
  const STREAMS = 100
  let answers: Promise<unknown>[] = []

  /** Starts streams of as many users, each of which asks for its session as a running call does. */
  const open = async (): Promise<readonly Stream[]> => {
    const opened: Stream[] = []
    streams = opened
    for (let userId = 1_000; userId < 1_000 + STREAMS; userId += 1) {
      fixture.addUser(userId)
      const headers = await fixture.enter(userId)
      answers.push(fixture.app.inject({ method: 'POST', url, headers }))
    }
    await expect.poll(() => opened.length).toBe(STREAMS)
    return opened
  }
  const ended = (opened: readonly Stream[]): number[] =>
    opened.filter(({ session }) => session.hasEnded()).map(({ session }) => session.userId)

  /** Asks all streams again and again, until there were three checks that ended no stream. */
  const threeChecks = (opened: readonly Stream[], live: MockInstance): Promise<void> =>
    expect
      .poll(() => [ended(opened).length, Math.min(3, live.mock.calls.length)], {
        interval: 20,
      })
      .toEqual([0, 3])

  afterEach(async () => {
    for (const { end } of streams ?? []) end()
    await Promise.all(answers)
    vi.restoreAllMocks()
    streams = null
    answers = []
  })

  it('one query per second checks the sessions of a hundred streams', async () => {
    const opened = await open()
    const live = vi.spyOn(fixture.app.gate.sessions, 'live')
    const startedAt = performance.now()
    await threeChecks(opened, live)
    expect(performance.now() - startedAt).toBeGreaterThan(1_900)
    expect(live.mock.calls.every(([hashes]) => hashes.length === STREAMS)).toBe(true)
  })

  it('the streams end on a new authVersion, a ban or a logout of their user', async () => {
    const opened = await open()
    const [changed, banned, gone] = [1_003, 1_050, 1_099]
    for (const [id, change] of [
      [changed, { authVersion: 1 }],
      [banned, { status: 2 }],
    ] as const) {
      const user = fixture.users.get(id)
      if (user !== undefined) fixture.users.set(id, { ...user, ...change })
    }
    await fixture.app.gate.sessions.endAllOf(gone)
    await expect.poll(() => ended(opened)).toEqual([changed, banned, gone])
  })

  it('the streams continue while the database is unavailable, with one warning', async () => {
    const opened = await open()
    const live = vi.spyOn(fixture.app.gate.sessions, 'live').mockRejectedValue(new Error('away'))
    const before = fixture.logged.length
    await threeChecks(opened, live)
    const warned = fixture.logged.slice(before).filter((line) => line.includes('"level":40'))
    expect(warned).toHaveLength(1)
    expect(warned[0]).toContain('could not be checked')
  })
})
