import type { ServerResponse } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { sendChat } from '#test/support/send-chat.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, KEY, onlyEnd, relayRigBefore } from './support/relay-rig.ts'

let answer: (response: ServerResponse) => Promise<void>
const provider = startedForEach(() =>
  serve((request, response) => {
    request.resume()
    response.on('error', () => {})
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      void answer(response)
    })
  }),
)
const rig = startedForEach(() => relayRigBefore(provider))

const SAID = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
const DONE = 'data: [DONE]\n\n'
const usageChunk = (output: number, padding = ''): string =>
  `data: {"choices":[],"padding":"${padding}","usage":{"prompt_tokens":2,"completion_tokens":${output}}}\n\n`

const LARGE = Buffer.from(usageChunk(3, 'p'.repeat(900_000)))
const MIB = 2 ** 20

const write = async (response: ServerResponse, bytes: Buffer | string): Promise<void> => {
  if (response.write(bytes)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.on('drain', go).on('close', go)
  })
}

/** Reads an answer to its end without keeping it; its length and its last bytes. */
async function readThrough(wantsUsage: boolean): Promise<{ bytes: number; tail: string }> {
  const response = await sendChat(rig.url, `sk-${KEY}`, {
    stream: true,
    stream_options: { include_usage: wantsUsage },
  })
  let bytes = 0
  let tail = ''
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    tail = (tail + Buffer.from(chunk).subarray(-200).toString('latin1')).slice(-200)
  }
  return { bytes, tail }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const BOUND_MIB = 100

/** The most memory held in buffers while something runs, in MiB above where it began. */
async function peakMiB(run: () => Promise<void>): Promise<number> {
  collectGarbage()
  const before = process.memoryUsage().external
  const grownMiB = () => (process.memoryUsage().external - before) / MIB
  let most = 0
  const timer = setInterval(() => {
    // What the collector has not come to yet is no leak: it runs before more is said than allowed.
    if (grownMiB() > BOUND_MIB / 2) collectGarbage()
    most = Math.max(most, grownMiB())
  }, 10)
  await run()
  clearInterval(timer)
  return most
}

describe('hundreds of large usage chunks', () => {
  it.each([true, false])(
    'the chunks do not accumulate in memory (usage requested: %s)',
    async (wantsUsage) => {
      const count = 300
      answer = async (response) => {
        await write(response, SAID)
        for (let sent = 0; sent < count && !response.destroyed; sent += 1)
          await write(response, LARGE)
        response.end(usageChunk(7) + DONE)
      }
      let got = { bytes: 0, tail: '' }
      const peak = await peakMiB(async () => {
        got = await readThrough(wantsUsage)
      })
      expect(peak).toBeLessThan(BOUND_MIB)
      expect(got.tail.endsWith(DONE)).toBe(true)
      expect(got.tail.includes('"completion_tokens":7')).toBe(wantsUsage)
      expect(await onlyEnd(rig)).toMatchObject({ data: { end: 'done', usage: { output: 7 } } })
    },
  )

  it('the chunks do not stay in memory after the words that came with them', async () => {
    const count = 200
    let seen = 0
    answer = async (response) => {
      const both = Buffer.concat([LARGE, Buffer.from(SAID)])
      for (; seen < count && !response.destroyed; seen += 1) await write(response, both)
      response.end(DONE)
    }
    const peak = await peakMiB(async () => {
      await readThrough(false)
    })
    expect(peak).toBeLessThan(BOUND_MIB)
    expect(seen).toBe(count)
  })
})

describe('a usage chunk that another usage chunk follows', () => {
  it('a caller who requests usage gets every chunk in order', async () => {
    const text = SAID + usageChunk(3) + usageChunk(4) + SAID + usageChunk(5) + DONE
    answer = async (response) => {
      response.end(text)
    }
    const asked = { stream: true, stream_options: { include_usage: true } }
    expect((await chat(rig, asked)).text).toBe(text)
  })

  it('a stream of usage chunks alone has not begun and can be retried', async () => {
    let tries = 0
    answer = async (response) => {
      tries += 1
      if (tries > 1) response.end(SAID + usageChunk(5) + DONE)
      else response.end(`${usageChunk(3)}${usageChunk(4)}data: {"error":{"message":"no"}}\n\n`)
    }
    await rig.addChannel(3, { baseUrl: provider.url })
    await rig.setOption('RetryTimes', '1')
    const asked = { stream: true, stream_options: { include_usage: true } }
    expect((await chat(rig, asked)).text).toBe(SAID + usageChunk(5) + DONE)
  })
})
