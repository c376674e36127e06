import type { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AccountEvent, accountStream } from '#domain/accounts/events.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { type Answer, chat, relayRig } from './support/relay-rig.ts'

const STREAMS = 50
const WORDS = 12_000
/** Tokens that each stream holds at first, because nobody knows the limit of the model. */
const FIRST_HOLD_TOKENS = 2_048n
/** $2 and $8 per million tokens. */
const OUTPUT_PRICE = 4n
const PROGRESS_STEP_TOKENS = 1_024n
const USER = { id: 21, token: 22, key: 'P'.repeat(48) }

let requests: ServerResponse[]
/** Nothing is sent before all streams are open, so that they compete from the first word on. */
const provider = startedForEach(() =>
  serve((request, response) => {
    response.on('error', () => {})
    request.resume()
    request.on('end', () => {
      requests.push(response)
      if (requests.length === STREAMS) for (const each of requests) void sendWords(each)
    })
  }),
)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  requests = []
  await rig.addChannel(2, { baseUrl: provider.url, models: ['endless'] })
  await rig.setOption('ModelRatio', { endless: 1 })
  await rig.setOption('CompletionRatio', { endless: 4 })
  await rig.setOption('DefaultMaxOutputTokens', String(FIRST_HOLD_TOKENS))
  await rig.setOption('PreConsumedQuota', '0')
  await rig.addUser(USER.id)
  await rig.addToken(USER.token, USER.id, USER.key)
})
async function sendWords(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let words = 0; words < WORDS && !response.destroyed; words += 200) {
    const delta = { content: 'word '.repeat(200) }
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
    // The other streams have their turns in between.
    await new Promise((resume) => setImmediate(resume))
  }
  response.end('data: [DONE]\n\n')
}

const openStreams = (): Promise<Answer[]> => {
  const headers = { authorization: `Bearer sk-${USER.key}` }
  const body = { model: 'endless', stream: true }
  return Promise.all(Array.from({ length: STREAMS }, () => chat(rig, body, headers)))
}

const accountEvents = async () =>
  (await rig.core.store.readStream(accountStream(USER.id))) as readonly AccountEvent[]

type Ended = Extract<AccountEvent, { readonly type: 'CallSettled' }>
const settled = (events: readonly AccountEvent[]): readonly Ended[] =>
  events.filter((event) => event.type === 'CallSettled')
const countOf = (events: readonly AccountEvent[], type: AccountEvent['type']): number =>
  events.filter((event) => event.type === type).length

/** The balance after each event that raises a hold. */
function balancesAtRaises(events: readonly AccountEvent[]): readonly bigint[] {
  let balance = 0n
  return events.flatMap(({ type, data }) => {
    for (const [account, amount] of 'postings' in data ? data.postings : []) {
      if (account === `user:${USER.id}:main`) balance += BigInt(amount)
    }
    return type === 'HoldRaised' ? [balance] : []
  })
}

/** All were open at once, each with no limit but its hold. */
function expectAllOpenEnded(events: readonly AccountEvent[]): void {
  const limits = events.flatMap(({ type, data }) =>
    type === 'CallAdmitted' ? [data.outputLimit ?? null] : [],
  )
  expect(limits).toEqual(Array.from({ length: STREAMS }, () => null))
}

describe('fifty concurrent streams of a model with an unknown output limit', () => {
  it('all holds grow while the streams run, and every charge is within its hold', async () => {
    await rig.grant(USER.id, 100_000_000n)
    const answers = await openStreams()
    expect(answers.every(({ text }) => text.includes('[DONE]'))).toBe(true)
    const events = await accountEvents()
    expectAllOpenEnded(events)
    expect(countOf(events, 'HoldRaised')).toBeGreaterThanOrEqual(2 * STREAMS)
    const ends = settled(events)
    expect(ends).toHaveLength(STREAMS)
    expect(ends.filter(({ data }) => data.charge > data.hold)).toEqual([])
    expect(ends.filter(({ data }) => data.usage.output < WORDS)).toEqual([])
    const charges = ends.reduce((sum, { data }) => sum + BigInt(data.charge), 0n)
    expect(await rig.balance(USER.id)).toBe(100_000_000n - charges)
  })

  it.each([
    ['an account', 0n, async () => {}],
    ['a token', 100_000_000n, (funds: bigint) => rig.setBudget(USER.id, USER.token, funds)],
  ])(
    'the streams hold no more than %s can pay, and end when it is spent',
    async (_payer, others, limit) => {
      const funds = BigInt(STREAMS) * 2n * FIRST_HOLD_TOKENS * OUTPUT_PRICE
      await rig.grant(USER.id, funds + others)
      await limit(funds)
      const answers = await openStreams()
      const events = await accountEvents()
      expectAllOpenEnded(events)
      expect(answers.filter(({ text }) => text.includes('balance_spent')).length).toBeGreaterThan(0)
      const raises = balancesAtRaises(events)
      expect(raises.length).toBeGreaterThan(0)
      expect(raises.filter((balance) => balance < others)).toEqual([])
      expect(settled(events)).toHaveLength(STREAMS)
      const mayOwe = PROGRESS_STEP_TOKENS * OUTPUT_PRICE * BigInt(STREAMS)
      expect(await rig.balance(USER.id)).toBeGreaterThanOrEqual(others - mayOwe)
    },
  )
})
