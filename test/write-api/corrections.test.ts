import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { CallSettled, ChargeCorrected } from '#domain/accounts/events.ts'
import { applyToAudit, finishAudit } from '#domain/audit/apply-events-to-audit.ts'
import { Findings } from '#domain/audit/findings.ts'
import { initialAudit } from '#domain/audit/state.ts'
import { correctionsDecider } from '#domain/corrections/decide.ts'
import { CORRECTIONS_STREAM } from '#domain/corrections/events.ts'
import { chargeFor } from '#domain/pricing/charge.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { QUOTA_MAX } from '#domain/shared/quota.ts'
import { provideCallEnds } from '#infra/audit-program/reread-ends-of-corrected-calls.ts'
import { eventOf } from '#infra/audit-program/stored-record.ts'
import { storeRecords } from '#infra/audit-program/stored-record-reader.ts'
import { verifySite } from '#infra/audit-program/verify-site-data.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { ensureLogSchema, openTransparencyLog } from '#infra/transparency-log/open-log.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import type { CallExplanation } from '#read-api/contract/calls.ts'
import type { Correction } from '#read-api/contract/corrections.ts'
import type { CorrectedCalls, LedgerPage } from '#read-api/contract/ledger.ts'
import type { LogEntry, LogOther } from '#read-api/contract/logs.ts'
import type { Receipt } from '#read-api/contract/receipts.ts'
import { newCallId } from '#relay/pipeline/http-exchange.ts'
import {
  aCall,
  admitted,
  appendTo,
  budgetSet,
  type Given,
  granted,
  settledCall,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { planCorrection } from '#write-api/audit/plan-charge-correction.ts'
import { continueCorrections } from '#write-api/audit/run-correction.ts'
import { scanEndedCalls } from '#write-api/audit/scan-ended-calls.ts'
import type {
  AppliedCorrection,
  CorrectionPreview,
  Recomputation,
  Repricing,
} from '#write-api/contract/repricing-and-corrections.ts'
import { fifty, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const TOKEN = 30
const CALLS = 150
/** An hour within the range, in unix seconds. */
let hour: number
/** The charge of each call, and its charge at half the model ratio. */
let charge: number
let half: number

const sample = settledCall(aCall(), 0).data as CallSettled['data']

/** Lets the commands that correct some accounts fail as in a fault of the event store. */
function failing(isFailing: (command: { userId: number; batch: number }) => boolean): () => void {
  const { actors } = fixture.core
  const handle = actors.handle.bind(actors)
  const spy = vi.spyOn(actors, 'handle').mockImplementation(async (...args) => {
    const command = args[2] as { type: string; userId: number; batch: number }
    if (command.type === 'CorrectCharges' && isFailing(command)) throw new Error('no answer')
    return handle(...args)
  })
  return () => spy.mockRestore()
}

function calls(
  userId: number,
  model: string,
  count: number,
  charged = charge,
  second = hour,
): Given[] {
  return Array.from({ length: count }).flatMap(() => {
    const at = second * 1_000
    const ids = { call: newCallId(at), userId, model }
    const call = aCall({ ...ids, tokenId: userId === 3 ? TOKEN : 20 })
    return [admitted(call, at), settledCall(call, charged, at)].map((one) => ({
      ...one,
      data: { ...(one.data as object), clientIp: null },
    }))
  })
}

beforeAll(async () => {
  hour = Math.floor(fixture.core.now() / 1_000) - 3_600
  charge = Number(chargeFor(sample.price, sample.usage))
  half = Number(chargeFor({ ...sample.price, model: '0.625' } as never, sample.usage))
  const position = await appendTo(fixture.core.store, [
    granted(3, 2_000_000),
    granted(2, 2_000_000),
    budgetSet(TOKEN, 3, 1_000_000),
    ...calls(3, 'wrong', CALLS),
    ...calls(2, 'wrong', 2),
    ...calls(3, 'right', 3),
    ...calls(2, 'raised', 4),
    ...calls(3, 'odd', 1, charge + 7),
  ])
  await fixture.freshness.waitFor(['call-log', 'balances', 'ledger'], position, 20_000)
})

const range = () => ({ from: hour - 60, to: hour + 60 })
const post = <T>(url: string, body: object, call = fixture.root.call) =>
  call<T>('POST', url, { body })
const preview = (model: string, price: object) =>
  post<CorrectionPreview>('/api/audit/corrections/preview', { ...range(), model, price })
const apply = (text: string) =>
  post<AppliedCorrection>('/api/audit/corrections', { preview: text, reason: 'a wrong price' })
const list = async () => {
  const { data } = await fixture.root.call<{ items: Correction[] }>('GET', '/api/audit/corrections')
  return data.items
}
const quotaOf = async (id: number) =>
  (await fixture.root.call<{ quota: number; used_quota: number }>('GET', `/api/user/${id}`)).data
const correctedEvents = async (userId: number, id: string) =>
  (await fixture.core.store.readStream(`account-${userId}`)).filter(
    ({ type, data }) =>
      type === 'ChargeCorrected' && (data as { correctionId: string }).correctionId === id,
  )

describe('a recomputation', () => {
  it('finds no difference but the charge that its event does not give', async () => {
    const { data } = await post<Recomputation>('/api/audit/recompute', range())
    expect(data).toMatchObject({
      calls: CALLS + 10,
      charged: charge * (CALLS + 10) + 7,
      recomputed: charge * (CALLS + 10),
      ...{ different: 1, skipped: 0, next_cursor: null },
    })
    expect(data.differences).toMatchObject([
      { model: 'odd', user_id: 3, charged: charge + 7, recomputed: charge },
    ])
  })

  it('names the field of a bad range', async () => {
    const answer = await post('/api/audit/recompute', { from: 9, to: 1 })
    expect([answer.status, answer.message]).toEqual([400, expect.stringContaining('to')])
  })
})

describe('a what-if', () => {
  it('sums charges under a draft by model, group and user, and writes nothing', async () => {
    const head = await fixture.head()
    const prices = {
      ModelRatio: '{"wrong":2.5,"right":1.25}',
      CompletionRatio: '{"wrong":4,"right":4}',
      CacheRatio: '{"wrong":0.5,"right":0.5}',
    }
    const { data } = await post<Repricing>('/api/audit/reprice', { ...range(), prices })
    expect(data.models).toContainEqual({
      ...{ model: 'wrong', calls: CALLS + 2, refused: 0 },
      ...{ charged: charge * (CALLS + 2), drafted: charge * 2 * (CALLS + 2) },
    })
    expect(data.models.find(({ model }) => model === 'odd')).toMatchObject({ refused: 1 })
    expect(data.groups).toHaveLength(1)
    expect(data.largest).toHaveLength(100)
    expect(await fixture.head()).toBe(head)
  })

  it('is refused while the charges in force are not known', async () => {
    // A correction that runs beside this test waits for another read model.
    const waitFor = fixture.freshness.waitFor.bind(fixture.freshness)
    const waits = vi
      .spyOn(fixture.freshness, 'waitFor')
      .mockImplementation(async (names, ...others) =>
        names.some((name) => name === 'corrected-calls') ? false : waitFor(names, ...others),
      )
    const refused = await post<Repricing>('/api/audit/reprice', { ...range(), prices: {} })
    waits.mockRestore()
    expect(refused).toMatchObject({ success: false, code: 'CorrectedCallsBehind' })
  })
})

describe('a correction', () => {
  it('refunds each call once, although fifty requests apply it at once', async () => {
    const before = [await quotaOf(2), await quotaOf(3)]
    const { data } = await preview('wrong', { model_ratio: '0.625' })
    const refund = charge - half
    expect(data).toMatchObject({
      ...{ calls: CALLS + 2, accounts: 2, charged: 0, skipped: 0 },
      refunded: refund * (CALLS + 2),
      users: [
        { user_id: 3, calls: CALLS, amount: -refund * CALLS },
        { user_id: 2, calls: 2, amount: -refund * 2 },
      ],
    })
    expect(data.largest).toHaveLength(100)
    expect(data.largest[0]).toMatchObject({ charged: charge, corrected: half })
    const answers = await fifty(() => apply(data.preview))
    expect(new Set(answers.map(({ status, success }) => `${status} ${success}`))).toEqual(
      new Set(['200 true']),
    )
    expect(await correctedEvents(3, data.id)).toHaveLength(2)
    expect(await correctedEvents(2, data.id)).toHaveLength(1)
    const after = [await quotaOf(2), await quotaOf(3)]
    for (const [index, count] of [2, CALLS].entries()) {
      const [then, now] = [before[index], after[index]]
      expect((now?.quota ?? 0) - (then?.quota ?? 0)).toBe(refund * count)
      expect((then?.used_quota ?? 0) - (now?.used_quota ?? 0)).toBe(refund * count)
    }
    expect(await list()).toMatchObject([
      { id: data.id, model: 'wrong', reason: 'a wrong price', preview: null, calls: CALLS + 2 },
    ])
  })

  it('is an act of the audit log, with the price, the sums and the reason', async () => {
    const [{ id = '' } = {}] = await list()
    const url = `/api/audit/log?act=correction-started&object=correction:${id}`
    const { data } = await fixture.root.call<{ items: AuditAct[] }>('GET', url)
    expect(data.items).toMatchObject([
      {
        ...{ actor: { id: '1', name: 'root' }, reason: 'a wrong price' },
        after: {
          ...{ ...range(), model: 'wrong', price: { model: '0.625' } },
          ...{ calls: CALLS + 2, accounts: 2, refunded: (charge - half) * (CALLS + 2), charged: 0 },
        },
      },
    ])
  })

  it('names the calls that it cannot correct, and why', async () => {
    const { data } = await preview('wrong', { model_price: '0.01' })
    expect(data).toMatchObject({ calls: 0, skipped: CALLS + 2, largest: [] })
    expect(data.skipped_calls).toHaveLength(100)
    expect(new Set(data.skipped_calls.map(({ reason }) => reason))).toEqual(
      new Set(['other-kind-of-price']),
    )
  })

  it('is named by the calls, their log rows and the movement of the ledger', async () => {
    const [{ id = '' } = {}] = await list()
    const by = (name: string) => ({ requested_by: { id: 1, name }, reason: 'a wrong price' })
    const ofCall = { correction_id: id, charge, corrected: half, amount: half - charge }
    const { call: ask } = fixture.user
    const { data: ledger } = await ask<LedgerPage>('GET', '/api/ledger/self?types=correction')
    expect(ledger.items.map((item) => [item.source, item.corrected_calls])).toEqual([
      [id, CALLS - 100],
      [id, 100],
    ])
    const { position } = ledger.items[0] ?? {}
    const url = `/api/ledger/self/corrections/${position}`
    const { data: corrected } = await ask<CorrectedCalls>('GET', url)
    expect(corrected).toMatchObject({ correction_id: id, ...by('') })
    expect(corrected.calls).toHaveLength(CALLS - 100)
    const [one] = corrected.calls
    expect(one).toMatchObject({ charge, corrected: half, amount: half - charge, unpaid: 0 })
    const path = `/api/audit/calls/${one?.request_id}`
    for (const caller of [fixture.user, fixture.admin]) {
      // The owner of a call does not see the login name of an admin.
      const expected = { ...ofCall, ...by(caller === fixture.user ? '' : 'root') }
      const answer = await caller.call<CallExplanation>('GET', path)
      expect(answer.message).toBe('')
      const { data: explained } = answer
      expect(explained.corrections).toMatchObject([{ ...expected, position, unpaid: 0 }])
      expect([explained.end?.charge, explained.charge_in_force]).toEqual([charge, half])
      const log = caller === fixture.user ? '/api/log/self/' : '/api/log/'
      const { data: rows } = await caller.call<{ items: LogEntry[] }>(
        'GET',
        `${log}?request_id=${one?.request_id}`,
      )
      const [{ other = '{}' } = {}] = rows.items
      expect((JSON.parse(other) as LogOther).corrected_by).toMatchObject([expected])
      const receipts = `/api/audit/receipts/${one?.request_id}`
      const { items } = (await caller.call<{ items: Receipt[] }>('GET', receipts)).data
      expect(items.map(({ record }) => record.type)).toEqual([
        ...['CallAdmitted', 'CallSettled', 'ChargeCorrected'],
      ])
      expect(items[2]?.record.position).toBe(position)
    }
    // Another account has no such movement, and its owner cannot see this one.
    const others = `/api/audit/ledger/2/corrections/${position}`
    expect((await fixture.admin.call('GET', others)).status).toBe(404)
    expect((await fixture.admin.call('GET', url)).status).toBe(404)
  })

  it('starts from the charges of an earlier correction', async () => {
    const { data: same } = await preview('wrong', { model_ratio: '0.625' })
    expect(same).toMatchObject({ calls: 0, refunded: 0, charged: 0 })
    const { data } = await preview('wrong', { model_ratio: '1.25' })
    expect(data).toMatchObject({ refunded: 0, charged: (charge - half) * (CALLS + 2) })
  })

  it('is refused if its preview is outdated, changed or invalid', async () => {
    const { data: old } = await preview('right', { model_ratio: '0.5' })
    const { data: done } = await preview('right', { completion_ratio: '2' })
    expect((await apply(done.preview)).status).toBe(200)
    expect((await apply(old.preview)).code).toBe('CorrectionPreviewOutdated')
    const text = Buffer.from(done.preview, 'base64url').toString()
    const changed = Buffer.from(text.replace('"completion":"2"', '"completion":"0"'))
    const { data: empty } = await preview('unknown', { model_ratio: '0' })
    expect((await apply(empty.preview)).code).toBe('CorrectionEmpty')
    for (const body of ['x', '!!', Buffer.from('{}').toString('base64url')]) {
      const answer = await apply(body)
      expect([answer.status, answer.message]).toEqual([400, expect.stringContaining('preview')])
    }
    const forged = await apply(changed.toString('base64url').replace(done.id, old.id))
    expect(forged.success && forged.data.id !== done.id).toBe(false)
    const noPrice = await post('/api/audit/corrections/preview', {
      ...{ ...range(), model: 'm', price: {} },
    })
    expect([noPrice.status, noPrice.message]).toEqual([400, expect.stringContaining('price')])
  })

  it('takes higher charges down to a balance of 0', async () => {
    const { quota } = await quotaOf(2)
    const { data } = await preview('raised', { model_ratio: '5000' })
    expect(data.charged).toBeGreaterThan(quota)
    const unpaidOfAll = data.charged - quota
    expect(data).toMatchObject({
      unpaid: unpaidOfAll,
      users: [{ user_id: 2, unpaid: unpaidOfAll }],
    })
    const sums = { calls: 4, refunded: 0, charged: quota, unpaid: unpaidOfAll }
    expect((await apply(data.preview)).data).toMatchObject({ applied: sums })
    expect((await list())[0]).toMatchObject({ charged: data.charged, applied: sums })
    expect((await quotaOf(2)).quota).toBe(0)
    const [event] = (await correctedEvents(2, data.id)) as Recorded<ChargeCorrected>[]
    if (event === undefined) throw new Error('no event')
    const { calls, amount } = event.data
    expect(amount).toBe(quota)
    const unpaid = calls.reduce((sum, one) => sum + (one.unpaid ?? 0), 0)
    expect(unpaid).toBe(unpaidOfAll)
    // What was not paid is not refunded: the next correction starts from what was charged.
    const { data: back } = await preview('raised', { model_ratio: '1.25' })
    expect(back.refunded).toBe(quota)
  })

  it('is continued without its request, and delays only those of the same calls', async () => {
    const { data } = await preview('wrong', { model_ratio: '0.3' })
    const restore = failing(({ batch, userId }) => userId === 3 && batch === 1)
    expect((await apply(data.preview)).code).toBe('CorrectionUnfinished')
    const [running] = await list()
    expect(running).toMatchObject({ id: data.id, finished_at: null, preview: data.preview })
    // The account that failed did not delay the other one.
    expect(await correctedEvents(2, data.id)).toHaveLength(1)
    expect((await preview('wrong', { model_ratio: '9' })).code).toBe('CorrectionRunning')
    const { data: other } = await preview('right', { model_ratio: '0.4' })
    expect((await apply(other.preview)).success).toBe(true)
    restore()
    fixture.clock.ahead += 20_000
    const finished = async () => (await list()).find(({ id }) => id === data.id)?.finished_at
    await expect.poll(finished).toBeGreaterThan(0)
    const events = await correctedEvents(3, data.id)
    expect(events.map((event) => (event.data as { batch: number }).batch)).toEqual([0, 1])
    expect((await apply(running?.preview ?? '')).success).toBe(true)
    expect(await correctedEvents(3, data.id)).toHaveLength(2)
    await fixture.freshness.waitFor(['call-log'], await fixture.head(), 20_000)
    expect((await preview('wrong', { model_ratio: '0.3' })).data).toMatchObject({ calls: 0 })
  })

  it('ends without an account that fails again and again, whose calls are left', async () => {
    const { data } = await preview('wrong', { model_ratio: '0.2' })
    const restore = failing(({ userId }) => userId === 2)
    expect((await apply(data.preview)).code).toBe('CorrectionUnfinished')
    const passes = new Map([[data.id, 9]])
    fixture.clock.ahead += 20_000
    const { core, freshness } = fixture
    await continueCorrections({ core, freshness, runExclusive: (_name, work) => work() }, passes)
    restore()
    expect((await list()).find(({ id }) => id === data.id)).toMatchObject({
      failed: [{ user_id: 2, calls: 2, code: 'AccountUnavailable' }],
    })
    await fixture.freshness.waitFor(['call-log'], await fixture.head(), 20_000)
    const { data: left } = await preview('wrong', { model_ratio: '0.2' })
    expect(left).toMatchObject({ calls: 2, accounts: 1, users: [{ user_id: 2, calls: 2 }] })
    expect((await apply(left.preview)).success).toBe(true)
  })

  it('ends at once without an account whose balance cannot hold the refund', async () => {
    const room = await quotaOf(2)
    const most = granted(2, Number(QUOTA_MAX) - room.quota)
    await fixture.freshness.waitFor(
      ['call-log', 'balances'],
      await appendTo(fixture.core.store, [most]),
      20_000,
    )
    const { data } = await preview('wrong', { model_ratio: '0.1' })
    const applied = await apply(data.preview)
    const failed = [{ user_id: 2, calls: 2, code: 'AmountOutOfRange' }]
    expect(applied).toMatchObject({ success: true, data: { failed } })
    expect(await correctedEvents(3, data.id)).toHaveLength(2)
  })

  it('corrects each call once, if fifty are applied at once, two for each range', async () => {
    const ranges = Array.from({ length: 25 }, (_, index) => hour - 5_000 - 100 * index)
    const position = await appendTo(
      fixture.core.store,
      ranges.flatMap((at) => calls(3, 'ranges', 4, charge, at)),
    )
    await fixture.freshness.waitFor(['call-log', 'balances'], position, 20_000)
    const before = await quotaOf(3)
    const previews = await Promise.all(
      ranges.map((at) => {
        const range = { from: at, to: at, model: 'ranges', price: { model_ratio: '0.625' } }
        return post<CorrectionPreview>('/api/audit/corrections/preview', range)
      }),
    )
    const answers = await Promise.all(
      [...previews, ...previews].map(({ data }) => apply(data.preview)),
    )
    expect(answers.map(({ success }) => success)).toEqual(Array(50).fill(true))
    const after = await quotaOf(3)
    expect(after.quota - before.quota).toBe((charge - half) * 4 * 25)
    const all = { from: hour - 9_000, to: hour, model: 'ranges', price: { model_ratio: '0.625' } }
    const { data: left } = await post<CorrectionPreview>('/api/audit/corrections/preview', all)
    expect(left).toMatchObject({ calls: 0, refunded: 0 })
  })

  it('is planned again to the same id while it is applied', async () => {
    const [last] = await list()
    const { corrections } = await fixture.core.actors.stateOf(
      correctionsDecider,
      CORRECTIONS_STREAM,
    )
    const scope = corrections.at(-1)?.scope
    if (scope === undefined || last === undefined) throw new Error('no correction')
    expect((await planCorrection(fixture.core, scope, last.id)).id).toBe(last.id)
    const limits = { callsMax: 3, until: Number.POSITIVE_INFINITY }
    await expect(planCorrection(fixture.core, scope, last.id, limits)).rejects.toThrow(
      'CorrectionTooLarge',
    )
  })

  it('keeps read models, balances and the rules of the events in agreement', async () => {
    const head = await fixture.head()
    const names = ['balances', 'call-log', 'usage-by-hour', 'ledger', 'corrected-calls'] as const
    await fixture.freshness.waitFor(names, head, 20_000)
    for (const name of names) expect(await fixture.isFold(name), name).toBe(true)
    const records = storeRecords(fixture.core.store)
    for (const remembers of ['terms', 'positions'] as const) {
      const [state, findings] = [initialAudit({ remembers }), new Findings()]
      for (const record of await records.read(0, 10_000)) {
        await provideCallEnds(records, state.remembered, record, async () => true)
        applyToAudit(state, eventOf(record), findings)
      }
      finishAudit(state, findings)
      const found = findings.list()
      const odd = found.filter(({ check }) => check !== 'charges' && check !== 'call-ends')
      expect(odd).toEqual([])
      expect(found.filter(({ detail }) => detail.includes('correct'))).toEqual([])
    }
  })

  async function sealAll(): Promise<void> {
    const { core } = fixture
    await ensureLogSchema(core)
    const log = await openTransparencyLog(core)
    const sealing = { pg: core.pg, log, readLeaves: leafReader(core), now: core.now }
    while ((await sealEvents({ ...sealing, arePositionsDense: true })) > 0);
  }

  it('is verified with ends whose sealed hash is still there', async () => {
    const { core } = fixture
    await sealAll()
    const state = initialAudit({ remembers: 'positions' })
    const ends = new Set<number>()
    const records = storeRecords(core.store)
    for (const record of await records.read(0, 10_000)) {
      await provideCallEnds(records, state.remembered, record, async ({ position }) => {
        ends.add(position)
        return true
      })
      applyToAudit(state, eventOf(record), new Findings())
    }
    await core.pg.query('create table kept_tiles as table transparency_log.tiles')
    await core.pg.query('delete from transparency_log.tiles where level = 0')
    const options = { mode: 'full', runningSince: core.now() } as const
    const lostEnds = async () => {
      const { findings } = await verifySite(core, options)
      const lost = findings.list().filter(({ code }) => code === 'SealedHashMissing')
      return [...new Set(lost.map(({ position }) => position))]
    }
    const named = await lostEnds()
    await core.pg.query(`insert into transparency_log.tiles table kept_tiles
      on conflict do nothing; drop table kept_tiles`)
    // The first ends that are read again are named, as many as a verification keeps, and no others.
    expect(named).toEqual([...ends].slice(0, 20))
    expect(ends.size).toBeGreaterThan(0)
    expect(await lostEnds()).toEqual([])
  })

  it('is verified with ends that are as sealed, also if a row is changed meanwhile', async () => {
    const { core } = fixture
    await sealAll()
    // Changes the end of a call just before it is read again, and so after it was compared.
    let changed: { position: string; data: string } | null = null
    const changing = async (position: number): Promise<void> => {
      const where = 'where position = $1'
      const { rows } = await core.pg.query(
        `select position, data from event_store.events ${where}`,
        [position],
      )
      changed = rows[0]
      const data = changed?.data.replace(/"output":\d+/, '"output":1')
      await core.pg.query(`update event_store.events set data = $2 ${where}`, [position, data])
    }
    const query = async (first: unknown, ...others: unknown[]) => {
      const { name, values = [] } = first as { name?: string; values?: number[] }
      const isReadAgain = name === 'audit-records' && values[1] === 1
      if (isReadAgain && changed === null) await changing((values[0] ?? 0) + 1)
      return core.pg.query(first as string, ...(others as []))
    }
    const pg = new Proxy(core.pg, {
      get: (pool, name) => (name === 'query' ? query : Reflect.get(pool, name, pool)),
    })
    const options = { mode: 'full', runningSince: core.now() } as const
    const { findings } = await verifySite({ ...core, pg }, options)
    const { position, data } = changed ?? { position: '0', data: '' }
    const restored = 'update event_store.events set data = $2 where position = $1'
    await core.pg.query(restored, [position, data])
    const named = { position: Number(position), code: 'EventDiffersFromSeal' }
    expect(findings.list()).toContainEqual(expect.objectContaining(named))
  })

  it('leaves the receipts of a call final, and provable if its own event was changed', async () => {
    const { core, user } = fixture
    // The first correction of a call that was corrected more than once.
    const { rows: repeated } = await core.pg.query<{ call: string; position: string }>(
      `select call, min(position) as position from read_corrected_calls.calls
       where user_id = $1 group by call having count(*) > 1 order by call limit 1`,
      [user.id],
    )
    const position = Number(repeated[0]?.position)
    const corrected = await user.call<CorrectedCalls>(
      'GET',
      `/api/ledger/self/corrections/${position}`,
    )
    type Receipts = { items: Receipt[]; unproven_corrections: number }
    const receiptsOf = async (id = '') =>
      (await user.call<Receipts>('GET', `/api/audit/receipts/${id}`)).data
    const ids = corrected.data.calls.map(({ request_id: id }) => id)
    const all = await Promise.all(ids.map((id) => receiptsOf(id)))
    const index = all.findIndex(({ items }) => items.length > 3)
    const receipts = () => receiptsOf(ids[index])
    const whole = await receipts()
    expect(whole.unproven_corrections).toBe(0)
    expect(whole.items.every((item) => item.is_final)).toBe(true)
    const others = whole.items.filter(({ record }) => record.position !== position)
    // The call also has a correction whose event was not changed.
    expect(others.map(({ record }) => record.type)).toContain('ChargeCorrected')
    const where = 'where position = $1'
    const { rows } = await core.pg.query(`select data from event_store.events ${where}`, [position])
    const change = `update event_store.events set data = $2 ${where}`
    await core.pg.query(change, [position, rows[0].data.replace('"batch":', '"batch" :')])
    const damaged = await receipts()
    await core.pg.query(change, [position, rows[0].data])
    expect(damaged.items.map(({ record }) => record)).toEqual(others.map(({ record }) => record))
    expect(damaged.unproven_corrections).toBe(1)
  })
})

it('a scan refuses a cursor at which EventStoreDB has no event', async () => {
  const { config, store } = fixture.core
  const eventStore = { url: 'esdb://localhost:2113' }
  const gapped = {
    config: { ...config, eventStore },
    store: { ...store, eventAt: async () => null },
  }
  const scan = scanEndedCalls(gapped, { from: 0, to: 1, cursor: '5' }, () => {})
  await expect(scan).rejects.toMatchObject({ code: 'InvalidField', params: { field: 'cursor' } })
})
