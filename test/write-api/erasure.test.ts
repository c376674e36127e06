import { gunzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { unfinishedErasures } from '#infra/vault/unfinished-erasures.ts'
import { messagesOnlyTo } from '#projections/messages/query.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { rebuildReadModels } from '#projections/runner/rebuild-read-model.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import { verifyReadModels } from '#projections/runner/verify-read-model.ts'
import { tokens } from '#projections/tokens/projection.ts'
import { users } from '#projections/users/projection.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import type { Account, UserLedgerPage } from '#read-api/contract/ledger.ts'
import type { User } from '#read-api/contract/users.ts'
import { filesOfTar, tablesWith } from '#test/support/search-for-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import type { Deps } from '#write-api/action.ts'
import { createKeyedMutex } from '#write-api/keyed-mutex.ts'
import { bindSteps } from '#write-api/users/bind-and-unbind-identities.ts'
import {
  findErasedUsersWithKey,
  finishInterruptedErasures,
} from '#write-api/users/finish-erasures.ts'
import { callerOf, PASSWORD, type SeededFixture, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const CANARIES = [
  ...['canarius', 'Canaria Displayed', 'canary of a reason', 'canary@example.com', 'canary-agent'],
  ...['203.0.113.99', 'canary-hook.example', 'canary-signing-secret', 'canary-token'],
]

const erase = (body: object, call = fixture.root.call) => call('POST', '/api/user/erase', { body })
const read = async (id: number): Promise<User> =>
  (await fixture.root.call<User>('GET', `/api/user/${id}`)).data

async function canary(): Promise<number> {
  const { call } = fixture.root
  const body = { username: 'canarius', password: PASSWORD, display_name: CANARIES[1] }
  const { id } = (await call<{ id: number }>('POST', '/api/user/', { body })).data
  await call('PUT', '/api/user/', { body: { id, quota: 700, reason: CANARIES[2] } })
  await bindMail(id)
  return id
}

type Call = SeededFixture['root']['call']

/** Creates three tokens at once, then renames one and deletes another. */
async function makeTokens(call: Call): Promise<void> {
  const body = { name: 'canary-token', count: 3 }
  const [first, second] = (await call<{ ids: number[] }>('POST', '/api/token/', { body })).data.ids
  const changed = { id: first, name: 'Another Canary-Token', max_concurrency: 2 }
  expect((await call('PUT', '/api/token/', { body: changed })).success).toBe(true)
  expect((await call('DELETE', `/api/token/${second}/`)).success).toBe(true)
}

/** The number of keys in the vault for all tokens that the user ever had. */
async function keysOf(userId: number): Promise<number | null> {
  const text = `select from vault.secrets s join read_tokens.tokens t
    on s.owner = 'token:' || t.id where t.user_id = $1`
  return (await fixture.core.pg.query(text, [userId])).rowCount
}

/** Binds an email address, as the user’s confirmation of it does. */
async function bindMail(userId: number): Promise<void> {
  const { core } = fixture
  const identity = { provider: 'email', id: 'canary@example.com' } as const
  const steps = await bindSteps({ core }, userId, identity, null)
  const context = { actor: `user:${userId}`, cause: null, at: Date.now() }
  const outcome = await core.actors.handleTogether(steps, context)
  expect(outcome.isDone).toBe(true)
  expect(await fixture.freshness.waitFor(['users'], await fixture.head(), 5_000)).toBe(true)
}

describe('erasing a user', () => {
  it('is refused without the typed name, to admins, and for the super admin', async () => {
    const head = await fixture.head()
    expect(await erase({ id: 3, username: 'user' })).toMatchObject({
      status: 200,
      code: 'ErasedNameDiffers',
    })
    expect(await erase({ id: 1, username: 'root' })).toMatchObject({ code: 'SuperAdminProtected' })
    expect((await erase({ id: 999, username: 'x' })).status).toBe(404)
    expect((await erase({ id: 3, username: 'user1' }, fixture.admin.call)).status).toBe(403)
    expect(await fixture.head()).toBe(head)
    expect(await read(3)).toMatchObject({ username: 'user1', DeletedAt: null })
  })

  it('can be repeated after a failure, and removes messages sent only to the user', async () => {
    const { core, root } = fixture
    const body = { username: 'broken', password: PASSWORD }
    const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
    const message = { title: 'About you', content: 'you', user_ids: [id] }
    const sent = await root.call('POST', '/api/admin/messages', { body: message })
    expect(sent.success).toBe(true)
    const { call } = await fixture.logIn('broken')
    await makeTokens(call)
    expect(await keysOf(id)).toBe(2)
    const breaking = vi.spyOn(core.actors, 'handle').mockRejectedValueOnce(new Error('cut'))
    expect((await erase({ id, username: 'broken' })).status).toBe(500)
    breaking.mockRestore()
    expect(await fixture.freshness.waitFor(['users'], await fixture.head(), 5_000)).toBe(true)
    expect((await erase({ id, username: 'broken' })).success).toBe(true)
    expect(await messagesOnlyTo(core.db, id)).toEqual([])
    expect(await keysOf(id)).toBe(0)
  })

  it('is finished in the background if its process died after the event', async () => {
    const { core, root, app } = fixture
    const body = { username: 'interrupted', password: PASSWORD }
    const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
    const { call } = await fixture.logIn('interrupted')
    await makeTokens(call)
    const sealed = await core.vault.seal(id, 'canary of an interrupted erasure')
    const breaking = vi.spyOn(core.vault, 'destroyUser').mockRejectedValue(new Error('cut'))
    expect((await erase({ id, username: 'interrupted' })).status).toBe(500)
    const isErased = async () => (await read(id)).is_erased
    await expect.poll(isErased).toBe(true)
    expect(await core.vault.open(id, sealed)).toContain('canary')
    expect(await core.vault.withDataKey([id])).toEqual([id])
    breaking.mockRestore()
    await expect.poll(() => core.vault.withDataKey([id])).toEqual([])
    expect(await core.vault.open(id, sealed)).toBeNull()
    await expect.poll(() => unfinishedErasures(core.pg)).toEqual([])
    expect(await keysOf(id)).toBe(0)
    const head = await fixture.head()
    const { freshness } = fixture
    const deps = { core, freshness, runExclusive: createKeyedMutex() } as unknown as Deps
    await finishInterruptedErasures(deps, app.gate.sessions)
    expect(await fixture.head()).toBe(head)
  })

  it('is finished after a restore of the vault, or an earlier release', async () => {
    const { core, root, app, freshness } = fixture
    const body = { username: 'restored', password: PASSWORD }
    const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
    expect((await erase({ id, username: 'restored' })).success).toBe(true)
    expect(await unfinishedErasures(core.pg)).toEqual([])
    await core.pg.query('delete from vault.user_keys where user_id = $1', [id])
    await core.vault.seal(id, 'a new key')
    const deps = { core, freshness, runExclusive: createKeyedMutex() } as unknown as Deps
    await findErasedUsersWithKey(deps)
    expect(await unfinishedErasures(core.pg)).toMatchObject([{ userId: id }])
    const older = `update vault.unfinished_erasures set begun_at = begun_at - interval '1 hour'`
    await core.pg.query(older)
    expect(await finishInterruptedErasures(deps, app.gate.sessions)).toBe(false)
    expect(await core.vault.withDataKey([id])).toEqual([])
    expect(await unfinishedErasures(core.pg)).toEqual([])
  })

  it('removes all texts from the database, even after a rebuild, and keeps numbers', async () => {
    const { core } = fixture
    const id = await canary()
    const session = await fixture.app.inject({
      method: 'POST',
      url: '/api/user/login',
      headers: { 'user-agent': 'canary-agent' },
      remoteAddress: '203.0.113.99',
      payload: { username: 'canarius', password: PASSWORD },
    })
    const cookie = `session=${session.cookies[0]?.value}`
    const call = callerOf(fixture.app, { cookie, 'user-id': String(id) })
    expect((await call('GET', '/api/user/self')).data).toMatchObject({ email: CANARIES[3] })
    const webhook = { webhook_url: 'https://canary-hook.example/x', webhook_secret: CANARIES[7] }
    const settings = { body: { notify_type: 'webhook', ...webhook } }
    expect((await call('PUT', '/api/user/setting', settings)).success).toBe(true)
    await makeTokens(call)
    expect((await tablesWith(core.pg, CANARIES)).sort()).toEqual([
      ...['auth.sessions', 'read_notifications.notifications', 'read_tokens.tokens'],
      'read_users.users',
    ])
    // A rebuild and a verification whose process was killed leave such tables.
    for (const schema of ['read_users_next', 'read_users_check']) {
      await core.pg.query(`create schema ${schema};
        create table ${schema}.users as select * from read_users.users`)
    }
    expect((await erase({ id, username: 'canarius' })).success).toBe(true)
    expect((await call('GET', '/api/user/self')).status).toBe(401)
    const gone = { username: '', display_name: '', quota: 700, is_erased: true }
    expect(await read(id)).toMatchObject({ ...gone, DeletedAt: expect.any(String) })
    expect(await keysOf(id)).toBe(0)
    expect(await tablesWith(core.pg, CANARIES)).toEqual([])

    const context = foldContext(core)
    const isEqual = true
    const verified = await verifyReadModels(core, [tokens, users], context)
    expect(verified).toMatchObject([{ isEqual }, { isEqual }])
    await rebuildReadModels(core, PROJECTIONS, context)
    expect(await tablesWith(core.pg, CANARIES)).toEqual([])
    expect(await read(id)).toMatchObject(gone)
    const log = await fixture.root.call<{ items: { user_id: number; other: string }[] }>(
      'GET',
      '/api/log/?type=3',
    )
    const row = log.data.items.find(({ user_id }) => user_id === id)
    expect(JSON.parse(row?.other ?? '')).toMatchObject({ note: '' })
  })

  it('leaves no personal text in any page or export of the ledger and the audit log', async () => {
    const { root, app } = fixture
    const body = { username: 'canarius', password: PASSWORD, display_name: CANARIES[1] }
    const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
    await root.call('PUT', '/api/user/', { body: { id, quota: 700, reason: CANARIES[2] } })
    const session = { cookie: root.cookie, 'user-id': '1' }
    const textOf = async (url: string): Promise<string> => {
      const answer = await app.inject({ url, headers: session })
      expect(answer.statusCode).toBe(200)
      return answer.payload
    }
    const ledger = `/api/audit/ledger/${id}`
    const log = `/api/audit/log?object=user:${id}`
    const exported = (format: string) => [
      ...[`${ledger}/export?format=${format}`],
      ...[`/api/audit/log/export?object=user:${id}&format=${format}`],
    ]
    const urls = [ledger, log, ...exported('csv'), ...exported('ndjson')]
    for (const url of urls) expect(await textOf(url)).toContain(CANARIES[2])
    expect((await erase({ id, username: 'canarius' })).success).toBe(true)
    const month = new Date().toISOString().slice(0, 7)
    const others = [`/api/audit/statement/${id}?month=${month}`, `/api/audit/events?user_id=${id}`]
    others.push(`/api/audit/accounts?search=${id}`)
    for (const url of [...urls, ...others, '/api/log/export', `/api/audit/state/user/${id}`]) {
      const text = await textOf(url)
      for (const canary of CANARIES) expect(text).not.toContain(canary)
    }
    const [account] = (
      await root.call<{ items: Account[] }>('GET', `/api/audit/accounts?search=${id}`)
    ).data.items
    expect(account).toMatchObject({ user_id: id, username: '' })
    const { items, username } = (await root.call<UserLedgerPage>('GET', ledger)).data
    expect(username).toBe('')
    const grant = items.find(({ reason }) => reason === 'admin')
    expect(grant).toMatchObject({ note: '', is_note_erased: true })
    const acts = (await root.call<{ items: AuditAct[] }>('GET', log)).data.items
    const refill = acts.find(({ act }) => act === 'quota-granted')
    expect(refill).toMatchObject({ reason: '', is_reason_erased: true })
  })

  it('leaves no personal text in an export of the whole history', async () => {
    const { root, app } = fixture
    const body = { username: 'canarius', password: PASSWORD, display_name: CANARIES[1] }
    const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
    await root.call('PUT', '/api/user/', { body: { id, quota: 700, reason: CANARIES[2] } })
    await bindMail(id)
    const login = await app.inject({
      ...({ method: 'POST', url: '/api/user/login', payload: body } as const),
      ...{ headers: { 'user-agent': 'canary-agent' }, remoteAddress: '203.0.113.99' },
    })
    expect(login.statusCode).toBe(200)
    expect((await erase({ id, username: 'canarius' })).success).toBe(true)
    const url = '/api/audit/export'
    const headers = { cookie: root.cookie, 'user-id': '1' }
    const { statusCode, rawPayload } = await app.inject({ url, headers })
    expect(statusCode).toBe(200)
    const files = filesOfTar(rawPayload)
    const segments = files.filter(({ name }) => name.startsWith('segments/'))
    const text = segments.map(({ bytes }) => gunzipSync(bytes).toString()).join('')
    const lines = text.trimEnd().split('\n')
    expect(lines.length).toBe((JSON.parse(lines.at(-1) ?? '') as { position: number }).position)
    const erased = lines.filter((line) => line.includes('"UserErased"'))
    expect(erased.some((line) => line.includes(`"stream":"user-${id}"`))).toBe(true)
    const others = files.map(({ bytes }) => bytes.toString('latin1')).join('')
    for (const canary of CANARIES) {
      expect(text.toLowerCase()).not.toContain(canary.toLowerCase())
      expect(others).not.toContain(canary)
    }
  })

  it('writes nothing for a user already erased, and creates no new key', async () => {
    const [{ id } = { id: 0 }] = (
      await fixture.root.call<{ items: User[] }>('GET', '/api/user/?p=0')
    ).data.items.filter((user) => user.is_erased)
    const head = await fixture.head()
    expect((await erase({ id, username: '' })).success).toBe(true)
    expect(await fixture.head()).toBe(head)
    await bindMail(3)
    await expect.poll(async () => (await read(3)).email).toBe('canary@example.com')
    const { vault } = fixture.core
    expect(await vault.open(id, await vault.seal(id, 'late'))).toBeNull()
  })

  it('frees the name for one of fifty users at once; a deactivation keeps the name', async () => {
    const { call } = fixture.root
    const body = { username: 'Canarius', password: PASSWORD }
    const claim = () => call<{ id: number }>('POST', '/api/user/', { body })
    const made = await Promise.all(Array.from({ length: 50 }, claim))
    const codes = made.flatMap(({ success, code }) => (success ? [] : [code]))
    expect(codes).toEqual(Array(49).fill('UsernameTaken'))
    const id = made.find(({ success }) => success)?.data.id ?? 0
    const owner = await fixture.logIn('canarius')
    expect((await owner.call<User>('GET', '/api/user/self')).data).toMatchObject({ id, quota: 0 })
    await call('POST', '/api/user/manage', { body: { id, action: 'delete' } })
    expect(await call('POST', '/api/user/', { body })).toMatchObject({ code: 'UsernameTaken' })
    expect((await erase({ id, username: 'Canarius' })).success).toBe(true)
    expect(await call('POST', '/api/user/', { body })).toMatchObject({ success: true })
    const verified = await verifyReadModels(fixture.core, [users], foldContext(fixture.core))
    expect(verified).toMatchObject([{ isEqual: true }])
  })
})
