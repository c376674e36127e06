import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { notificationsDecider, WARNING_PAUSE_MS } from '#domain/notifications/decide.ts'
import { type NotificationSettings, notificationsStream } from '#domain/notifications/events.ts'
import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact } from '#domain/shared/event.ts'
import { toWire } from '#domain/shared/quota.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createLeases, type HeldLease } from '#infra/leases/exclusive-leases.ts'
import type { Mail } from '#infra/mail/port.ts'
import { createFreshness } from '#projections/read-model-freshness/query.ts'
import { startProjections } from '#projections/runner/start-projections.ts'
import { testCore } from '#test/support/test-core.ts'
import { startQuotaWarnings } from '#write-api/notifications/warn-of-low-quota.ts'
import { fifty } from '../write-fixture.ts'
import { startHookServer } from './webhook-server.ts'

let core: Core
let close: () => Promise<void>
let hooks: Awaited<ReturnType<typeof startHookServer>>
let freshness: ReturnType<typeof createFreshness>
const mails: Mail[] = []
const clock = { ahead: 0 }
let held: HeldLease[] = []
let lastId = 0

beforeAll(async () => {
  const running = await testCore()
  core = { ...running.core, now: () => Date.now() + clock.ahead }
  hooks = await startHookServer()
  const projections = await startProjections(core)
  freshness = createFreshness(core)
  close = async () => {
    await freshness.stop()
    await projections.stop()
    await hooks.close()
    await running.close()
  }
  for (const [key, value] of [
    ['SMTPServer', 'mail.example.com'],
    ['QuotaRemindThreshold', '2000'],
  ] as const) {
    await act(optionsDecider, OPTIONS_STREAM, { type: 'SetOption', key, value })
  }
})
afterAll(() => close())

beforeEach(async () => {
  mails.length = 0
  hooks.answer(200)
  await core.pg.query('truncate bookmarks.bookmarks').catch(() => {})
})
afterEach(() => stop())

const mailer = { send: async (mail: Mail) => void mails.push(mail) }

/** Starts a reactor at the current position. Further reactors simulate other processes. */
async function start(send = mailer.send): Promise<void> {
  const leases = await createLeases(core.pg, core.log)
  const transports = { mailer: { send }, outbound: hooks }
  held.push(startQuotaWarnings({ core: { ...core, leases }, freshness, transports }))
  await expect.poll(async () => (await checkpoint()) > 0).toBe(true)
}

async function stop(): Promise<void> {
  await Promise.all(held.map((one) => one.stop()))
  held = []
}

async function checkpoint(): Promise<number> {
  const { rows } = await core.pg
    .query('select position from bookmarks.bookmarks')
    .catch(() => ({ rows: [] }))
  return Number(rows[0]?.position ?? 0)
}

async function act<S, C, E extends Fact, R extends CodedError>(
  decider: Decider<S, C, E, R>,
  stream: string,
  command: C,
): Promise<void> {
  const context = { actor: 'test', cause: null, at: core.now() }
  const outcome = await core.actors.handle(decider, stream, command, context)
  expect(outcome.isDone).toBe(true)
}

/** A user with a quota of 10 000 and the given notification settings. */
async function person(input: Partial<NotificationSettings> & { mail?: string } = {}) {
  lastId += 1
  const userId = lastId
  const { vault } = core
  await act(userDecider, userStream(userId), {
    type: 'CreateUser',
    userId,
    username: await vault.seal(userId, `user${userId}`),
    displayName: await vault.seal(userId, 'Somebody'),
    role: 1,
    group: 'default',
    passwordRef: null,
    inviterId: null,
  })
  const { mail = `user${userId}@example.com`, ...settings } = input
  await act(notificationsDecider, notificationsStream(userId), {
    type: 'ChangeNotifications',
    userId,
    settings: {
      means: 'email',
      threshold: toWire(5_000n),
      mailTo: mail === '' ? null : await vault.seal(userId, mail),
      webhookUrl: null,
      webhookSecretRef: null,
      ...settings,
    },
  })
  const account = accountStream(userId)
  const grant = { grantId: 'first', amount: 10_000n, reason: 'setup' } as const
  await act(accountDecider, account, { type: 'GrantQuota', userId, ...grant })
  let spent = 0
  return {
    userId,
    spend: (amount: bigint) => {
      spent += 1
      const deductionId = `${userId}-${spent}-${Math.random()}`
      return act(accountDecider, account, {
        type: 'DeductQuota',
        userId,
        deductionId,
        amount,
        reason: 'admin',
      })
    },
    warnings: async () => (await core.store.readStream(notificationsStream(userId))).slice(1),
  }
}

/** Waits until the reactor has read all events. */
async function caughtUp(): Promise<void> {
  const head = await core.store.headPosition()
  await expect.poll(async () => (await checkpoint()) >= head).toBe(true)
}

it('a user who falls below the threshold is warned once while the balance falls', async () => {
  await start()
  const user = await person()
  await user.spend(5_000n)
  await caughtUp()
  expect(mails).toEqual([])
  await fifty(() => user.spend(1n))
  await expect.poll(() => mails.length).toBe(1)
  await user.spend(1_000n)
  await caughtUp()
  expect(mails).toHaveLength(1)
  const [{ to, text } = { to: '', text: '' }] = mails
  expect(to).toBe(`user${user.userId}@example.com`)
  expect(text).toMatch(/\$0\.009\d+/)
  expect(text).toContain('$0.01，')
  clock.ahead += WARNING_PAUSE_MS
  await user.spend(1n)
  await expect.poll(() => mails.length).toBe(2)
  expect(await user.warnings()).toHaveLength(2)
})

it('a killed process and a second process do not repeat a warning', async () => {
  await start(() => new Promise(() => {}))
  const user = await person()
  const other = await person()
  await user.spend(9_000n)
  // The event is stored but its mail is not sent: the process dies before it moves its checkpoint.
  await expect.poll(async () => (await user.warnings()).length).toBe(1)
  await stop()
  await core.pg.query('update bookmarks.bookmarks set position = 1')
  await Promise.all([start(), start()])
  await other.spend(9_000n)
  await expect.poll(() => mails.map(({ to }) => to)).toEqual([`user${other.userId}@example.com`])
  await caughtUp()
  expect(await user.warnings()).toHaveLength(1)
  expect(mails).toHaveLength(1)
})

it('a warning that was missed while no process ran is sent afterwards', async () => {
  await start()
  const user = await person()
  await caughtUp()
  await stop()
  await user.spend(9_000n)
  await start()
  await expect.poll(() => mails.map(({ to }) => to)).toEqual([`user${user.userId}@example.com`])
})

it('a user with warnings off, no address, enough quota or a ban gets no warning', async () => {
  await start()
  const silent = await person({ threshold: toWire(0n) })
  const nowhere = await person({ mail: '' })
  const enough = await person({ threshold: null })
  const banned = await person()
  await act(userDecider, userStream(banned.userId), { type: 'DisableUser', actorRole: 100 })
  await Promise.all([silent, nowhere, enough, banned].map(({ spend }) => spend(7_999n)))
  await caughtUp()
  expect(mails).toEqual([])
  await enough.spend(2n)
  await expect.poll(() => mails.map(({ to }) => to)).toEqual([`user${enough.userId}@example.com`])
})

it('a webhook that cannot carry its old secret does not use up the two-hour pause', async () => {
  await start()
  hooks.posted.length = 0
  const userId = lastId + 1
  const webhookUrl = await core.vault.seal(userId, 'https://hooks.example.com/low')
  const secretOf = (text: string) => core.vault.putSecret('webhook', `user:${userId}`, text)
  const webhook = { means: 'webhook', webhookUrl } as const
  const user = await person({ ...webhook, webhookSecretRef: await secretOf('密钥') })
  await user.spend(9_000n)
  await caughtUp()
  expect(await user.warnings()).toEqual([])
  const settings = { ...webhook, mailTo: null, threshold: toWire(5_000n) }
  await act(notificationsDecider, notificationsStream(userId), {
    type: 'ChangeNotifications',
    userId,
    settings: { ...settings, webhookSecretRef: await secretOf('whs-3') },
  })
  await user.spend(1n)
  await expect.poll(() => hooks.posted.length).toBe(1)
})

it('a webhook gets the remaining quota, signed with its secret', async () => {
  await start()
  const userId = lastId + 1
  const webhookSecretRef = await core.vault.putSecret('webhook', `user:${userId}`, 'whs-2')
  const webhookUrl = await core.vault.seal(userId, 'https://hooks.example.com/low')
  const user = await person({ means: 'webhook', webhookUrl, webhookSecretRef })
  await user.spend(9_999n)
  await expect.poll(() => hooks.posted.length).toBe(1)
  const [{ headers, body } = { headers: {}, body: '{}' }] = hooks.posted
  const [warning] = await user.warnings()
  expect(headers).toMatchObject({
    authorization: 'Bearer whs-2',
    'x-gw-event-id': warning?.id,
  })
  const facts = { type: 'quota_warning', user_id: userId, remaining_quota: 1 }
  expect(JSON.parse(body)).toMatchObject({ ...facts, threshold_quota: 5_000, id: warning?.id })
  expect(mails).toEqual([])
})
