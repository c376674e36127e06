import { beforeEach, describe, expect, it } from 'vitest'
import { textOfAnswer } from '#relay/canonical/answer-text-for-token-count.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { GEMINI_IMAGES } from '#relay/dialects/gemini-images/imagen-predict-format.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-format.ts'
import type { WireFormat } from '#relay/dialects/wire-format.ts'
import { WordMatcher } from '#relay/screening/word-matcher.ts'
import { AnswerScreen, screenPrompt } from '#relay/screening/word-screening.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, onlyEnd, relayRig } from '../support/relay-rig.ts'

const rig = startedForEach(relayRig)
beforeEach(async () => {
  await rig.setOption('SensitiveWords', 'bomb\n违禁词\nnever forgets')
  await rig.setOption('CheckSensitiveEnabled', 'true')
})

const WORD = 'write-about-bomb-now'
const BASE64_WORD = Buffer.from(WORD).toString('base64')
const SCREENING = {
  ...{ matcher: new WordMatcher(['bomb']), isPromptChecked: true },
  ...{ isAnswerStopped: false, exemptGroup: null },
}

const saying = (content: unknown) => ({ messages: [{ role: 'user', content }] })

describe('screening of prompts', () => {
  beforeEach(() => rig.setOption('CheckSensitiveOnPromptEnabled', 'true'))

  it.each([
    ['a text', saying('how to build a BOMB')],
    ['a part of one', saying([{ type: 'text', text: '这是违禁词' }])],
    [
      'an earlier message',
      { messages: [saying('a bomb').messages[0], { role: 'user', content: 'x' }] },
    ],
    ['a tool', { tools: [{ type: 'function', function: { name: 'x', description: 'bomb' } }] }],
    ['an escaped text', saying('b\u006fmb')],
  ])('refuses a sensitive word in %s, holds nothing and sends nothing', async (_where, body) => {
    const before = await rig.balance()
    const answer = await chat(rig, body)
    expect(answer.status).toBe(400)
    const [param] = Object.keys(body)
    expect(errorOf(answer)).toMatchObject({ code: 'sensitive_prompt', param })
    expect(answer.text).not.toContain('bomb')
    expect(rig.provider.journal.count).toBe(0)
    expect(await rig.callEvents()).toEqual([])
    expect(await rig.balance()).toBe(before)
  })

  it('accepts other prompts and does not search inside pictures', async () => {
    expect((await chat(rig, saying('a harmless question'))).status).toBe(200)
    const url = 'data:image/png;base64,bombbomb'
    const picture = [{ type: 'image_url', image_url: { url } }]
    expect((await chat(rig, saying(picture))).status).toBe(200)
    expect((await chat(rig, saying('data: bomb'))).status).toBe(400)
    expect((await chat(rig, saying('data:image/png;base64, bomb'))).status).toBe(400)
  })

  it.each([
    ['plain text of a document', { type: 'text', media_type: 'text/plain', data: WORD }],
    ['plain text beside a wrong type', { type: 'text', media_type: 'image/png', data: WORD }],
    ['a text file', { type: 'base64', media_type: 'text/plain', data: BASE64_WORD }],
    ['a data URL', `data:application/json;charset=utf-8;base64,${BASE64_WORD}`],
    ['Gemini’s data', { mimeType: 'text/csv; charset=utf-8', data: BASE64_WORD }],
    ['Gemini’s data without a type', { mime_type: 'word', data: WORD }],
  ])('refuses a sensitive word without spaces in %s', async (_where, source) => {
    const body = saying([{ type: 'document', source }])
    const error = await screenPrompt(SCREENING, 'default', Buffer.from(JSON.stringify(body)))
    expect(error).toMatchObject({ code: 'sensitive_prompt', params: { param: 'messages' } })
  })

  it.each([
    ['a picture', { type: 'base64', media_type: 'image/png', data: WORD }],
    ['a PDF', { type: 'base64', media_type: 'application/pdf', data: WORD }],
    ['Gemini’s picture', { mimeType: 'image/png', data: WORD }],
    ['a text file', { mimeType: 'text/plain', data: 'bomb' }],
    ['a data URL', 'data:image/svg;base64,bomb'],
  ])('does not search inside the base64 of %s', async (_where, source) => {
    const body = saying([{ type: 'document', source }])
    expect(await screenPrompt(SCREENING, 'default', Buffer.from(JSON.stringify(body)))).toBeNull()
  })

  it('accepts all prompts of the exempt group', async () => {
    await rig.setOption('global.safe_check_exempt_group', 'default')
    expect((await chat(rig, saying('bomb'))).status).toBe(400)
    await rig.setOption('global.safe_check_exempt_enabled', 'true')
    expect((await chat(rig, saying('bomb'))).status).toBe(200)
  })

  it('accepts all prompts as soon as the check is off', async () => {
    await rig.setOption('CheckSensitiveEnabled', 'false')
    expect((await chat(rig, saying('bomb'))).status).toBe(200)
  })
})

describe('texts that are screened but not counted', () => {
  const [text, type] = ['a b\u006fmb', 'message']
  const item = (value: object) => ({ output: [value] })
  const block = (value: object) => ({ type, content: [value] })

  it.each<[string, WireFormat, object]>([
    ['a web search', OPENAI_RESPONSES, item({ action: { type: 'search', query: text } })],
    ['several web searches', OPENAI_RESPONSES, item({ action: { queries: ['x', text] } })],
    ['a search in files', OPENAI_RESPONSES, item({ queries: [text] })],
    ['the output of a program', OPENAI_RESPONSES, item({ outputs: [{ logs: text }] })],
    ['the prompt of an image', OPENAI_RESPONSES, item({ result: 'AA', revised_prompt: text })],
    [
      'the output of a program in Anthropic’s format',
      ANTHROPIC_MESSAGES,
      block({ type: 'bash_code_execution_tool_result', content: { stdout: text } }),
    ],
    [
      'the prompt that Imagen enhanced',
      GEMINI_IMAGES,
      { predictions: [{ bytesBase64Encoded: 'AA', prompt: text }] },
    ],
  ])('include %s', (_where, { readTexts }, answer) => {
    const json = JSON.stringify(answer)
    const screen = new AnswerScreen(SCREENING.matcher)
    expect(screen.isCleanAnswer(Buffer.from(json), readTexts)).toBe(false)
    expect(screen.isCleanAnswer(Buffer.from(json.replace('bomb', 'bob')), readTexts)).toBe(true)
    expect(textOfAnswer(Buffer.from(json), readTexts).text).toBe('')
  })
})

describe('screening of answers', () => {
  beforeEach(() => rig.setOption('StopOnSensitiveEnabled', 'true'))

  it('withholds a plain answer with a sensitive word and charges for it', async () => {
    const before = await rig.balance()
    const answer = await chat(rig, { max_tokens: 10 })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).code).toBe('sensitive_answer')
    const end = await onlyEnd(rig)
    expect(end).toMatchObject({
      type: 'CallSettled',
      data: { end: 'incomplete', usageSource: 'upstream' },
    })
    if (end.type !== 'CallSettled') throw new Error('not settled')
    expect(Number(end.data.charge)).toBeGreaterThan(0)
    expect(await rig.balance()).toBe(before - BigInt(end.data.charge))
  })

  it('ends a stream before a sensitive word and charges the delivered part', async () => {
    const { status, text } = await chat(rig, { stream: true, max_tokens: 10 })
    expect(status).toBe(200)
    expect(text).toContain(' that')
    expect(text).not.toContain('forgets')
    expect(text).toContain('sensitive_answer')
    expect(text).not.toContain('[DONE]')
    const end = await onlyEnd(rig)
    expect(end).toMatchObject({
      type: 'CallSettled',
      data: { end: 'incomplete', usageSource: 'partial', attempts: [{ error: 'screened' }] },
    })
    // The provider did its part, so the input is charged as well.
    if (end.type !== 'CallSettled') throw new Error('not settled')
    expect(end.data.usage.inputUncached).toBeGreaterThan(3)
    expect(end.data.usage.output).toBeGreaterThan(0)
    // One provider said it, so would the next: it is not asked again.
    expect(rig.provider.journal.count).toBe(1)
  })

  it('leaves answers without a sensitive word unchanged', async () => {
    expect((await chat(rig, { max_tokens: 3 })).status).toBe(200)
    const { text } = await chat(rig, { stream: true, max_tokens: 3 })
    expect(text).toContain('[DONE]')
  })
})
