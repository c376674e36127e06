import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fault } from '#infra/demo/simulated-faults.ts'
import { DEFAULT_DEADLINES, type Deadlines } from '#relay/pipeline/call-deadlines-and-timer.ts'
import { isRetryable } from '#relay/pipeline/retryable-failures.ts'
import { chat, errorOf, onlyEnd, type RelayRig, relayRig } from './support/relay-rig.ts'

let rig: RelayRig
beforeEach(async () => {
  rig = await relayRig({
    deadlines: { firstEventMs: 1_000, plainAnswerStartMs: 1_000, idleMs: 1_000 },
  })
})
afterEach(() => rig.close())

const heldAfter = async () => {
  const before = 1_000_000_000n
  return before - (await rig.balance())
}

describe('a provider that fails before its answer', () => {
  it.each<[string, Fault, number, string]>([
    ['400', { kind: 'status', status: 400 }, 400, 'upstream-error'],
    ['401', { kind: 'status', status: 401 }, 502, 'upstream-error'],
    ['402', { kind: 'status', status: 402 }, 502, 'upstream-error'],
    ['403', { kind: 'status', status: 403 }, 502, 'upstream-error'],
    [
      'no money',
      { kind: 'status', status: 429, code: 'insufficient_quota' },
      502,
      'upstream-error',
    ],
    ['429', { kind: 'status', status: 429, retryAfter: '7' }, 429, 'upstream-error'],
    ['500', { kind: 'status', status: 500 }, 500, 'upstream-error'],
    ['529', { kind: 'status', status: 529 }, 529, 'upstream-error'],
    ['302', { kind: 'status', status: 302 }, 502, 'upstream-error'],
    ['HTML', { kind: 'html' }, 502, 'upstream-error'],
    ['a stall before its head', { kind: 'stall', at: 'before-headers' }, 504, 'timeout'],
    ['a stall after its head', { kind: 'stall', at: 'after-headers' }, 504, 'timeout'],
    ['a cut', { kind: 'cut', afterChunks: 0, how: 'fin' }, 502, 'incomplete'],
    ['a reset', { kind: 'cut', afterChunks: 0, how: 'reset' }, 502, 'incomplete'],
  ])(
    'the caller gets an error and is charged nothing after %s',
    async (_name, fault, status, reason) => {
      for (const stream of [false, true]) {
        rig.provider.script.push(fault)
        const answer = await chat(rig, { stream })
        expect(answer.status).toBe(status)
        expect(errorOf(answer).message).not.toMatch(/sk-provider|127\.0\.0\.1|http:/)
        const end = (await rig.callEvents()).at(-1)
        expect(end).toMatchObject({ type: 'CallReleased', data: { reason, statusCode: status } })
        expect(await heldAfter()).toBe(0n)
      }
    },
  )

  it.each<Fault>([
    { kind: 'status', status: 401 },
    { kind: 'status', status: 429, code: 'insufficient_quota', retryAfter: '7' },
  ])(
    'the caller gets upstream_account if the provider refuses the channel’s key (%o)',
    async (fault) => {
      rig.provider.script.push(fault)
      const answer = await chat(rig)
      expect(answer.status).toBe(502)
      expect(errorOf(answer)).toMatchObject({ code: 'upstream_account', type: 'upstream_error' })
      expect(answer.headers.get('retry-after')).toBeNull()
      expect((await onlyEnd(rig)).data).toMatchObject({
        errorCode: 'upstream_account',
        statusCode: 502,
        attempts: [{ status: fault.kind === 'status' ? fault.status : null }],
      })
    },
  )

  it.each([0, 3])(
    'a stream that refuses the channel’s key after %i chunks hides that error, too',
    async (afterChunks) => {
      rig.provider.script.push({ kind: 'error-in-stream', afterChunks, code: 'insufficient_quota' })
      const { status, text } = await chat(rig, { stream: true })
      expect(status).toBe(afterChunks === 0 ? 502 : 200)
      expect(text).toContain('"code":"upstream_account"')
      expect(text).not.toContain('insufficient_quota')
    },
  )

  it('the caller gets the Retry-After of the provider', async () => {
    rig.provider.script.push({ kind: 'status', status: 429, retryAfter: '7' })
    expect((await chat(rig)).headers.get('retry-after')).toBe('7')
  })

  it('a call to an address without a provider gets a 502 and is released', async () => {
    await rig.provider.close()
    const answer = await chat(rig)
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'upstream_unreachable'])
    expect((await onlyEnd(rig)).data).toMatchObject({ errorCode: 'upstream_unreachable' })
  })
})

describe('a provider that is slow to begin its answer', () => {
  const site = async (deadlines: Partial<Deadlines>, firstByteMs = 0) => {
    await rig.close()
    rig = await relayRig({ deadlines }, {}, undefined, { firstByteMs })
    await rig.setOption('RetryTimes', '3')
    for (const channelId of [2, 3]) await rig.addChannel(channelId)
  }

  it('a plain answer has a longer limit than the first byte of a stream', async () => {
    await site({ firstEventMs: 200, plainAnswerStartMs: 20_000 }, 1_000)
    expect((await chat(rig)).status).toBe(200)
    expect((await chat(rig, { stream: true })).status).toBe(504)
  })

  it.each(['before-headers', 'after-headers'] as const)(
    'a plain call that times out (%s) is not retried, because both would charge for it',
    async (at) => {
      await site({ plainAnswerStartMs: 1_500 })
      rig.provider.script.push({ kind: 'stall', at })
      expect((await chat(rig)).status).toBe(504)
      expect((await onlyEnd(rig)).data.attempts).toHaveLength(1)
      expect(rig.provider.journal.count).toBe(1)
    },
  )

  it('a stream that times out before its first byte is retried', async () => {
    await site({ firstEventMs: 1_500 })
    rig.provider.script.push({ kind: 'stall', at: 'after-headers' })
    expect((await chat(rig, { stream: true })).text).toContain('[DONE]')
    expect((await onlyEnd(rig)).data.attempts).toHaveLength(2)
  })

  it('a timed-out connection is retried for plain calls and streams', () => {
    const late = { kind: 'failed', status: null, error: 'timeout', retryAfterMs: 0 } as const
    const end = { ...late, body: Buffer.alloc(0) }
    expect([true, false].map((isStream) => isRetryable(end, isStream))).toEqual([true, true])
  })

  it('the limit for a plain answer is within those for the call and a disconnect', () => {
    const { firstEventMs, plainAnswerStartMs, readOnPlainMs, totalMs } = DEFAULT_DEADLINES
    expect(plainAnswerStartMs).toBeGreaterThan(firstEventMs)
    expect(readOnPlainMs).toBeGreaterThanOrEqual(plainAnswerStartMs)
    expect(totalMs).toBeGreaterThan(plainAnswerStartMs + readOnPlainMs)
  })
})

describe('a stream that breaks', () => {
  const eventsOf = (text: string) => text.split('\n\n').filter((event) => event !== '')

  it.each<[string, Fault, string, number]>([
    ['stalls', { kind: 'stall', at: 'mid-stream' }, 'timeout', 3],
    ['is cut', { kind: 'cut', afterChunks: 3, how: 'fin' }, 'incomplete', 3],
    ['is reset', { kind: 'cut', afterChunks: 3, how: 'reset' }, 'incomplete', 3],
    ['sends an error', { kind: 'error-in-stream' }, 'upstream-error', 3],
  ])(
    'a stream that %s gets no forged [DONE], and the delivered part is charged',
    async (name, fault, end, chunks) => {
      rig.provider.script.push(fault)
      const { status, text } = await chat(rig, { stream: true })
      expect(status).toBe(200)
      const events = eventsOf(text)
      expect(text).not.toContain('[DONE]')
      expect(events).toHaveLength(chunks + 1)
      expect(JSON.parse(events.at(-1)?.slice(6) ?? '')).toHaveProperty('error')
      const settled = await onlyEnd(rig)
      expect(settled).toMatchObject({ type: 'CallSettled', data: { end, usageSource: 'partial' } })
      if (settled.type !== 'CallSettled') throw new Error('not settled')
      expect(settled.data.usage.output).toBeGreaterThanOrEqual(chunks)
      // An answer that was cut short has used its input; an error costs the caller none.
      if (name === 'sends an error') expect(settled.data.usage.inputUncached).toBe(0)
      else expect(settled.data.usage.inputUncached).toBeGreaterThan(0)
    },
  )

  it('a stream with usage but no [DONE] is incomplete, billed by the larger count', async () => {
    rig.provider.script.push({ kind: 'no-done' })
    const { text } = await chat(rig, { stream: true, max_tokens: 3 })
    expect(text).not.toContain('[DONE]')
    expect(await onlyEnd(rig)).toMatchObject({
      data: { end: 'incomplete', usage: { output: 3 } },
    })
  })

  it('the relay gives up an endless line within a bound', async () => {
    rig.provider.script.push({ kind: 'long-line', bytes: 8 << 20 })
    const answer = await chat(rig, { stream: true })
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'upstream_format'])
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })
})

describe('a provider with unusual answers', () => {
  it.each<Fault>([{ kind: 'no-usage' }, { kind: 'usage', usage: { prompt_tokens: -5 } }])(
    'plain and streamed calls without credible usage cost the same (%o)',
    async (fault) => {
      for (const stream of [false, true]) {
        rig.provider.script.push(fault)
        expect((await chat(rig, { stream })).status).toBe(200)
      }
      const bills = (await rig.callEvents()).flatMap(({ type, data }) =>
        type === 'CallSettled' ? [{ usage: data.usage, charge: data.charge }] : [],
      )
      expect(bills).toHaveLength(2)
      expect(bills[0]?.usage.output).toBeGreaterThan(0)
      expect(bills[0]).toEqual(bills[1])
    },
  )

  it('the relay forwards garbage in front of good events unchanged', async () => {
    rig.provider.script.push({ kind: 'garbage' })
    const { text } = await chat(rig, { stream: true, max_tokens: 2 })
    expect(text).toMatch(/^: hello\r\n\r\ndata:\{broken\n\nnonsense\n\ndata: \{/)
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    expect(await onlyEnd(rig)).toMatchObject({ data: { end: 'done', usage: { output: 2 } } })
  })

  it('the relay forwards a JSON answer to a stream request and bills it as such', async () => {
    rig.provider.script.push({ kind: 'json-for-stream' })
    const { text, headers } = await chat(rig, { stream: true, max_tokens: 2 })
    expect(headers.get('content-type')).toContain('application/json')
    expect(JSON.parse(text)).toHaveProperty('choices')
    expect(await onlyEnd(rig)).toMatchObject({ data: { end: 'done', usage: { output: 2 } } })
  })

  it('a slow stream can last longer than the idle limit', async () => {
    rig.provider.script.push({ kind: 'slow', msPerChunk: 150 })
    const { text } = await chat(rig, { stream: true, max_tokens: 10 })
    expect(text).toContain('[DONE]')
  })
})

describe('the usage that a provider reports', () => {
  it.each([false, true])(
    'the relay counts the tokens if the usage never comes (stream: %s)',
    async (stream) => {
      rig.provider.script.push({ kind: 'no-usage' })
      expect((await chat(rig, { stream, max_tokens: 8 })).status).toBe(200)
      const end = await onlyEnd(rig)
      expect(end).toMatchObject({ data: { end: 'done', usageSource: 'estimated', anomaly: null } })
      if (end.type !== 'CallSettled') throw new Error('not settled')
      expect(end.data.usage.output).toBeGreaterThanOrEqual(8)
      expect(end.data.usage.inputUncached).toBeGreaterThan(0)
    },
  )

  it.each<[string, unknown, string]>([
    ['negative', { prompt_tokens: -5, completion_tokens: -9 }, 'negative'],
    ['huge', { prompt_tokens: 1e30, completion_tokens: 1 }, 'absurd'],
    ['text', { prompt_tokens: '12', completion_tokens: 'NaN' }, 'not-a-number'],
    ['a fraction', { prompt_tokens: 1.5, completion_tokens: 2 }, 'fraction'],
    ['half', { prompt_tokens: 12 }, 'missing'],
  ])('the relay rejects usage that is %s', async (_name, usage, anomaly) => {
    for (const stream of [false, true]) {
      rig.provider.script.push({ kind: 'usage', usage })
      await chat(rig, { stream, max_tokens: 8 })
      const end = (await rig.callEvents()).at(-1)
      expect(end).toMatchObject({ data: { anomaly, usageSource: 'estimated' } })
    }
  })

  it.each([
    ['no input and no output', { prompt_tokens: 0, completion_tokens: 0 }, 0],
    ['no output', { prompt_tokens: 4, completion_tokens: 0 }, 5],
  ])(
    'the relay charges usage of zero as reported and flags it: %s',
    async (_name, usage, charge) => {
      rig.provider.script.push({ kind: 'usage', usage })
      await chat(rig, { stream: true })
      const data = { usageSource: 'upstream', charge, anomaly: 'zero' }
      expect(await onlyEnd(rig)).toMatchObject({ data })
    },
  )
})

describe('an event store that is slow', () => {
  it('the relay refuses a call in time and releases a hold that is stored later', async () => {
    await rig.close()
    rig = await relayRig({ deadlines: { admitMs: 200 } })
    const { append } = rig.core.store
    const slow = Promise.withResolvers<void>()
    Object.assign(rig.core.store, {
      append: (...parameters: Parameters<typeof append>) =>
        slow.promise.then(() => append(...parameters)),
    })
    const refused = await chat(rig)
    expect([refused.status, errorOf(refused).code]).toEqual([503, 'store_unavailable'])
    expect(refused.headers.get('retry-after')).toBe('5')
    slow.resolve()
    await expect
      .poll(() => rig.callEvents())
      .toMatchObject([
        { type: 'CallAdmitted' },
        { type: 'CallReleased', data: { errorCode: 'store_unavailable', attempts: [] } },
      ])
    expect([await heldAfter(), rig.provider.journal.count]).toEqual([0n, 0])
    expect((await chat(rig)).status).toBe(200)
  })
})
