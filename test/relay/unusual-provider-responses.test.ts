import type { RequestListener } from 'node:http'
import { describe, expect, it } from 'vitest'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, onlyEnd, relayRigBefore } from './support/relay-rig.ts'

let answer: RequestListener
const provider = startedForEach(() =>
  serve((request, response) => {
    request.resume()
    request.on('end', () => answer(request, response))
  }),
)
const rig = startedForEach(() => relayRigBefore(provider))

const usage = { prompt_tokens: 2, completion_tokens: 3 }

describe('the bytes that a provider sends', () => {
  it.each([
    ['a short answer', 1],
    ['a long answer', 20_000],
  ])('the bytes of %s in any script arrive unchanged', async (_name, times) => {
    const content = 'héllo 你好 🎉'.repeat(times)
    const text = JSON.stringify({ choices: [{ message: { content } }], usage })
    answer = (_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'set-cookie': 'a=b',
        'x-b': 'c',
      })
      response.end(text)
    }
    const { status, text: got, headers } = await chat(rig)
    expect([status, got]).toEqual([200, text])
    expect([headers.get('set-cookie'), headers.get('x-b')]).toEqual([null, null])
    expect(await onlyEnd(rig)).toMatchObject({ data: { usage: { output: 3 } } })
  })

  it('chunks cut anywhere, even inside a character, make the same stream', async () => {
    const events = [
      'data: {"choices":[{"delta":{"content":"你好 🎉"}}]}\n\n',
      'data: {"choices":[{"delta":{}}],"usage":null}\r\n\r\n',
      `data: {"choices":[],"usage":${JSON.stringify(usage)}}\n\n`,
      'data: [DONE]\n\n',
    ]
    const bytes = Buffer.from(events.join(''))
    for (const size of [1, 7, 40, 100]) {
      answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (let at = 0; at < bytes.length; at += size)
          response.write(bytes.subarray(at, at + size))
        response.end()
      }
      const hidden = await chat(rig, { stream: true })
      expect(hidden.text).toBe([events[0], events[1], events[3]].join(''))
      const shown = await chat(rig, { stream: true, stream_options: { include_usage: true } })
      expect(shown.text).toBe(events.join(''))
    }
  })

  it('a chunk without choices and usage reaches only callers who requested usage', async () => {
    const said = 'data: {"choices":[{"delta":{"content":"x"}}],"usage":null}\n\n'
    const empty = 'data: {"id":"a","choices" : [],"usage":null}\n\n'
    const filter = 'data: {"choices":[],"prompt_filter_results":[],"usage":null}\n\n'
    const plain = 'data: {"choices":[]}\n\n'
    const end = 'data: [DONE]\n\n'
    const all = [filter, plain, said, empty, end].join('')
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(all)
    }
    expect((await chat(rig, { stream: true })).text).toBe([filter, plain, said, end].join(''))
    const asked = await chat(rig, { stream: true, stream_options: { include_usage: true } })
    expect(asked.text).toBe(all)
  })

  it('the relay drops data after [DONE] without waiting for the connection to end', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"delta":{"content":"x"}}]}\n\n')
      response.write('data: [DONE]\n\ndata: [DONE]\n\ndata: {"more":1}\n\n')
    }
    const { text } = await chat(rig, { stream: true })
    expect(text).toMatch(/"x"\}\}\]\}\n\ndata: \[DONE\]\n\n$/)
    expect(await onlyEnd(rig)).toMatchObject({ data: { end: 'done', usageSource: 'estimated' } })
  })
})

describe('a provider that sends no answer with its 200', () => {
  it.each([
    ['nothing', ''],
    ['half an object', '{"choices":['],
    ['a text', 'busy'],
    ['an error', '{"error":{"message":"no, see https://inner.example/ with sk-abcdef123456"}}'],
  ])('nothing is charged and no address or key is shown after %s', async (_name, text) => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(text)
    }
    const got = await chat(rig)
    expect(got.status).toBe(502)
    expect(got.text).not.toMatch(/inner\.example|sk-abc/)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })
})

describe('a provider that repeats the request in its answer', () => {
  it.each(['status', 'event'])(
    'the relay never shows the provider’s key or host: %s',
    async (how) => {
      let key = ''
      answer = (request, response) => {
        key = (request.headers.authorization ?? '').replace('Bearer ', '')
        const message = `Wrong: ${key}, half of it ${key.split('.')[1]}, at localhost`
        const error = JSON.stringify({
          error: { message, param: key, code: 'teapot', type: 'odd' },
        })
        if (how === 'status') response.writeHead(418).end(error)
        else {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write('data: {"choices":[{"delta":{"content":"x"}}]}\n\n')
          response.end(`data: ${error}\n\n`)
        }
      }
      const baseUrl = provider.url.replace('127.0.0.1', 'localhost')
      await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
      const channels = [{ channelId: 3, name: 'c', keyRefs: ['key:9f8e7d6c5b4a.part2'] }]
      const terms = { ...PLAIN_CHANNEL_TERMS, baseUrl }
      const data = { terms, channels, keyMode: '', isEnabled: true }
      await rig.append('channels', { type: 'ChannelsCreated', v: 1, data })
      const { text } = await chat(rig, { stream: how === 'event' })
      expect(key).toBe('9f8e7d6c5b4a.part2')
      expect(text).toContain('Wrong: ***, half of it ***, at ***')
      expect(text).not.toContain('9f8e7d6c5b4a')
    },
  )
})

describe('a redirect from a provider', () => {
  it('the relay never follows a redirect', async () => {
    let reached = 0
    answer = (request, response) => {
      reached += 1
      const location = `http://${request.headers.host}/elsewhere`
      response.writeHead(302, { location }).end()
    }
    expect((await chat(rig)).status).toBe(502)
    expect(reached).toBe(1)
  })
})
