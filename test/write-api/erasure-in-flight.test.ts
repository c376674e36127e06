import { expect, it, vi } from 'vitest'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { isActiveCopy } from '#domain/audit/decide-scratch-copies.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { loginsStream } from '#domain/credentials/events.ts'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import { unfinishedErasures } from '#infra/vault/unfinished-erasures.ts'
import { messagesOnlyTo } from '#projections/messages/query.ts'
import { scratchSchemaOf } from '#projections/scratch-copy-schemas/query.ts'
import { tablesWith } from '#test/support/search-for-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { fifty, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

/** A word that every text of the person contains, and nothing else. */
const WORD = 'zirkon'

async function person(username: string) {
  const { root } = fixture
  const body = { username, password: PASSWORD }
  const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
  const { call } = await fixture.logIn(username)
  const erase = () => root.call('POST', '/api/user/erase', { body: { id, username } })
  return { id, call, erase }
}

const tablesWithWord = () => tablesWith(fixture.core.pg, [WORD])
const unfinished = async () => (await unfinishedErasures(fixture.core.pg)).length

it('deletes a private message that is not in the read model yet', async () => {
  const { core, root } = fixture
  const { id, erase } = await person(`${WORD}-messages`)
  const body = { title: `About ${WORD}`, content: WORD, user_ids: [id] }
  const answered = await inTransaction(core.pg, async (client) => {
    await client.query('lock table read_messages.messages in share mode')
    const sent = await root.call('POST', '/api/admin/messages', { body })
    expect(sent.success).toBe(true)
    const answer = erase()
    const isDestroyed = async () => (await core.vault.withDataKey([id])).length
    await expect.poll(isDestroyed).toBe(0)
    return { answer }
  })
  expect((await answered.answer).success).toBe(true)
  expect(await messagesOnlyTo(core.db, id)).toEqual([])
  expect(await tablesWithWord()).toEqual([])
  expect(await unfinished()).toBe(0)
})

it('answers only when the read models have applied it, and is then finished later', async () => {
  const { core, freshness } = fixture
  const { erase } = await person(`${WORD}-late`)
  const waiting = vi.spyOn(freshness, 'waitFor').mockResolvedValue(false)
  expect((await erase()).status).toBe(503)
  expect(await unfinished()).toBe(1)
  waiting.mockRestore()
  await expect.poll(unfinished).toBe(0)
  expect(await tablesWith(core.pg, [`${WORD}-late`])).toEqual([])
})

it('refuses a token and a message whose append comes after it', async () => {
  const { core, root } = fixture
  const { id, call, erase } = await person(`${WORD}-late-appends`)
  const handleTogether = core.actors.handleTogether.bind(core.actors)
  const erased = Promise.withResolvers<void>()
  let waiting = 0
  vi.spyOn(core.actors, 'handleTogether').mockImplementation(async (steps, context) => {
    const isLate = steps.some(({ stream }) => stream === `tokens-${id}`)
    const isMessage = steps.some(({ stream }) => stream.startsWith('message-'))
    if (isLate || isMessage) {
      waiting += 1
      await erased.promise
    }
    return await handleTogether(steps, context)
  })
  const token = call('POST', '/api/token/', { body: { name: `${WORD} token` } })
  const body = { title: `About ${WORD}`, content: WORD, user_ids: [id] }
  const message = root.call('POST', '/api/admin/messages', { body })
  await expect.poll(() => waiting).toBe(2)
  const destroyUser = core.vault.destroyUser.bind(core.vault)
  vi.spyOn(core.vault, 'destroyUser').mockImplementation(async (userId) => {
    erased.resolve()
    expect(await token).toMatchObject({ status: 404, code: 'UserUnknown' })
    expect(await message).toMatchObject({ status: 404, code: 'UserUnknown' })
    await destroyUser(userId)
  })
  expect((await erase()).success).toBe(true)
  vi.restoreAllMocks()
  expect(await tablesWithWord()).toEqual([])
})

it('leaves no session of a login that ends after it', async () => {
  const { app, core } = fixture
  const username = `${WORD}-login`
  const { id, erase } = await person(username)
  const append = core.store.append.bind(core.store)
  const erased = Promise.withResolvers<void>()
  let isWaiting = false
  vi.spyOn(core.store, 'append').mockImplementation(async (streams) => {
    if (streams[0]?.stream === loginsStream(id)) {
      isWaiting = true
      await erased.promise
    }
    return await append(streams)
  })
  const payload = { username, password: PASSWORD }
  const headers = { 'user-agent': `${WORD}-agent` }
  const login = app.inject({ method: 'POST', url: '/api/user/login', headers, payload })
  void login.then()
  await expect.poll(() => isWaiting).toBe(true)
  expect((await erase()).success).toBe(true)
  erased.resolve()
  expect((await login).json()).toMatchObject({ success: false, code: 'UserDeactivated' })
  vi.restoreAllMocks()
  expect(await tablesWithWord()).toEqual([])
})

it('leaves nothing of fifty tokens and messages that are created at the same time', async () => {
  const { root, isFold } = fixture
  const { id, call, erase } = await person(`${WORD}-fifty`)
  const message = { title: `About ${WORD}`, content: WORD, user_ids: [id] }
  const work = fifty(async (n) => {
    if (n === 25) return (await erase()).success
    if (n % 2 === 0) return await call('POST', '/api/token/', { body: { name: `${WORD} ${n}` } })
    return await root.call('POST', '/api/admin/messages', { body: message })
  })
  expect((await work)[25]).toBe(true)
  expect(await tablesWithWord()).toEqual([])
  expect(await isFold('tokens')).toBe(true)
  expect(await isFold('messages')).toBe(true)
})

it('ends copies of read models after it was interrupted behind the destruction', async () => {
  const { core, root } = fixture
  const { erase } = await person(`${WORD}-copied`)
  const id = '00000000-0000-4000-8000-000000000001'
  const context = { actor: 'user:1', cause: null, at: core.now() }
  const copy = {
    id,
    requestedBy: 1,
    requestedAt: core.now(),
    position: 1,
    asOf: core.now(),
    ownMax: 1,
  }
  const request = { type: 'RequestScratchCopy', ...copy } as const
  await core.actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, request, context)
  const schema = scratchSchemaOf(id, 'users')
  await core.pg.query(`create schema ${schema};
    create table ${schema}.users as select * from read_users.users`)
  expect(await tablesWithWord()).toContain(`${schema}.users`)
  const handle = core.actors.handle.bind(core.actors)
  vi.spyOn(core.actors, 'handle').mockImplementation(async (decider, stream, ...rest) => {
    if (stream === AUDIT_JOBS_STREAM) throw new Error('cut')
    return await handle(decider, stream, ...rest)
  })
  expect((await erase()).status).toBe(500)
  vi.restoreAllMocks()
  expect(await unfinished()).toBe(1)
  await expect.poll(unfinished).toBe(0)
  expect(await tablesWithWord()).toEqual([])
  const { scratchCopies } = await core.actors.stateOf(auditJobsDecider, AUDIT_JOBS_STREAM)
  expect(scratchCopies.filter(isActiveCopy)).toEqual([])
  expect((await root.call('GET', '/api/user/self')).success).toBe(true)
})
