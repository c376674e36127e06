import type { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, KEY, onlyEnd, relayRig } from './support/relay-rig.ts'

type Send = (response: ServerResponse) => void | Promise<void>

let send: Send
let bodies: Record<string, unknown>[]
let wasCut: boolean
const provider = startedForEach(() =>
  serve((request, response) => {
    const parts: Buffer[] = []
    response.on('close', () => {
      wasCut = !response.writableFinished
    })
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      bodies.push(JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>)
      void send(response)
    })
  }),
)
const rig = startedForEach(() =>
  relayRig({ deadlines: { readOnStreamMs: 3_000, readOnPlainMs: 3_000 } }),
)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

beforeEach(async () => {
  bodies = []
  wasCut = false
  await rig.addChannel(2, { baseUrl: provider.url, models: ['scripted', 'o3'] })
  await rig.setOption('ModelRatio', { scripted: 1, o3: 1 })
  await rig.setOption('CompletionRatio', { scripted: 3, o3: 3 })
})
const event = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`
const word = (content: string, others: object = {}): string =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason: null }], ...others })
const begin = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
}
const plain = (usage: object, others: object = {}): Send => {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const choices = [{ index: 0, message: { content: 'short' }, finish_reason: 'stop' }]
    response.end(JSON.stringify({ ...others, choices, usage }))
  }
}

/** Reads a stream until `enough` says so, and closes the connection. */
async function readUntil(enough: (text: string) => boolean, body: object = {}): Promise<void> {
  const leaving = new AbortController()
  const response = await fetch(`${rig.url}/v1/chat/completions`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...REQUEST, stream: true, ...body }),
  })
  let text = ''
  for await (const part of response.body ?? []) {
    text += Buffer.from(part).toString()
    if (enough(text)) break
  }
  leaving.abort()
}

const REQUEST = { model: 'scripted', messages: [{ role: 'user', content: 'hello' }] }
const settled = async () => {
  await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
  const end = await onlyEnd(rig)
  if (end.type !== 'CallSettled') throw new Error(end.type)
  return end.data
}

describe('a caller who disconnects once the answer is complete', () => {
  it('the caller is charged for the reasoning that only the usage contains', async () => {
    send = async (response) => {
      begin(response)
      response.write(
        event({ choices: [{ index: 0, delta: { content: 'Yes' }, finish_reason: 'stop' }] }),
      )
      await pause(400)
      const usage = {
        prompt_tokens: 4_000,
        completion_tokens: 50_000,
        completion_tokens_details: { reasoning_tokens: 49_990 },
      }
      response.end(`${event({ choices: [], usage })}data: [DONE]\n\n`)
    }
    await readUntil((text) => text.includes('stop'))
    expect(await settled()).toMatchObject({
      end: 'client-gone',
      usageSource: 'upstream',
      usage: { inputUncached: 4_000, output: 50_000, reasoning: 49_990 },
      charge: 4_000 + 50_000 * 3,
    })
    expect(wasCut).toBe(false)
  })

  it('the relay waits a limited time for usage that never comes', async () => {
    send = (response) => {
      begin(response)
      response.write(
        event({ choices: [{ index: 0, delta: { content: 'Yes' }, finish_reason: 'stop' }] }),
      )
    }
    await readUntil((text) => text.includes('stop'))
    expect(await settled()).toMatchObject({ end: 'client-gone', usageSource: 'partial' })
    await expect.poll(() => wasCut).toBe(true)
  })
})

describe('a caller who disconnects from a stream that has hidden its reasoning', () => {
  const usage = {
    prompt_tokens: 4_000,
    completion_tokens: 5_020,
    completion_tokens_details: { reasoning_tokens: 5_000 },
  }
  const answer =
    (left: Promise<void>): Send =>
    async (response) => {
      begin(response)
      response.write(word('Almost all'))
      await left
      response.write(word(' of it.'))
      response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
      response.end(`${event({ choices: [], usage })}data: [DONE]\n\n`)
    }

  it('is charged for it by the usage, although the answer was not finished', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    send = answer(left)
    await readUntil((text) => text.includes('Almost'), { model: 'o3' })
    await pause(400)
    leave()
    expect(await settled()).toMatchObject({
      end: 'client-gone',
      usageSource: 'upstream',
      usage: { inputUncached: 4_000, output: 5_020, reasoning: 5_000 },
      charge: 4_000 + 5_020 * 3,
    })
    expect(wasCut).toBe(false)
  })

  it('is charged for it by the usage, although the answer had not begun', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    send = async (response) => {
      await left
      return answer(left)(response)
    }
    const { handle } = rig.relay
    const noticed = new Promise<void>((resolve) => {
      const watched: typeof handle = (request, response) => {
        response.on('close', () => resolve())
        handle(request, response)
      }
      Object.assign(rig.relay, { handle: watched })
    })
    const leaving = new AbortController()
    const call = fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...REQUEST, stream: true, model: 'o3' }),
    })
    await expect.poll(() => bodies.length).toBe(1)
    leaving.abort()
    await expect(call).rejects.toThrow()
    await noticed
    leave()
    expect(await settled()).toMatchObject({
      ...{ end: 'client-gone', usageSource: 'upstream', charge: 4_000 + 5_020 * 3 },
    })
    expect(wasCut).toBe(false)
  })

  it('is charged for what was generated if the usage does not come in time', async () => {
    send = (response) => {
      begin(response)
      response.write(word('Almost all'))
    }
    await readUntil((text) => text.includes('Almost'), { model: 'o3' })
    expect(await settled()).toMatchObject({
      ...{ end: 'client-gone', usageSource: 'partial', usage: { output: 2 } },
    })
    await expect.poll(() => wasCut).toBe(true)
  })

  it.each([
    ['a model that does not reason', { model: 'scripted' }],
    ['an effort of none', { model: 'o3', reasoning_effort: 'none' }],
  ])('pays only for what was delivered by %s', async (_, body) => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    send = answer(left)
    await readUntil((text) => text.includes('Almost'), body)
    expect(await settled()).toMatchObject({ end: 'client-gone', usage: { output: 2 } })
    await expect.poll(() => wasCut).toBe(true)
    leave()
  })
})

describe('a caller who disconnects from a plain call', () => {
  it('the relay reads the answer to its end and charges the caller by its usage', async () => {
    send = async (response) => {
      await pause(500)
      await plain({ prompt_tokens: 700, completion_tokens: 20_000 })(response)
    }
    const leaving = new AbortController()
    const call = fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(REQUEST),
    })
    await expect.poll(() => bodies.length).toBe(1)
    leaving.abort()
    await expect(call).rejects.toThrow()
    expect(await settled()).toMatchObject({
      end: 'client-gone',
      usageSource: 'upstream',
      charge: 700 + 20_000 * 3,
    })
  })
})

describe('a stream that is cut short', () => {
  it.each([
    ['zeros with every event', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, true],
    ['the input with the first event', { prompt_tokens: 100, completion_tokens: 0 }, false],
  ])(
    'the stream is charged for what was delivered, whatever early usage says: %s',
    async (...row) => {
      const [, usage, isEach] = row
      send = async (response) => {
        begin(response)
        for (let count = 0; count < 400 && !response.destroyed; count += 1) {
          response.write(word('lorem ipsum dolor ', isEach || count === 0 ? { usage } : {}))
          await pause(2)
        }
      }
      await readUntil((text) => text.length > 15_000)
      const { usage: billed, charge } = await settled()
      expect(billed.output).toBeGreaterThan(250)
      expect(billed.inputUncached).toBeGreaterThan(0)
      expect(charge).toBeGreaterThan(750)
    },
  )

  it.each([
    ['an older function call', (text: string) => ({ function_call: { arguments: text } })],
    ['a list of parts', (text: string) => ({ content: [{ type: 'text', text }] })],
    ['details of its reasoning', (text: string) => ({ reasoning_details: [{ text }] })],
    ['the transcript of its sound', (text: string) => ({ audio: { transcript: text } })],
  ])('the stream is charged for words in %s', async (_name, deltaOf) => {
    send = async (response) => {
      begin(response)
      for (let count = 0; count < 400 && !response.destroyed; count += 1) {
        response.write(event({ choices: [{ index: 0, delta: deltaOf('lorem ipsum dolor ') }] }))
        await pause(2)
      }
    }
    await readUntil((text) => text.length > 15_000)
    expect((await settled()).usage.output).toBeGreaterThan(250)
  })

  it('a stream that its provider cuts is charged the same', async () => {
    send = async (response) => {
      begin(response)
      const usage = { prompt_tokens: 100, completion_tokens: 0 }
      for (let count = 0; count < 200; count += 1) {
        response.write(word('lorem ipsum dolor ', count === 0 ? { usage } : {}))
      }
      await pause(200)
      response.destroy()
    }
    await chat(rig, { ...REQUEST, stream: true })
    const { usage: billed, end } = await settled()
    expect(end).toBe('incomplete')
    expect(billed.inputUncached).toBe(100)
    expect(billed.output).toBeGreaterThan(500)
  })
})

describe('a whole stream whose usage came before its words', () => {
  it.each([
    ['is charged for these as well', 'lorem ipsum dolor ', 'estimated', 500, 2_000],
    ['is charged by it where only an empty event follows', '', 'upstream', 7, 7],
  ])('the stream %s', async (_name, words, usageSource, least, most) => {
    send = (response) => {
      begin(response)
      const usage = { prompt_tokens: 100, completion_tokens: 7 }
      response.write(word('lorem ipsum dolor ', { usage }))
      for (let count = 0; count < 200; count += 1) response.write(word(words))
      response.end('data: [DONE]\n\n')
    }
    await chat(rig, { ...REQUEST, stream: true })
    const { usage: billed, ...rest } = await settled()
    expect(rest).toMatchObject({ end: 'done', usageSource })
    expect(billed.inputUncached).toBe(100)
    expect(billed.output).toBeGreaterThanOrEqual(least)
    expect(billed.output).toBeLessThanOrEqual(most)
  })
})

describe('usage with impossible counts', () => {
  it.each([
    ['an output beyond all bounds', { completion_tokens: 10_000_001 }, 'absurd', 100_000],
    ['a cache below zero', { prompt_tokens_details: { cached_tokens: -1 } }, 'negative', 20_000],
    ['half a token', { prompt_tokens: 700.5 }, 'fraction', 20_000],
    ['no input', { prompt_tokens: undefined }, 'missing', 20_000],
  ])('impossible usage makes no call cheaper: %s', async (_name, odd, anomaly, output) => {
    send = plain({ prompt_tokens: 700, completion_tokens: 20_000, ...odd })
    await chat(rig, REQUEST)
    const { usage, anomaly: flagged } = await settled()
    expect(flagged).toBe(anomaly)
    expect(usage.output).toBeGreaterThanOrEqual(output)
    expect(usage.inputUncached).toBeGreaterThanOrEqual('prompt_tokens' in odd ? 2 : 700)
  })

  it('the call is charged by the relay’s count of the answer if that is larger', async () => {
    send = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const choices = [{ message: { content: 'lorem ipsum dolor '.repeat(500) } }]
      const usage = { prompt_tokens: 700, completion_tokens: -5 }
      response.end(JSON.stringify({ choices, usage }))
    }
    await chat(rig, REQUEST)
    const { usage, usageSource } = await settled()
    expect([usage.inputUncached, usageSource]).toEqual([700, 'estimated'])
    expect(usage.output).toBeGreaterThan(1_000)
  })
})

describe('usage beyond what is plausible', () => {
  const content = (type: string, count: number) => [
    {
      role: 'user',
      content: Array.from({ length: count }, () => ({
        type,
        [type]: { url: 'https://a.example/x' },
      })),
    },
  ]

  it.each([
    ['four pictures by address', content('image_url', 4), 147_500, 147_500, null],
    ['a video by address', content('video_url', 1), 1_000_000, 1_000_000, null],
    ['a short text', REQUEST.messages, 500_000, 100_000, 'absurd'],
  ])('implausible input usage never makes a call cheaper: %s', async (...row) => {
    const [, messages, prompt_tokens, least, anomaly] = row
    send = plain({ prompt_tokens, completion_tokens: 1 })
    await chat(rig, { ...REQUEST, messages })
    const { charge, anomaly: flagged } = await settled()
    expect(charge).toBeGreaterThanOrEqual(least)
    expect(flagged).toBe(anomaly)
  })

  it.each([
    ['a few tokens', 'hello', 1_000, 1_001, 500],
    ['many tokens', 'hello', 100, 2_000, 50],
    // The request has more than 2 000 words, so the prompt can't include the cache.
    ['the rest of the request', 'hello '.repeat(2_100), 100, 2_000, 100 + 2_000 / 2],
    ['more than the request has', 'hello '.repeat(2_100), 100, 9_000_000, null],
  ])('a cache larger than the prompt by %s is charged and flagged', async (...row) => {
    const [, content, prompt_tokens, cached_tokens, charge] = row
    await rig.setOption('CacheRatio', { scripted: 0.5 })
    const prompt_tokens_details = { cached_tokens }
    send = plain({ prompt_tokens, completion_tokens: 0, prompt_tokens_details })
    await chat(rig, { ...REQUEST, messages: [{ role: 'user', content }] })
    const bill = await settled()
    expect(bill.anomaly).toBe('parts-exceed-whole')
    if (charge !== null) expect(bill.charge).toBe(charge)
    else expect(bill.charge).toBeLessThan(5_000)
  })

  const REASONED = { completion_tokens_details: { reasoning_tokens: 49_990 } }
  const ceiling = (tokens: number) => tokens + Math.ceil(tokens / 8) + 1_024
  it.each<readonly [string, object, object, number, number, string | null]>([
    ['beyond any answer', {}, {}, 1e9, ceiling(100), 'absurd'],
    ['beyond this answer', {}, {}, 100_200, ceiling(100), 'absurd'],
    ['a little above its limit', {}, {}, ceiling(100), ceiling(100), null],
    ['of reasoning outside the limit', REASONED, {}, 50_000, 50_000, 'implausible'],
    [
      'of reasoning that was requested',
      {},
      { reasoning_effort: 'low' },
      50_000,
      50_000,
      'implausible',
    ],
    ['of rejected predictions', {}, { prediction: { content: 'x' } }, 5_000, 5_000, 'implausible'],
    ['of a model that reasons', {}, { model: 'o3' }, 50_000, 50_000, 'implausible'],
    ['without any limit', {}, { max_tokens: undefined }, 50_000, 50_000, null],
  ])('an output %s is charged and flagged as far as it is plausible', async (...row) => {
    const [, told, others, completion_tokens, output, anomaly] = row
    send = plain({ prompt_tokens: 10, completion_tokens, ...told })
    await chat(rig, { ...REQUEST, max_tokens: 100, ...others })
    const { usage, anomaly: flagged } = await settled()
    expect([usage.output, flagged]).toEqual([output, anomaly])
  })

  it('an answer longer than its limit is charged as far as its text explains', async () => {
    const choices = [{ message: { content: 'hello '.repeat(2_000) }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 10, completion_tokens: 6_000 }
    send = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ choices, usage }))
    }
    await chat(rig, { ...REQUEST, max_tokens: 100 })
    const { usage: billed, usageSource, anomaly } = await settled()
    expect([billed.output, usageSource, anomaly]).toEqual([6_000, 'upstream', 'implausible'])
  })

  it.each([
    ['a hidden system prompt', 20_000, null],
    ['far more than the request', 50_000, 'implausible'],
  ])('an input with %s is charged as reported', async (_name, prompt_tokens, anomaly) => {
    send = plain({ prompt_tokens, completion_tokens: 1 })
    await chat(rig, REQUEST)
    expect(await settled()).toMatchObject({ charge: prompt_tokens + 3, anomaly })
  })
})

it.each([
  ['1h', 1_000, 800, 0, 800],
  ['5m', 1_000, 800, 800, 0],
])(
  'a prompt stored for %s is billed at the price of that cache',
  async (ttl, prompt_tokens, written, short, long) => {
    const setting = '{"allowed_members":["cache_control.ttl"]}'
    await rig.addChannel(2, { baseUrl: provider.url, models: ['scripted', 'o3'], setting })
    const cache_control = { type: 'ephemeral', ttl }
    const content = [{ type: 'text', text: 'hi', cache_control }]
    const prompt_tokens_details = { cache_write_tokens: written }
    send = plain({ prompt_tokens, completion_tokens: 1, prompt_tokens_details })
    await chat(rig, { ...REQUEST, messages: [{ role: 'user', content }] })
    const { usage } = await settled()
    expect([usage.inputUncached, usage.cacheWrite5m, usage.cacheWrite1h]).toEqual([
      200,
      short,
      long,
    ])
  },
)

describe('an answer with a model or cost other than requested', () => {
  const send1000 = (model: string, told: object, isStream: boolean): Send => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, ...told }
    if (!isStream) return plain(usage, { model })
    return (response) => {
      begin(response)
      response.write(word('short', { model }))
      response.write(event({ choices: [], model, usage }))
      response.end('data: [DONE]\n\n')
    }
  }

  describe.each([false, true])('an answer (streamed: %s)', (stream) => {
    it.each([
      ['the model', 'scripted', {}, null],
      ['a version of it', 'scripted-2026-01-01', {}, null],
      ['another model', 'openai/o1-pro', {}, 'other-model'],
      ['its cost', 'scripted', { cost: 0.008 }, null],
      ['a higher cost', 'scripted', { cost: 0.5 }, 'higher-cost'],
      ['a higher cost, as text', 'scripted', { cost: '0.5' }, 'higher-cost'],
      ['its parts and their sum', 'scripted', { cost: { total_cost: 0.5 } }, 'higher-cost'],
      ['an estimate of it', 'scripted', { estimated_cost: 0.5 }, 'higher-cost'],
    ])(
      'an answer is flagged if it differs, and billed as requested: %s',
      async (_name, model, told, anomaly) => {
        send = send1000(model, told, stream)
        await chat(rig, { ...REQUEST, stream })
        const { charge, anomaly: flagged } = await settled()
        expect([flagged, charge]).toEqual([anomaly, 4_000])
      },
    )
  })

  it('an answer is flagged if its stream is cut before its usage', async () => {
    send = async (response) => {
      begin(response)
      for (let count = 0; count < 400 && !response.destroyed; count += 1) {
        response.write(word('lorem ', { model: count === 0 ? '' : 'openai/o1-pro' }))
        await pause(2)
      }
    }
    await readUntil((text) => text.length > 1_000)
    expect(await settled()).toMatchObject({ end: 'client-gone', anomaly: 'other-model' })
  })
})
