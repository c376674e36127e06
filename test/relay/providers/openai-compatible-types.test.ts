import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, onlyEnd, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'
import { OPENAI_COMPATIBLE_TYPES } from '../support/tested-channel-types.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig())

const USAGE = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 }
const CHARGE = 1.25 * (20 + 4 * 9)
const CHOICE = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }
const ANSWER = { id: 'c1', object: 'chat.completion', choices: [CHOICE], usage: USAGE }
const CHUNK = { index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }
const STREAM = [
  `data: ${JSON.stringify({ id: 'c1', choices: [CHUNK], usage: USAGE })}\n\n`,
  'data: [DONE]\n\n',
]

describe.each(OPENAI_COMPATIBLE_TYPES.map(({ id, name }) => [id, name] as const))(
  'type %i, %s',
  (type) => {
    beforeEach(async () => {
      await rig.append(CHANNELS_STREAM, {
        type: 'ChannelsDeleted',
        v: 1,
        data: { channelIds: [1] },
      })
      await rig.addChannel(2, { type, baseUrl: provider.url, other: 'account' })
    })

    it('bills a plain answer and a stream to the unit, and no error', async () => {
      provider.answers.set('*', { body: ANSWER })
      const before = await rig.balance()
      expect((await chat(rig)).status).toBe(200)
      const plain = before - (await rig.balance())
      const pieces = STREAM.map((event) => Buffer.from(event))
      provider.answers.set('*', { headers: { 'content-type': 'text/event-stream' }, pieces })
      const streamed = await chat(rig, { stream: true })
      expect(streamed.text).toContain('Hello')
      const both = before - (await rig.balance())
      expect([plain, both]).toEqual([BigInt(CHARGE), BigInt(2 * CHARGE)])
      provider.answers.set('*', { status: 400, body: { error: { message: 'too long' } } })
      const failed = await chat(rig)
      expect(failed.status).toBe(400)
      expect(failed.text).toContain('too long')
      expect(before - (await rig.balance())).toBe(both)
    })

    it('counts the tokens of an answer without usage', async () => {
      const { usage: _, ...rest } = ANSWER
      provider.answers.set('*', { body: rest })
      await chat(rig)
      expect((await onlyEnd(rig)).data).toMatchObject({ usageSource: 'estimated' })
    })
  },
)
