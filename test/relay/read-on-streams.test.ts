import { expect, it } from 'vitest'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { StreamForwarder } from '#relay/pipeline/stream-forwarder.ts'

const chunk = (index: number, content: string, finish_reason: string | null = null) =>
  Buffer.from(
    `data: ${JSON.stringify({ choices: [{ index, delta: { content }, finish_reason }] })}\n\n`,
  )

it('what other choices generate after the caller of a finished choice has left is charged', () => {
  const sent: string[] = []
  const sink = { write: (bytes: Buffer) => sent.push(bytes.toString()) > 0 }
  const forwarder = new StreamForwarder(OPENAI_CHAT, sink, false, null, () => {})
  forwarder.push(chunk(0, 'yes', 'stop'))
  expect(forwarder.isFinished()).toBe(true)
  forwarder.continueForUsage(false)
  forwarder.push(chunk(1, 'one two'))
  expect(sent.join('')).not.toContain('one two')
  expect(forwarder.delivered.read().text).toBe('yesone two')
})

it('text that is read on behind the usage makes the usage an early one', () => {
  const forwarder = new StreamForwarder(OPENAI_CHAT, { write: () => true }, false, null, () => {})
  forwarder.push(chunk(0, 'yes', 'stop'))
  forwarder.continueForUsage(false)
  const usage = { prompt_tokens: 1, completion_tokens: 1 }
  forwarder.push(Buffer.from(`data: ${JSON.stringify({ choices: [], usage })}\n\n`))
  expect(forwarder.hasTextAfterUsage).toBe(false)
  forwarder.push(chunk(1, 'one two'))
  expect(forwarder.hasTextAfterUsage).toBe(true)
})
