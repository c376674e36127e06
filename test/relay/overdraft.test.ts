import type { ServerResponse } from 'node:http'
import { pino } from 'pino'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { StoreUnavailable, type StreamAppend } from '#infra/event-store/port.ts'
import { createMemorySnapshots } from '#infra/event-store/snapshots.ts'
import { createStreamActors } from '#infra/event-store/stream-actors.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { type Answer, chat, relayRig } from './support/relay-rig.ts'

type ChatBody = {
  readonly stream?: boolean
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
}
type Send = (response: ServerResponse, bodies: ChatBody) => void | Promise<void>

/** $30 and $120 per million tokens. */
const PRICES = { ModelRatio: { big: 15 }, CompletionRatio: { big: 4 } }
const OUTPUT_PRICE = 60n
const TEN_CENTS = 50_000n
const POOR = { user: 21, token: 22, key: 'P'.repeat(48) }
const AUTH = { authorization: `Bearer sk-${POOR.key}` }

const log = pino({ level: 'silent' })

let send: Send
let bodies: ChatBody[]
const provider = startedForEach(() =>
  serve((request, response) => {
    const parts: Buffer[] = []
    response.on('error', () => {})
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as ChatBody
      bodies.push(body)
      void send(response, body)
    })
  }),
)
const rig = startedForEach(relayRig)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const limitOf = ({ max_tokens, max_completion_tokens }: ChatBody): number =>
  max_completion_tokens ?? max_tokens ?? 100_000

beforeEach(async () => {
  bodies = []
  await rig.addChannel(2, { baseUrl: provider.url, models: ['big', 'capped'] })
  for (const [key, value] of Object.entries(PRICES)) {
    await rig.setOption(key, { ...value, capped: value.big, 'sim-small': 1 })
  }
  await rig.setOption('MaxOutputTokens', { capped: 100_000 })
  await rig.addUser(POOR.user)
  await rig.addToken(POOR.token, POOR.user, POOR.key)
})
const plain =
  (tokensFor: (bodies: ChatBody) => number): Send =>
  async (response, body) => {
    await pause(300)
    response.writeHead(200, { 'content-type': 'application/json' })
    const usage = { prompt_tokens: 20, completion_tokens: tokensFor(body) }
    response.end(JSON.stringify({ choices: [{ message: { content: 'x' } }], usage }))
  }

/** Words for as long as `goesOn` says so; then, unless it was closed, the usage and the end. */
const streamed =
  (goesOn: (words: number) => boolean): Send =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let words = 0
    while (goesOn(words) && !response.destroyed) {
      words += 100
      const delta = { content: 'word '.repeat(100) }
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
      if (words % 2_000 === 0) await pause(1)
    }
    response.end('data: [DONE]\n\n')
  }

const burst = async (count: number, body: object = {}): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, () => chat(rig, { model: 'big', ...body }, AUTH)))
const balance = () => rig.balance(POOR.user)
/** How many calls were admitted with the output limit that is sent for them, and without one. */
const admitted = async () => {
  const limits = (await rig.callEvents(POOR.user)).flatMap(({ type, data }) =>
    type === 'CallAdmitted' ? [data.outputLimit ?? null] : [],
  )
  const openEnded = limits.filter((limit) => limit === null).length
  return { limited: limits.length - openEnded, openEnded }
}
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

describe.each([['big'], ['capped']])(
  'sixty concurrent calls without a limit on a balance of $0.10, model %s',
  (model) => {
    it.each([
      ['keeps the limit that it is sent', limitOf],
      ['answers 100 000 tokens whatever it is sent', () => 100_000],
    ])('the account never owes anything if the provider %s', async (_what, tokensFor) => {
      await rig.grant(POOR.user, TEN_CENTS)
      send = plain(tokensFor)
      const answers = await burst(60, { model })
      expect(new Set(statuses(answers))).toEqual(new Set([200, 402]))
      expect(statuses(answers).filter((status) => status === 200).length).toBeGreaterThan(0)
      expect(bodies.every((body) => limitOf(body) * Number(OUTPUT_PRICE) <= 50_000)).toBe(true)
      expect(await balance()).toBeGreaterThanOrEqual(0n)
    })

    it('the account never owes anything if the provider never stops', async () => {
      await rig.grant(POOR.user, TEN_CENTS)
      send = streamed(() => true)
      const answers = await burst(60, { model, stream: true })
      const open = statuses(answers).filter((status) => status === 200).length
      expect(open).toBeGreaterThan(0)
      expect(await admitted()).toEqual({ limited: open, openEnded: 0 })
      expect(answers.find(({ status }) => status === 200)?.text).toContain('"error"')
      expect(await balance()).toBeGreaterThanOrEqual(0n)
    })

    it('the calls of a token with a budget of $0.10 spend no more than that', async () => {
      await rig.grant(POOR.user, 1_000_000_000n)
      await rig.setBudget(POOR.user, POOR.token, TEN_CENTS)
      send = plain(() => 100_000)
      await burst(60, { model })
      const spent = 1_000_000_000n - (await balance())
      expect(spent > 0n && spent <= TEN_CENTS, `spent ${spent}`).toBe(true)
    })
  },
)

describe('the output limit that the relay sends', () => {
  it('the limit is recorded and is no larger than the account covers', async () => {
    await rig.grant(POOR.user, TEN_CENTS)
    send = plain(limitOf)
    await chat(rig, { model: 'capped' }, AUTH)
    const [admitted] = await rig.callEvents(POOR.user)
    if (admitted?.type !== 'CallAdmitted') throw new Error('not admitted')
    expect(admitted.data.outputLimit).toBe(bodies[0]?.max_tokens)
    expect(BigInt(admitted.data.hold)).toBeLessThanOrEqual(TEN_CENTS)
  })

  it('the limit replaces the caller’s larger one under the name the caller used', async () => {
    await rig.grant(POOR.user, TEN_CENTS)
    send = plain(limitOf)
    await chat(rig, { model: 'big', max_completion_tokens: 90_000 }, AUTH)
    expect(bodies[0]).not.toHaveProperty('max_tokens')
    expect(bodies[0]?.max_completion_tokens).toBeLessThan(1_000)
  })

  it('the relay sends no limit if the account covers the model’s cap', async () => {
    await rig.grant(POOR.user, 100_000_000n)
    send = plain(() => 5)
    await chat(rig, { model: 'capped' }, AUTH)
    expect(Object.keys(bodies[0] ?? {})).toEqual(['model', 'messages'])
  })

  it('the relay refuses a call whose limit would be below a minimum', async () => {
    await rig.grant(POOR.user, 256n * OUTPUT_PRICE)
    send = plain(limitOf)
    expect((await chat(rig, { model: 'big' }, AUTH)).status).toBe(402)
    expect(bodies).toEqual([])
  })
})

describe('a stream of a model with an unknown cap', () => {
  const admittedFor = 2_048n
  beforeEach(() => rig.setOption('DefaultMaxOutputTokens', String(admittedFor)))

  it('the hold grows while the stream runs, and the delivered part is charged', async () => {
    await rig.grant(POOR.user, 10_000_000n)
    send = streamed((words) => words < 20_000)
    const { text } = await chat(rig, { model: 'big', stream: true }, AUTH)
    expect(text).toContain('[DONE]')
    const events = await rig.callEvents(POOR.user)
    const holds = await rig.core.store.readStream(`account-${POOR.user}`)
    expect(holds.filter(({ type }) => type === 'HoldRaised').length).toBeGreaterThan(2)
    const end = events.at(-1)
    if (end?.type !== 'CallSettled') throw new Error('not settled')
    expect(end.data.usage.output).toBeGreaterThan(19_000)
    expect(end.data.charge).toBeLessThanOrEqual(end.data.hold)
  })

  it('the stream ends with an error once the balance is spent, and is charged', async () => {
    const funds = 10_000n * OUTPUT_PRICE
    await rig.grant(POOR.user, funds)
    send = streamed(() => true)
    const { text } = await chat(rig, { model: 'big', stream: true }, AUTH)
    expect(text).toContain('balance_spent')
    expect(text).not.toContain('[DONE]')
    const left = await balance()
    expect(left).toBeGreaterThanOrEqual(-1_024n * OUTPUT_PRICE)
    expect(left).toBeLessThan(funds / 4n)
  })

  it('the account owes at most one step per stream, even if twenty streams compete', async () => {
    await rig.grant(POOR.user, 20n * admittedFor * OUTPUT_PRICE)
    send = streamed((words) => words < 30_000)
    await burst(20, { stream: true })
    const { openEnded } = await admitted()
    expect(openEnded).toBeGreaterThan(1)
    expect(await balance()).toBeGreaterThanOrEqual(-1_024n * OUTPUT_PRICE * BigInt(openEnded))
  })

  describe('a stream whose hold cannot grow because the store is unavailable', () => {
    /** The next `times` appends of a raised hold fail. */
    const failToRaise = (times: number): void => {
      const { append } = rig.core.store
      let left = times
      const isRaise = ({ events }: StreamAppend) => events.some(({ type }) => type === 'HoldRaised')
      Object.assign(rig.core.store, {
        append: async (streams: readonly StreamAppend[]) => {
          if (!streams.some(isRaise) || left === 0) return append(streams)
          left -= 1
          throw new StoreUnavailable('down')
        },
      })
    }
    beforeEach(() => rig.grant(POOR.user, 100_000_000n))

    it('the stream continues when the store is available again', async () => {
      failToRaise(1)
      send = streamed((words) => words < 10_000)
      const { text } = await chat(rig, { model: 'big', stream: true }, AUTH)
      expect(text).toContain('[DONE]')
      expect(text).not.toContain('"error"')
    })

    it('the stream ends with another error than a spent balance, and is charged', async () => {
      failToRaise(Number.POSITIVE_INFINITY)
      send = streamed(() => true)
      const { text } = await chat(rig, { model: 'big', stream: true }, AUTH)
      expect(text).toContain('store_unavailable')
      expect(text).not.toContain('balance_spent')
      const end = (await rig.callEvents(POOR.user)).at(-1)
      expect(end).toMatchObject({
        type: 'CallSettled',
        data: {
          ...{ end: 'incomplete', usageSource: 'partial' },
          attempts: [{ error: 'store-unavailable' }],
        },
      })
    })
  })
})

describe('plain calls of a model with an unknown cap', () => {
  const holdMost = 2_048n * OUTPUT_PRICE + 5_000n
  beforeEach(() => rig.setOption('DefaultMaxOutputTokens', '2048'))

  it('the account owes nothing even if all calls are admitted without a limit', async () => {
    await rig.grant(POOR.user, 28n * holdMost)
    const answer = plain(() => 100_000)
    send = async (response, body) => {
      // No call ends before all of them were admitted.
      while (bodies.length < 20) await pause(5)
      await answer(response, body)
    }
    const answers = await burst(20)
    expect(statuses(answers)).toEqual(Array.from({ length: 20 }, () => 200))
    expect(bodies.some(({ max_tokens }) => max_tokens !== undefined)).toBe(false)
    expect(await balance()).toBeGreaterThanOrEqual(0n)
  })

  it('the call gets a limit if a budget just covers its hold', async () => {
    await rig.grant(POOR.user, 1_000_000_000n)
    await rig.setBudget(POOR.user, POOR.token, holdMost)
    send = plain((body) => Math.min(limitOf(body), 100_000))
    expect((await chat(rig, { model: 'big' }, AUTH)).status).toBe(200)
    expect(bodies[0]?.max_tokens).toBeLessThanOrEqual(2_048)
    const end = (await rig.callEvents(POOR.user)).at(-1)
    expect(end?.data).not.toHaveProperty('unpaidUsage')
  })
})

describe('a provider that ignores the output limit', () => {
  it('the relay cuts the stream off, and the balance never goes below zero', async () => {
    await rig.grant(POOR.user, 1_000n * OUTPUT_PRICE)
    let sent = 0
    send = streamed((words) => {
      sent = words
      return words < 5_000_000
    })
    const { text } = await chat(rig, { model: 'big', stream: true, max_tokens: 400 }, AUTH)
    expect(text).toContain('output_limit_ignored')
    expect(sent).toBeLessThan(500_000)
    expect(await balance()).toBeGreaterThanOrEqual(0n)
  })
})

/** The claude price of the built-in list: $3 and $15 per million, a cache write 1.25 times. */
const AGENT_MODEL = 'claude-sonnet-4-5'
const FIVE_DOLLARS = 2_500_000n
/** Source code and English, as agents send them: about 4.3 bytes per token. */
const SOURCE = `export async function settle(call: Call, usage: Usage): Promise<void> {
  // The charge is written before the last byte of the answer is sent to the caller.
  const charge = chargeFor(call.price, usage, call.choices)
  if (charge > call.hold) throw new Error('the charge exceeds the hold of the call')
  await ledger.append({ type: 'CallSettled', data: { call: call.id, charge } })
}
`
const agentBody = (bytes: number) => ({
  ...{ model: AGENT_MODEL, stream: true, max_tokens: 8_192 },
  messages: [{ role: 'user', content: SOURCE.repeat(Math.ceil(bytes / SOURCE.length)) }],
})

describe('concurrent agents on a balance of $5', () => {
  beforeEach(async () => {
    await rig.addChannel(3, { baseUrl: provider.url, models: [AGENT_MODEL] })
    await rig.grant(POOR.user, FIVE_DOLLARS)
    await awaitCounts()
  })

  /** Resolves once the vocabulary is loaded: only a count makes the call payable. */
  async function awaitCounts(): Promise<void> {
    const key = 'W'.repeat(48)
    await rig.addUser(31)
    await rig.addToken(32, 31, key)
    await rig.grant(31, 150_000n)
    send = (response) => void response.writeHead(500).end('{}')
    const authorization = `Bearer sk-${key}`
    const status = async () => (await chat(rig, agentBody(100_000), { authorization })).status
    await expect.poll(status).toBe(500)
    bodies = []
  }

  /** Twenty calls whose provider answers once each of them is admitted or refused. */
  async function twentyPlain(usage: object): Promise<Answer[]> {
    let refused = 0
    send = async (response) => {
      await expect.poll(() => bodies.length + refused).toBe(20)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ choices: [{ message: { content: 'x' } }], usage }))
    }
    const one = async () => {
      const answer = await chat(rig, { ...agentBody(100_000), stream: false }, AUTH)
      if (answer.status === 402) refused += 1
      return answer
    }
    return Promise.all(Array.from({ length: 20 }, one))
  }

  /** Starts agents until one is refused, and returns how many run with their whole limit. */
  async function agentsAtOnce(body: ReturnType<typeof agentBody>): Promise<number> {
    let isOver = false
    send = async (response, request) => {
      await expect.poll(() => isOver, { timeout: 60_000 }).toBe(true)
      await streamed((words) => words < 100)(response, request)
    }
    const answers: Promise<Answer>[] = []
    const limits = async () =>
      (await rig.callEvents(POOR.user)).flatMap(({ type, data }) =>
        type === 'CallAdmitted' ? [data.outputLimit ?? body.max_tokens] : [],
      )
    let refused = 0
    while (refused === 0) {
      const answer = chat(rig, body, AUTH)
      answers.push(answer)
      void answer.then(({ status }) => {
        if (status === 402) refused += 1
      })
      const isDecided = async () => refused + (await limits()).length === answers.length
      await expect.poll(isDecided, { interval: 5 }).toBe(true)
    }
    isOver = true
    await Promise.all(answers)
    expect(await balance()).toBeGreaterThanOrEqual(0n)
    return (await limits()).filter((limit) => limit === body.max_tokens).length
  }

  it.each([
    ['20 kB', 20_000, 20],
    ['100 kB', 100_000, 15],
  ])(
    'as many agents run with bodies of %s and limits of 8 k as a token count covers',
    async (...row) => {
      const [, bytes, least] = row
      expect(await agentsAtOnce(agentBody(bytes))).toBeGreaterThanOrEqual(least)
    },
  )

  it('a call holds for the length of its body, uncounted, if the balance allows it', async () => {
    await rig.grant(POOR.user, 100_000_000n)
    send = streamed((words) => words < 100)
    await chat(rig, agentBody(50_000), AUTH)
    const [admitted] = await rig.callEvents(POOR.user)
    expect(admitted?.type === 'CallAdmitted' && admitted.data.hold).toBeGreaterThan(150_000)
  })

  /** The holds of the admitted calls. */
  const holds = async (): Promise<number[]> =>
    (await rig.callEvents(POOR.user)).flatMap(({ type, data }) =>
      type === 'CallAdmitted' ? [data.hold] : [],
    )

  it('long calls of an account that can clearly pay do not read the account again', async () => {
    await rig.grant(POOR.user, 100_000_000n)
    send = streamed((words) => words < 100)
    await chat(rig, agentBody(50_000), AUTH)
    const reads = vi.spyOn(rig.core.store, 'readStream')
    for (let calls = 0; calls < 3; calls += 1) await chat(rig, agentBody(50_000), AUTH)
    expect(reads.mock.calls.filter(([stream]) => stream === accountStream(POOR.user))).toEqual([])
    expect(await rig.callEvents(POOR.user)).toHaveLength(8)
  })

  it('a long call is counted if another process has just used most of the quota', async () => {
    const body = agentBody(100_000)
    await rig.grant(POOR.user, 100_000_000n)
    send = streamed((words) => words < 100)
    await chat(rig, body, AUTH)
    const [uncounted = 0] = await holds()
    // Without a count, this does not even pay the input.
    const left = BigInt(Math.floor(uncounted * 0.7))
    const { store } = rig.core
    const elsewhere = createStreamActors({ store, snapshots: createMemorySnapshots(), log })
    const amount = (await balance()) - left
    const facts = { userId: POOR.user, deductionId: 'd', amount, reason: 'admin' } as const
    const context = { actor: 'user:1', cause: null, at: Date.now() }
    const command: AccountCommand = { type: 'DeductQuota', ...facts }
    await elsewhere.handle(accountDecider, accountStream(POOR.user), command, context)
    expect(await balance()).toBe(left)
    expect((await chat(rig, body, AUTH)).status).toBe(200)
    const [, counted] = await holds()
    expect(counted).toBeLessThanOrEqual(Number(left))
  })

  it('the account never owes anything if the provider counts a token per byte', async () => {
    const bytes = Buffer.byteLength(JSON.stringify(agentBody(100_000)))
    const prompt_tokens_details = { cache_write_tokens: bytes }
    const usage = { prompt_tokens: bytes, completion_tokens: 8_192, prompt_tokens_details }
    const answers = await twentyPlain(usage)
    expect(statuses(answers).filter((status) => status === 200).length).toBeGreaterThan(7)
    expect(await balance()).toBeGreaterThanOrEqual(0n)
  })

  it('a call holds the price of the one-hour cache if it requests that cache', async () => {
    const setting = '{"allowed_members":["cache_control.ttl"]}'
    await rig.addChannel(3, { baseUrl: provider.url, models: [AGENT_MODEL], setting })
    const { messages, ...rest } = agentBody(100_000)
    const [{ content = '' } = {}] = messages
    const text = { type: 'text', text: content, cache_control: { type: 'ephemeral', ttl: '1h' } }
    const cached = { ...rest, messages: [{ role: 'user', content: [text] }] }
    const some = await agentsAtOnce(cached as never)
    expect(some).toBeGreaterThan(7)
    expect(some).toBeLessThan(14)
  })

  it('it holds no more if a tool has a member of the same name', async () => {
    const parameters = { type: 'object', default: { cache_control: { ttl: '1h' } } }
    const tools = [{ type: 'function', function: { name: 'keep', parameters } }]
    const some = await agentsAtOnce({ ...agentBody(100_000), tools } as never)
    expect(some).toBeGreaterThanOrEqual(14)
  })
})
