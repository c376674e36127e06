import { expect, it } from 'vitest'
import type { CanonicalMessage } from '#relay/canonical/canonical-request.ts'
import { readRequest } from '#relay/conversion/anthropic-messages/read-request.ts'
import { writeRequest } from '#relay/conversion/anthropic-messages/write-request.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'
import { canonicalRequest, textPart } from './canonical-values.ts'

const LIMITS = { default: 4096, max: null }
const COUNT = 200_000

const write = (messages: readonly CanonicalMessage[]) =>
  writeRequest(canonicalRequest({ model: 'claude-opus-4-8', messages }), LIMITS).value

it('writes many later instructions in a time that grows with their number', () => {
  const user: CanonicalMessage = { role: 'user', parts: [textPart('a')] }
  const later: CanonicalMessage = { role: 'system', parts: [textPart('b')] }
  const begin = threadCpuMs()
  const { messages } = write([user, ...Array.from({ length: COUNT }, () => later)])
  expect(threadCpuMs() - begin).toBeLessThan(budget(5_000))
  expect(messages).toMatchObject([{ role: 'user' }, { role: 'system' }])
})

it('writes a message with any number of instructions', () => {
  const user: CanonicalMessage = { role: 'user', parts: [textPart('a')] }
  const parts = Array.from({ length: COUNT }, () => textPart('b'))
  const many: CanonicalMessage = { role: 'system', parts }
  expect(write([many, user]).system).toHaveLength(COUNT)
  expect(write([user, many]).messages).toMatchObject([{ role: 'user' }, { role: 'system' }])
  expect(write([user, many, user]).messages).toMatchObject([{ role: 'user' }])
})

it('collects no more than 1 000 losses', () => {
  const content = Array.from({ length: 1_500 }, () => ({ type: 'search_result' }))
  const { losses } = readRequest({ model: 'm', messages: [{ role: 'user', content }] })
  expect(losses).toHaveLength(1_000)
  const audio = { kind: 'audio' as const, mediaType: 'audio/wav', data: '' }
  const parts = [textPart('a'), ...Array.from({ length: 1_500 }, () => audio)]
  const request = canonicalRequest({ messages: [{ role: 'user', parts }] })
  expect(writeRequest(request, LIMITS).losses).toHaveLength(1_000)
})
