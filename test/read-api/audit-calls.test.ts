import { beforeAll, describe, expect, it } from 'vitest'
import type { Attempt } from '#domain/accounts/events.ts'
import { hostHashOf } from '#infra/vault/host-hash.ts'
import type { CallExplanation } from '#read-api/contract/calls.ts'
import { newCallId } from '#relay/pipeline/http-exchange.ts'
import {
  aCall,
  admitted,
  channelChanged,
  channelCreated,
  costing,
  type Given,
  HOLD,
  NOW,
  releasedCall,
  settledCall,
  userCreated,
} from '#test/projections/fixture.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, BOB } from './fixture.ts'

const api = startedOnce(apiFixture)

const EVIDENCE = {
  sentAt: NOW - 1_400,
  sent: { bytes: 20, sha256: 'ab'.repeat(32) },
  received: { bytes: 40, sha256: 'cd'.repeat(32) },
  requestId: 'req_1',
  model: 'other-model',
  fingerprint: { id: 'chatcmpl-1', system_fingerprint: 'fp_1' },
  usage: '{"prompt_tokens":1000,"cost":0.001}',
}
const ATTEMPTS: readonly Attempt[] = [
  { channelId: 1, status: 503, error: 'status', latencyMs: 20 },
  { channelId: 2, status: 200, error: null, latencyMs: 900, evidence: EVIDENCE },
]
/** (400 + 600 × 0.5 + 500 × 4) × 1.25 */
const CHARGE = 3_375

const withFields = (given: Given, fields: object): Given => ({
  ...given,
  data: { ...(given.data as object), ...fields },
})
const idAt = (at: number) => newCallId(at)
const ids = { settled: idAt(NOW), released: idAt(NOW + 1), open: idAt(NOW + 2), forged: idAt(NOW) }
/** Calls that the gateway ended, by the error of their attempt. */
const cut = { 'over-limit': idAt(NOW), revoked: idAt(NOW), timeout: idAt(NOW) }
const BATCH = idAt(NOW + 4_000)
const AUDITOR = 5
const AUDITORS_CALL = idAt(NOW + 6_000)
const OTHER_PART = idAt(NOW + 4_001)
/** Calls that run while the address of their channel changes from `three` to `four`. */
const moved = { hashed: idAt(NOW + 8_000), old: idAt(NOW + 8_001), oldLater: idAt(NOW + 8_002) }
const MOVED_AT = NOW + 9_000

/** A batch of two models with three results. The call of the first model pays for two of them. */
function batchFacts(): Given[] {
  const { usage: _, ...submission } = EVIDENCE
  const call = {
    ...aCall({ userId: ALICE, tokenId: 1, call: BATCH }),
    batch: { id: BATCH, lines: 2 },
  }
  const stream = `batch-${BATCH}`
  const ofBatch = { batch: BATCH, userId: ALICE }
  const result = (line: number, part: number, more: object = {}) => ({
    ...{ line, part, usage: { output: 1 }, charge: 7, ...more },
  })
  const shown = { received: EVIDENCE.received, requestId: 'req_line', model: 'other-model' }
  const evidence = { ...shown, sentModel: 'their-model', usage: EVIDENCE.usage }
  const lines = [result(0, 0, { evidence, isOtherModel: true }), result(1, 1), result(2, 0)]
  const parts = [{ call: BATCH }, { call: OTHER_PART }]
  return [
    admitted(call, NOW + 4_000),
    { stream, type: 'BatchSubmitted', v: 1, data: { ...ofBatch, parts, lines: 3 } },
    { stream, type: 'BatchLinesBilled', v: 1, data: { ...ofBatch, lines } },
    withFields(settledCall(call, 14, NOW + 5_000, 2), {
      ...{ upstreamModel: 'their-model', anomaly: 'other-model', billedLines: 2 },
      attempts: [
        { channelId: 2, status: 200, error: null, latencyMs: 9, evidence: submission },
      ] satisfies Attempt[],
    }),
  ]
}

const repointed = (host: string, at: number): Given => ({
  ...channelChanged(2, 'ChannelTermsChanged', {
    terms: { ...PLAIN_CHANNEL_TERMS, name: 'second', baseUrl: `https://${host}` },
    ...{ keyRefs: ['channel-key-2'], keyMode: '', droppedKeyRefs: [] },
  }),
  at,
})

/** The facts in the order of their positions. Those of one append are ordered by stream. */
function movedFacts(): Given[][] {
  const calls = Object.values(moved).map((call) => aCall({ userId: ALICE, tokenId: 1, call }))
  const hostHash = hostHashOf(api.core.vault, 'three.example.com')
  const evidence = [
    { sentAt: MOVED_AT + 500, hostHash },
    { sentAt: MOVED_AT - 500 },
    { sentAt: MOVED_AT + 500 },
  ]
  return [
    calls.map((call) => admitted(call, NOW + 8_000)),
    [repointed('four.example.com', MOVED_AT)],
    calls.map((call, index) =>
      withFields(settledCall(call, 1, NOW + 10_000, 2), {
        attempts: [
          { channelId: 2, status: 200, error: null, latencyMs: 9, evidence: evidence[index] },
        ],
      }),
    ),
  ]
}

beforeAll(async () => {
  const call = (id: string) => aCall({ userId: ALICE, tokenId: 1, call: id })
  const settled = call(ids.settled)
  const auditors = aCall({ userId: AUDITOR, tokenId: 2, call: AUDITORS_CALL })
  const raised = { ...settled, hold: HOLD + 5, added: 5, postings: [] }
  const others = Array.from({ length: 700 }, () => {
    const other = aCall({ userId: ALICE, tokenId: 1, call: idAt(NOW - 60_000) })
    return [admitted(other, NOW - 60_000), settledCall(other, 1, NOW - 59_000)]
  })
  const events: Given[] = [
    channelCreated(1, 'channel-one', { baseUrl: 'https://one.example.com/v1' }),
    channelCreated(2, 'second', { baseUrl: 'https://two.example.com' }),
    ...others.flat(),
    withFields(admitted(settled, NOW), { balanceAfter: 70, heldAfter: HOLD }),
    admitted(call(ids.released), NOW + 1),
    { stream: `account-${ALICE}`, type: 'HoldRaised', v: 1, data: raised, at: NOW + 5 },
    releasedCall(call(ids.released), NOW + 11),
    costing(
      withFields(settledCall(settled, CHARGE, NOW + 2_000, 2), {
        ...{ attempts: ATTEMPTS, hold: HOLD + 5, upstreamModel: 'their-model' },
        ...{ anomaly: 'other-model', balanceAfter: 80, heldAfter: 0 },
      }),
      900,
    ),
    ...batchFacts(),
    userCreated(AUDITOR, 'auditor', 5),
    admitted(auditors, NOW + 6_000),
    settledCall(auditors, CHARGE, NOW + 7_000),
    admitted(call(ids.open), NOW + 2),
    admitted(call(ids.forged), NOW),
    settledCall(call(ids.forged), CHARGE + 1, NOW + 3_000),
    ...Object.entries(cut).flatMap(([error, id]) => [
      admitted(call(id), NOW),
      withFields(settledCall(call(id), CHARGE, NOW + 3_000), {
        attempts: [{ channelId: 2, status: 200, error, latencyMs: 9 }],
        end: error === 'timeout' ? error : 'incomplete',
        ...(error === 'revoked' ? { endReason: 'user_disabled' } : {}),
      }),
    ]),
    repointed('three.example.com', NOW),
  ]
  let position = 0
  for (let at = 0; at < events.length; at += 500) {
    position = await api.append(events.slice(at, at + 500))
  }
  for (const facts of movedFacts()) position = await api.append(facts)
  await api.settled(position)
})

const explain = async (id: string, who: number) => {
  const path = `/api/audit/calls/${id}`
  return await api.get<CallExplanation>(path, await api.logIn(who))
}

describe('calls that another model answered', () => {
  it('are listed and counted by channel, for admins only', async () => {
    const headers = await api.logIn(ADMIN)
    const list = await api.get('/api/audit/calls', headers)
    expect(list.body.data).toEqual({
      items: [
        expect.objectContaining({ request_id: BATCH, sent_model: 'their-model' }),
        {
          ...{ position: expect.any(Number), created_at: (NOW + 2_000) / 1_000, user_id: ALICE },
          ...{ request_id: ids.settled, channel_id: 2, channel_name: 'second' },
          ...{ model: 'sim-small', sent_model: 'their-model', answered_model: 'other-model' },
        },
      ],
      next_cursor: null,
    })
    const counts = await api.get('/api/audit/other-models', headers)
    expect(counts.body.data).toEqual([
      { channel_id: 2, channel_name: 'second', count: 2, last_at: (NOW + 5_000) / 1_000 },
    ])
    const empty = { items: [], next_cursor: null }
    for (const query of ['anomaly=higher-cost', 'channel=1', 'cursor=1']) {
      expect((await api.get(`/api/audit/calls?${query}`, headers)).body.data).toEqual(empty)
    }
    expect((await api.get('/api/audit/calls', await api.logIn(ALICE))).status).toBe(403)
    expect((await api.get('/api/audit/calls?anomaly=absurd', headers)).status).toBe(400)
  })
})

describe('an explained call', () => {
  it('has every step of the call with the balance after it, for an admin', async () => {
    const { status, body } = await explain(ids.settled, ADMIN)
    expect(status, body.message).toBe(200)
    expect(body.data).toMatchObject({
      ...{ request_id: ids.settled, user_id: ALICE, username: 'alice', status: 'settled' },
      admission: { hold: HOLD, balance_after: 70, held_after: HOLD },
      raised_holds: [{ added: 5, hold: HOLD + 5, balance_after: null }],
      end: {
        ...{ type: 'CallSettled', reason: 'done', hold: HOLD + 5, charge: CHARGE },
        ...{ released: HOLD + 5 - CHARGE, balance_after: 80, held_after: 0 },
      },
      ...{ cost: 900, cost_ratio: '0.6', upstream_model: 'their-model' },
      usage: { raw: EVIDENCE.usage, anomaly: 'other-model', source: 'upstream' },
    })
    const { admission, end } = body.data
    expect((end?.revision ?? 0) - (admission?.revision ?? 0)).toBe(4)
  })

  it('ended as the usage log says, with the reason of a lost access', async () => {
    for (const [error, id] of Object.entries(cut)) {
      const code = error === 'revoked' ? 'user_disabled' : null
      const { body } = await explain(id, ALICE)
      expect(body.data.end).toMatchObject({ reason: error, error_code: code, status_code: null })
    }
  })

  it('tells why each attempt was made and where it went, with the host at the time', async () => {
    const { body } = await explain(ids.settled, ADMIN)
    expect(body.data.attempts).toMatchObject([
      {
        ...{ channel_id: 1, channel_name: 'channel-one', status: 503, error: 'status' },
        ...{ reason: 'first', after_error: null, evidence: { host: 'one.example.com' } },
      },
      {
        ...{ channel_id: 2, reason: 'another-channel', after_error: 'status', error: null },
        evidence: {
          ...{ request_id: 'req_1', model: 'other-model', host: 'two.example.com' },
          ...{ sent: EVIDENCE.sent, received: EVIDENCE.received },
        },
      },
    ])
  })

  it('has the host of the attempt, although the address changed while the call ran', async () => {
    for (const [id, host] of [
      [moved.hashed, 'three.example.com'],
      [moved.old, 'three.example.com'],
      [moved.oldLater, 'four.example.com'],
    ] as const) {
      const { body } = await explain(id, ADMIN)
      expect(body.data.attempts).toMatchObject([{ evidence: { host } }])
      const own = await explain(id, ALICE)
      expect(own.body.data.attempts[0]?.evidence).not.toHaveProperty('host')
    }
  })

  it('computes the charge again, to the unit', async () => {
    const { body } = await explain(ids.settled, ADMIN)
    expect(body.data.arithmetic).toEqual({
      lines: [
        { item: 'inputUncached', units: '400', price: '1.25', ratio: '1', amount: '500' },
        { item: 'cacheRead', units: '600', price: '0.625', ratio: '1', amount: '375' },
        { item: 'output', units: '500', price: '5', ratio: '1', amount: '2500' },
      ],
      ...{ sum: '3375', rounded: CHARGE, charge: CHARGE, is_exact: true },
    })
    const forged = await explain(ids.forged, ADMIN)
    expect(forged.body.data.arithmetic).toMatchObject({ rounded: CHARGE, is_exact: false })
  })

  it('shows its owner no channel, host, name at the provider or cost', async () => {
    const { status, body } = await explain(ids.settled, ALICE)
    expect(status).toBe(200)
    const text = JSON.stringify(body.data)
    for (const secret of [
      'example.com',
      'their-model',
      'channel-one',
      'req_1',
      'chatcmpl-1',
      '0.001',
    ]) {
      expect(text).not.toContain(secret)
    }
    expect(body.data.usage?.anomaly).toBeNull()
    expect(body.data).toMatchObject({ cost: null, cost_ratio: null, upstream_model: null })
    expect(body.data.attempts[1]).toMatchObject({
      ...{ channel_id: null, channel_name: null, reason: 'another-channel' },
      evidence: { sent: EVIDENCE.sent, fingerprint: { system_fingerprint: 'fp_1' } },
    })
  })

  it('has the first results of its batch, with their evidence', async () => {
    const { status, body } = await explain(BATCH, ADMIN)
    expect(status, body.message).toBe(200)
    const { batch, attempts } = body.data
    expect(attempts).toMatchObject([{ evidence: { request_id: 'req_1', host: 'two.example.com' } }])
    const position = batch?.results?.[0]?.position ?? 0
    expect(batch).toEqual({
      ...{ id: BATCH, lines: 2, billed_lines: 2 },
      results: [
        {
          ...{ line: 0, position: expect.any(Number), charge: 7, is_other_model: true },
          evidence: { received: EVIDENCE.received, request_id: 'req_line', model: 'other-model' },
          usage: EVIDENCE.usage,
        },
        { line: 2, position, charge: 7, is_other_model: false, evidence: null, usage: null },
      ],
    })
    const own = await explain(BATCH, ALICE)
    expect(own.body.data.batch?.results).toEqual([
      { line: 0, position, charge: 7, evidence: { received: EVIDENCE.received }, usage: null },
      { line: 2, position, charge: 7, evidence: null, usage: null },
    ])
  })

  it('names only paths that its viewer may read', async () => {
    for (const [who, path] of [
      [ADMIN, `/api/log/?request_id=${ids.settled}`],
      [ALICE, `/api/log/self/?request_id=${ids.settled}`],
      [AUDITOR, null],
    ] as const) {
      const { body } = await explain(ids.settled, who)
      const { log } = body.data.links
      expect(log).toBe(path)
      if (log !== null) expect((await api.get(log, await api.logIn(who))).status).toBe(200)
      if (who === AUDITOR) expect(body.data.upstream_model).toBe('their-model')
    }
    const own = await explain(AUDITORS_CALL, AUDITOR)
    expect(own.body.data.links.log).toBe(`/api/log/self/?request_id=${AUDITORS_CALL}`)
  })

  it('that was released or is open has no charge', async () => {
    const { body } = await explain(ids.released, ALICE)
    expect(body.data).toMatchObject({
      ...{ status: 'released', arithmetic: null, usage: null, attempts: [] },
      end: { error_code: 'NoChannel', status_code: 503, charge: 0, released: HOLD },
    })
    const open = await explain(ids.open, ALICE)
    expect(open.body.data).toMatchObject({ status: 'open', end: null, admission: { hold: HOLD } })
  })

  it('of another user, or with an odd id, is unknown', async () => {
    const { forged, ...unknown } = ids
    for (const id of Object.values(unknown)) {
      expect(await explain(id, BOB)).toMatchObject({ status: 404, body: { code: 'CallUnknown' } })
    }
    for (const id of [idAt(NOW), '%25', 'x', ids.settled.slice(0, 20), `${ids.settled}0`]) {
      expect(await explain(id, ADMIN)).toMatchObject({ status: 404 })
    }
    expect((await explain(forged.toUpperCase(), ALICE)).status).toBe(200)
  })
})
