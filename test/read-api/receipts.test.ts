import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { accountStream } from '#domain/accounts/events.ts'
import { buildReceipts } from '#infra/audit-program/build-receipts-of-events.ts'
import { leafHash } from '#infra/audit-program/stored-record.ts'
import { verifyReceiptFiles } from '#infra/audit-program/verify-receipt-files.ts'
import { type ReceiptKeys, verifyReceipt } from '#infra/audit-program/verify-receipts.ts'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { createNoteSigner } from '#infra/transparency-log/note-signer.ts'
import {
  ensureLogSchema,
  openTransparencyLog,
  type TransparencyLog,
} from '#infra/transparency-log/open-log.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import type { Consistency, Receipt } from '#read-api/contract/receipts.ts'
import { newCallId } from '#relay/pipeline/http-exchange.ts'
import { aCall, admitted, type Given, settledCall } from '#test/projections/fixture.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { verifyChain } from '#test/support/verify-receipt-chain.ts'
import { type Caller, seededFixture } from '#test/write-api/write-fixture.ts'

type Receipts = { user_id: number | null; items: Receipt[]; consistency: Consistency | null }
type Range = { stream: string; last_revision: number; items: Receipt[] } & Pick<
  Receipts,
  'consistency'
>

const site = startedOnce(seededFixture)
let log: TransparencyLog

const seal = async (): Promise<number> => {
  const { pg, now } = site.core
  const deps = { pg, log, now, readLeaves: leafReader(site.core), arePositionsDense: true }
  return await sealEvents(deps)
}
let balance = 0
/** Adds to the user's balance, as an admin does. */
const grant = (amount: number) => {
  balance += amount
  return site.root.call('PUT', '/api/user/', { body: { id: site.user.id, quota: balance } })
}
/** Appends events as the relay does, and waits for the log of calls. */
const appendTo = async (events: readonly Given[]): Promise<void> => {
  const { position } = await site.core.store.append([
    {
      stream: accountStream(site.user.id),
      expected: 'any',
      events: events.map(({ type, v, data, at = 0 }) => ({
        ...{ id: randomUUID(), type, v, data: { ...data, clientIp: null } },
        meta: { actor: `user:${site.user.id}`, cause: null, at },
      })),
    },
  ])
  await site.freshness.waitFor(['call-log', 'open-calls'], position, 10_000)
}
const receiptsOf = async <T = Range>(path = '/api/ledger/self/receipts', call?: Caller) => {
  const { status, data, message, code } = await (call ?? site.user.call)<T>('GET', path)
  return { status, data: data as T, message, code }
}
const lastReceiptOfAccount = async () => (await receiptsOf()).data.items.at(-1) as Receipt
const keys = () => ({ site: [log.signer.verifierKey] })

beforeAll(async () => {
  await ensureLogSchema(site.core)
  log = await openTransparencyLog(site.core)
  for (const quota of [700, 200, 30]) expect(await grant(quota)).toMatchObject({ success: true })
})

describe('receipts', () => {
  it('are pending until a signed checkpoint covers their events', async () => {
    const { data } = await receiptsOf()
    expect(data.items.length).toBeGreaterThan(2)
    for (const receipt of data.items) {
      expect(receipt).toMatchObject({ is_pending: true, is_final: false, inclusion: null })
      expect(receipt.expected_at).toBeGreaterThan(Date.now() / 1_000 - 60)
    }
    expect(verifyReceipt(data.items[0] as Receipt, keys()).findings).toMatchObject([
      { fault: 'pending' },
    ])
  })

  it('of contiguous revisions are a complete statement, verified with the key alone', async () => {
    await seal()
    const { data } = await receiptsOf()
    expect(data.last_revision).toBe(data.items.length - 1)
    expect(data.items.map(({ record }) => record.revision)).toEqual([...data.items.keys()])
    expect(data.items.every(({ is_final }) => is_final)).toBe(true)
    expect(verifyChain(data.items, keys())).toEqual([])
    expect(data.items.at(-1)?.balance_after).toBeGreaterThanOrEqual(930)
    const without = data.items.filter((_, index) => index !== 1)
    expect(verifyChain(without, keys())).toMatchObject([{ fault: 'missing' }, { fault: 'balance' }])
  })

  it('of two times are consistent, by the proof that the site gives', async () => {
    const { data: before } = await receiptsOf()
    const size = before.items[0]?.inclusion?.tree_size ?? 0
    await grant(5)
    await seal()
    const { data: after } = await receiptsOf(`/api/ledger/self/receipts?since_size=${size}`)
    const { consistency, items } = after
    expect(consistency).toMatchObject({ old_size: size })
    const receipts = [...before.items, ...items.slice(before.items.length)]
    expect(verifyChain(receipts, keys(), consistency === null ? [] : [consistency])).toEqual([])
    const proofs = [{ ...(consistency as Consistency), hashes: [] }]
    expect(verifyChain(receipts, keys(), proofs)).toMatchObject([{ fault: 'fork' }])
    const tooLarge = await receiptsOf(`/api/ledger/self/receipts?since_size=${size + 10_000}`)
    expect(tooLarge).toMatchObject({ status: 400, code: 'SizeInvalid' })
  })

  it('are final only with the signatures of as many witnesses as the site requires', async () => {
    const witness = createNoteSigner('witness.example.com', Buffer.alloc(32, 7))
    const settings = site.core.config.transparencyLog
    const before = { ...settings }
    Object.assign(settings, { witnesses: [{ key: witness.witnessKey, url: '' }], quorum: 1 })
    const withWitness = { ...keys(), witnesses: [witness.witnessKey] }
    const unsigned = await lastReceiptOfAccount()
    expect(unsigned).toMatchObject({ is_pending: false, is_final: false, cosignatures: [] })
    const { rows } = await site.core.pg.query<{ size: string; body: string }>(
      'select size, body from transparency_log.checkpoints order by size desc limit 1',
    )
    const { size, body } = rows[0] ?? { size: '0', body: '' }
    const sign = (line: string) =>
      site.core.pg.query(
        'update transparency_log.checkpoints set signatures = signatures || $2 where size = $1',
        [size, [line]],
      )
    await sign(witness.cosign(body.replace('tallygate', 'another'), 1_800_000_000))
    expect((await lastReceiptOfAccount()).is_final).toBe(false)
    await site.core.pg.query(
      `update transparency_log.checkpoints set signatures = signatures[1:1] where size = $1`,
      [size],
    )
    await sign(witness.cosign(body, 1_800_000_000))
    const final = await lastReceiptOfAccount()
    const cosignatures = [{ witness: 'witness.example.com', signed_at: 1_800_000_000 }]
    expect(final).toMatchObject({ is_final: true, cosignatures })
    expect(verifyReceipt(final, withWitness)).toEqual({ findings: [], witnesses: 1 })
    await laterEventIsProvedWithoutWitnesses(final, withWitness)
    Object.assign(settings, before)
  })

  /** Seals one more event while the witness is away, as a later correction of a call is. */
  async function laterEventIsProvedWithoutWitnesses(final: Receipt, trusted: ReceiptKeys) {
    await grant(5)
    await seal()
    const later = (await lastReceiptOfAccount()).record
    const built = await buildReceipts(site.core, [final.record], null, [later])
    const [call, correction] = built.items
    expect(call).toMatchObject({ is_final: true, signed_checkpoint: final.signed_checkpoint })
    expect(correction).toMatchObject({ record: later, is_pending: false, is_final: false })
    const folder = await mkdtemp(join(tmpdir(), 'later-receipts-'))
    const file = join(folder, 'receipts.json')
    await writeFile(file, JSON.stringify({ data: built }))
    // This is what the verifier says about any receipt whose checkpoint no witness has signed.
    const { findings, notes } = verifyReceiptFiles([file], trusted)
    expect(findings).toMatchObject([{ fault: 'witness', position: later.position }])
    expect(notes).toEqual([])
    await rm(folder, { recursive: true })
  }

  it('of an event are for its owner and for auditors', async () => {
    const { data } = await receiptsOf()
    const position = data.items.at(-1)?.record.position ?? 0
    const path = `/api/audit/receipts?position=${position}`
    for (const call of [site.user.call, site.admin.call]) {
      const receipts = await receiptsOf<Receipts>(path, call)
      expect(receipts).toMatchObject({ status: 200, data: { user_id: site.user.id } })
      expect(verifyReceipt(receipts.data.items[0] as Receipt, keys()).findings).toEqual([])
    }
    const ofOthers = await receiptsOf('/api/audit/receipts?position=1')
    expect(ofOthers).toMatchObject({ status: 404, code: 'EventUnknown' })
    const beyond = await receiptsOf('/api/audit/receipts?position=999999', site.admin.call)
    expect(beyond).toMatchObject({ status: 404, code: 'EventUnknown' })
    expect(await receiptsOf('/api/audit/receipts?position=x')).toMatchObject({ status: 400 })
  })

  it('of an event are for auditors also where positions have gaps', async () => {
    const server = await startEventStoreDbServer()
    const { store: before, config, log: logger } = site.core
    const locks = createMemoryLocks()
    const store = await createEventStoreDbStore({ url: server.url, locks, log: logger })
    const eventStore = { url: server.url }
    Object.assign(site.core, { store, config: { ...config, eventStore } })
    try {
      const meta = { actor: 'user:1', cause: null, at: Date.now() }
      const event = { id: randomUUID(), type: 'QuotaGranted', v: 1, data: { userId: 7 }, meta }
      const stream = accountStream(7)
      const { position } = await store.append([{ stream, expected: 'any', events: [event] }])
      const path = (at: number) => `/api/audit/receipts?position=${at}`
      const receipts = await receiptsOf<Receipts>(path(position), site.admin.call)
      expect(receipts).toMatchObject({ status: 200, data: { user_id: 7 } })
      expect(receipts.data.items.map(({ record }) => record.position)).toEqual([position])
      for (const [at, call] of [
        [position, site.user.call],
        [position + 1, site.admin.call],
        [0, site.admin.call],
      ] as const) {
        expect((await receiptsOf(path(at), call)).status).toBeOneOf([400, 404])
      }
      const body = { position: position - 1, time: null }
      const copy = await site.root.call('POST', '/api/audit/scratch-copies', { body })
      expect(copy).toMatchObject({ status: 400, message: expect.stringContaining('position') })
    } finally {
      Object.assign(site.core, { store: before, config })
      await store.close()
      await server.stop()
    }
  })

  it('of a call are those of its admission and of its end', async () => {
    const call = aCall({ userId: site.user.id, call: newCallId(Date.now()) })
    const events = [admitted(call, Date.now()), settledCall(call, 5, Date.now())]
    await appendTo(events)
    await seal()
    const { data, status } = await receiptsOf<Receipts>(`/api/audit/receipts/${call.call}`)
    expect([status, data.user_id]).toEqual([200, site.user.id])
    expect(data.items.map(({ record }) => record.type)).toEqual(['CallAdmitted', 'CallSettled'])
    for (const receipt of data.items) expect(verifyReceipt(receipt, keys()).findings).toEqual([])
    const unknown = await receiptsOf(`/api/audit/receipts/${newCallId(Date.now())}`)
    expect(unknown).toMatchObject({ status: 404, code: 'CallUnknown' })
  })

  it('are proved by a log that is also at the root, for clients of C2SP tlog-tiles', async () => {
    await seal()
    const headers = { cookie: site.admin.cookie, 'user-id': String(site.admin.id) }
    const read = async (url: string) => {
      const { statusCode, headers: of, rawPayload } = await site.app.inject({ url, headers })
      return { statusCode, type: of['content-type'], text: rawPayload.toString('base64') }
    }
    const list = await site.admin.call('GET', '/api/audit/signed-checkpoints?limit=1')
    type Checkpoints = { items: { size: number }[] }
    const { data } = await site.admin.call<Checkpoints>('GET', '/api/audit/checkpoints?limit=1')
    expect([list.status, data]).toEqual([200, list.data])
    const size = data.items[0]?.size ?? 0
    expect(size).toBeGreaterThan(0)
    const partial = size >= 256 ? '000' : `000.p/${size}`
    for (const path of ['checkpoint', `tile/0/${partial}`, `tile/entries/${partial}`]) {
      const found = await read(`/transparency-log/${path}`)
      expect(found).toMatchObject({ statusCode: 200, text: expect.stringMatching(/./) })
      expect(await read(`/${path}`)).toEqual(found)
    }
  })

  it('are verified in plain Node by the program that the site gives to anybody', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'receipts-'))
    const verifier = join(folder, 'verify.mjs')
    const sent = await site.app.inject({ method: 'GET', url: '/transparency-log/verify.mjs' })
    expect([sent.statusCode, sent.headers['content-type']]).toEqual([
      ...[200, 'text/javascript; charset=utf-8'],
    ])
    await writeFile(verifier, sent.body)
    const run = async (answer: object): Promise<[code: number, text: string]> => {
      const file = join(folder, 'receipts.json')
      await writeFile(file, JSON.stringify(answer))
      const args = [verifier, '--receipt', file, '--key', log.signer.verifierKey]
      return await new Promise((resolve) => {
        const child = execFile(process.execPath, args, (_error, text) => {
          resolve([child.exitCode ?? -1, text])
        })
      })
    }
    const answer = await site.user.call<Range>('GET', '/api/ledger/self/receipts?to_revision=3')
    expect(await run({ data: answer.data })).toEqual([0, expect.stringContaining('Nothing was')])
    const { items } = answer.data
    const forged = { ...answer.data, items: items.filter((_, index) => index !== 1) }
    expect(await run(forged)).toEqual([1, expect.stringContaining('revision 1')])
    expect((await run({ items: [null] }))[0]).toBe(2)
    const unsealed = { is_pending: true, inclusion: null, signed_checkpoint: null }
    const unsigned = (at: (receipt: Receipt) => number) => ({
      ...answer.data,
      items: items.map((receipt) => {
        const record = { ...receipt.record, at: at(receipt) }
        return { ...receipt, ...unsealed, record, leaf_hash: leafHash(record).toString('base64') }
      }),
    })
    const old = unsigned(({ record }) => Math.min(record.at, Date.now() - 130_000))
    expect(await run(old)).toEqual([1, expect.stringContaining(`${items.length} findings`)])
    const recent = unsigned(() => Date.now())
    expect(await run(recent)).toEqual([1, expect.stringContaining('None of them is proved')])
    await rm(folder, { recursive: true })
  })

  it('have a bounded range', async () => {
    for (const range of [
      'from_revision=2&to_revision=1',
      'from_revision=999999',
      'from_revision=x',
      'from_revision=-1',
    ]) {
      const { status, message } = await receiptsOf(`/api/ledger/self/receipts?${range}`)
      expect([range, status]).toEqual([range, 400])
      expect(message).toContain('from_revision')
    }
    const { data } = await receiptsOf('/api/ledger/self/receipts?from_revision=1&to_revision=1')
    expect(data.items.map(({ record }) => record.revision)).toEqual([1])
  })

  it('are refused for an event that was changed after it was sealed', async () => {
    const stream = accountStream(site.user.id)
    const change = async (from: string, to: string) =>
      await site.core.pg.query(
        `update event_store.events set data = replace(data, $2, $3)
          where stream = $1 and type = 'QuotaGranted'`,
        [stream, from, to],
      )
    await change('"amount":700', '"amount":701')
    const { status, code } = await receiptsOf()
    expect([status, code]).toEqual([409, 'EventChanged'])
    await change('"amount":701', '"amount":700')
    expect((await receiptsOf()).status).toBe(200)
  })

  it('name a lost tile of the log, and say how it is rebuilt', async () => {
    const { pg } = site.core
    const { rows } = await pg.query(
      'delete from transparency_log.tiles where level = 0 returning *',
    )
    const { status, code, message } = await receiptsOf()
    for (const { level, index, hashes, first_position } of rows) {
      await pg.query('insert into transparency_log.tiles values ($1, $2, $3, $4)', [
        ...[level, index, hashes, first_position],
      ])
    }
    expect([status, code]).toEqual([409, 'TileMissing'])
    expect(message).toMatch(/0\/0.*npm run audit -- rebuild-tiles/)
    expect((await receiptsOf()).status).toBe(200)
  })
})
