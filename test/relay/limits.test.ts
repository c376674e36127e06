import { afterEach, describe, expect, it } from 'vitest'
import { chat, errorOf, KEY, type RelayRig, relayRig, USER } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

let rig: RelayRig
afterEach(() => rig?.close())

const LIMITED = 'limitedlimitedlimitedlimitedlimitedlimitedlimite'
const limited = { authorization: `Bearer sk-${LIMITED}` }
const limit = (count: number, success: number) => ({
  rateLimit: { isEnabled: true, periodSeconds: 60, count, success },
})

const statuses = async (calls: number, headers: Record<string, string> = {}) => {
  const answers = await Promise.all(Array.from({ length: calls }, () => chat(rig, {}, headers)))
  const of = (status: number) => answers.filter((answer) => answer.status === status)
  return { good: of(200).length, limited: of(429) }
}

describe('a token’s rate limit', () => {
  it('the limit admits exactly its count, even at once, and sends Retry-After', async () => {
    rig = await relayRig()
    await rig.addToken(50, USER, LIMITED, limit(7, 0))
    const { good, limited: refused } = await statuses(50, limited)
    expect([good, refused.length]).toEqual([7, 43])
    const wait = Number(refused[0]?.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    const [first] = refused
    expect(first && errorOf(first).message).toContain('7 calls / 60 s (this key)')
    expect((await statuses(3)).good).toBe(3)
  })

  it('a limit on successes counts only those, and caps concurrent calls as well', async () => {
    rig = await relayRig()
    await rig.addToken(50, USER, LIMITED, limit(0, 3))
    rig.provider.script.push({ kind: 'status', status: 400 }, { kind: 'status', status: 400 })
    expect((await chat(rig, {}, limited)).status).toBe(400)
    expect((await chat(rig, {}, limited)).status).toBe(400)
    expect((await statuses(50, limited)).good).toBe(3)
  })

  it('a limit on successes counts a stream that its caller leaves before the end', async () => {
    rig = await relayRig()
    await rig.addToken(50, USER, LIMITED, limit(0, 1))
    rig.provider.script.push({ kind: 'slow', msPerChunk: 50 })
    const leaving = new AbortController()
    const { body } = await fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...limited, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: 'sim-small', stream: true, max_tokens: 20 },
        messages: [{ role: 'user', content: 'hello' }],
      }),
      signal: leaving.signal,
    })
    const reader = body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    leaving.abort()
    await expect.poll(() => rig.relay.inFlight()).toBe(0)
    const [, end] = await rig.callEvents()
    expect(end).toMatchObject({ type: 'CallSettled', data: { end: 'client-gone' } })
    expect((await chat(rig, {}, limited)).status).toBe(429)
  })
})

describe('a token’s limits on concurrency and tokens per minute', () => {
  it('a call beyond the concurrency limit is refused, and other tokens continue', async () => {
    rig = await relayRig()
    await rig.addToken(50, USER, LIMITED, { maxConcurrency: 2 })
    for (let n = 0; n < 3; n += 1) rig.provider.script.push({ kind: 'slow', msPerChunk: 30 })
    const running = [
      chat(rig, { stream: true }, limited),
      chat(rig, { stream: true }, limited),
      chat(rig, { stream: true }),
    ]
    await expect.poll(() => rig.relay.inFlight()).toBe(3)
    const shed = await chat(rig, {}, limited)
    expect([shed.status, errorOf(shed).code]).toEqual([429, 'too_many_concurrent'])
    expect(errorOf(shed).message).toContain('2 (this key)')
    expect(Number(shed.headers.get('retry-after'))).toBeGreaterThan(0)
    for (const answer of await Promise.all(running)) expect(answer.status).toBe(200)
    expect((await chat(rig, {}, limited)).status).toBe(200)
  })

  it('a concurrency limit of two admits exactly two of fifty calls', async () => {
    rig = await relayRig()
    await rig.addToken(50, USER, LIMITED, { maxConcurrency: 2 })
    for (let n = 0; n < 2; n += 1) rig.provider.script.push({ kind: 'slow', msPerChunk: 100 })
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => chat(rig, { stream: true }, limited)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
  })

  it('the limit on tokens per minute reserves the possible and counts actual usage', async () => {
    rig = await relayRig()
    await rig.addToken(50, USER, LIMITED, { tokensPerMinute: 1_000 })
    for (let n = 0; n < 20; n += 1) rig.provider.script.push({ kind: 'slow', msPerChunk: 30 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => chat(rig, { max_tokens: 400, stream: true }, limited)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused && errorOf(refused).message).toContain('1000 tokens / 60 s (this key)')
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(50)
    rig.provider.script.length = 0
    // What the two used in the end leaves room for one more; the user’s other key has no limit.
    expect((await chat(rig, { max_tokens: 400 }, limited)).status).toBe(200)
    expect((await chat(rig, { max_tokens: 4_000 })).status).toBe(200)
  })

  it('a token’s limit on tokens per minute applies beside the limit per user', async () => {
    rig = await relayRig()
    await rig.setOption('ModelRequestRateLimitTokensPerMinute', '1500')
    await rig.setOption('ModelRequestRateLimitEnabled', 'true')
    await rig.addToken(50, USER, LIMITED, { tokensPerMinute: 1_000 })
    rig.provider.script.push({
      kind: 'usage',
      usage: { prompt_tokens: 10, completion_tokens: 890 },
    })
    expect((await chat(rig, { max_tokens: 900 }, limited)).status).toBe(200)
    const ofToken = await chat(rig, { max_tokens: 300 }, limited)
    expect(errorOf(ofToken).message).toContain('1000 tokens / 60 s (this key)')
    const ofUser = await chat(rig, { max_tokens: 900 })
    expect(errorOf(ofUser).message).toContain('1500 tokens / 60 s (this user)')
  })
})

describe('the site’s rate limit', () => {
  it('the limit applies to each user, over all tokens, except in the exempt group', async () => {
    rig = await relayRig()
    await rig.setOption('ModelRequestRateLimitCount', '4')
    await rig.setOption('ModelRequestRateLimitEnabled', 'true')
    await rig.addToken(50, USER, LIMITED)
    const first = await statuses(3)
    const second = await statuses(3, limited)
    expect(first.good + second.good).toBe(4)
    await rig.setOption('global.rate_limit_exempt_enabled', 'true')
    await rig.setOption('global.rate_limit_exempt_group', 'default')
    expect((await statuses(5)).good).toBe(5)
  })
})

describe('the site’s limit on tokens per minute', () => {
  const tokenLimit = async (max: number) => {
    await rig.setOption('ModelRequestRateLimitTokensPerMinute', `${max}`)
    await rig.setOption('ModelRequestRateLimitEnabled', 'true')
  }

  it('the limit reserves the tokens that calls may use, and sends Retry-After', async () => {
    rig = await relayRig()
    await tokenLimit(1_000)
    for (let n = 0; n < 20; n += 1) rig.provider.script.push({ kind: 'slow', msPerChunk: 30 })
    // A request of 100 bytes or so, and 400 tokens of answer: two fit, three do not.
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => chat(rig, { max_tokens: 400, stream: true })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused && errorOf(refused).message).toContain('1000 tokens / 60 s')
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(50)
  })

  it('the limit counts what a call used in the end, and nothing for a failed call', async () => {
    rig = await relayRig()
    await tokenLimit(1_000)
    rig.provider.script.push({ kind: 'status', status: 400 })
    expect((await chat(rig, { max_tokens: 900 })).status).toBe(400)
    const usage = (output: number) => ({ prompt_tokens: 10, completion_tokens: output })
    for (const output of [90, 190, 290, 290]) {
      rig.provider.script.push({ kind: 'usage', usage: usage(output) })
      expect((await chat(rig, { max_tokens: 300 })).status).toBe(200)
    }
    // 900 are used: 300 more don't fit, 50 do.
    expect((await chat(rig, { max_tokens: 300 })).status).toBe(429)
    expect((await chat(rig, { max_tokens: 50 })).status).toBe(200)
  })

  it.each([
    ['per image', 'ModelPrice', [200, 200, 200]],
    ['per token', 'ModelRatio', [200, 429, 429]],
  ])('an image with a price %s counts only the tokens of its bill', async (_, option, expected) => {
    rig = await relayRig()
    const model = 'dall-e-2'
    const provider = await scriptedProvider()
    const data = [{ url: 'https://images.example/a.png' }]
    provider.answers.set('POST /v1/images/generations', { body: { created: 1, data } })
    await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [model] })
    await rig.setOption(option, { [model]: 0.02, 'sim-small': 0.02 })
    await tokenLimit(5_000)
    const generate = async () => {
      const { status } = await fetch(`${rig.url}/v1/images/generations`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, prompt: 'x', size: '256x256' }),
      })
      return status
    }
    const statuses = [await generate(), await generate(), (await chat(rig)).status]
    await provider.close()
    expect(statuses).toEqual(expected)
    const settled = (await rig.callEvents()).flatMap((event) =>
      event.type === 'CallSettled' ? [event.data.usage.output] : [],
    )
    if (option === 'ModelPrice') expect(settled.slice(0, 2)).toEqual([0, 0])
    else expect(settled).toEqual([7_200])
  })
})

describe('concurrent calls', () => {
  it.each([
    ['perToken', 429, 'too_many_concurrent'],
    ['perUser', 429, 'too_many_concurrent'],
    ['total', 503, 'overloaded'],
  ])('concurrent calls are capped (%s)', async (cap, status, code) => {
    rig = await relayRig({ caps: { [cap]: 2 } })
    rig.provider.script.push({ kind: 'slow', msPerChunk: 30 }, { kind: 'slow', msPerChunk: 30 })
    const running = [chat(rig, { stream: true }), chat(rig, { stream: true })]
    await expect.poll(() => rig.relay.inFlight()).toBe(2)
    const shed = await chat(rig)
    expect([shed.status, errorOf(shed).code]).toEqual([status, code])
    expect(shed.headers.get('retry-after')).not.toBeNull()
    for (const answer of await Promise.all(running)) expect(answer.status).toBe(200)
    expect((await chat(rig)).status).toBe(200)
  })
})

describe('wrong keys from one address', () => {
  it('an address may send 60 wrong keys a minute, then even a right one is refused', async () => {
    rig = await relayRig()
    const wrong = { authorization: 'Bearer sk-wrongwrongwrong' }
    const answers = await Promise.all(Array.from({ length: 70 }, () => chat(rig, {}, wrong)))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(60)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
    expect((await chat(rig, {}, { authorization: `Bearer sk-${KEY}` })).status).toBe(429)
  })
})

describe('200 callers on a balance for exactly 10 calls', () => {
  it('exactly 10 calls are admitted, and the balance ends at 0', async () => {
    rig = await relayRig()
    await rig.setOption('ModelPrice', { 'sim-small': 0.002 })
    await rig.addUser(30)
    await rig.addToken(50, 30, LIMITED)
    await rig.grant(30, 10_000n)
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => chat(rig, { stream: index % 2 === 0 }, limited)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(190)
    expect(await rig.balance(30)).toBe(0n)
    expect(rig.provider.journal.count).toBe(10)
  })
})
