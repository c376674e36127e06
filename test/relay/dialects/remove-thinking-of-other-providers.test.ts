import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-format.ts'
import { removeForeignThinking } from '#relay/dialects/remove-thinking-of-other-providers.ts'
import type { WireFormat } from '#relay/dialects/wire-format.ts'

const WRAPPED = Buffer.from('provider:{"signature":"x"}').toString('base64')

function cut(format: WireFormat, text: string, needsCallSignatures = false) {
  const request = format.readRequest(Buffer.from(text), { model: 'm', isStream: false })
  if (isRelayError(request)) throw new Error(request.code)
  const change = removeForeignThinking(request, needsCallSignatures)
  return change && { body: change.body.toString(), losses: change.losses }
}

const thinking = (signature: string) =>
  `{"type" : "thinking", "thinking":"Hm","signature":${JSON.stringify(signature)}}`
const CALL = '{"type":"tool_use","id":"t","name":"f","input":{"signature":"openai:x"}}'
const RESULT = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}'
const messages = (...turns: readonly string[]) =>
  `{ "model":"m","max_tokens":9, "messages" : [ ${turns.join(' , ')} ] }`
const USER = '{"role":"user","content":"Go"}'
const assistant = (...blocks: readonly string[]) =>
  `{"role":"assistant","content":[ ${blocks.join(' ,')} ]}`

describe('a request of Anthropic’s Messages API', () => {
  it('keeps every byte without thinking of the gateway', () => {
    const own = messages(USER, assistant(thinking('EqQBCg=='), CALL), RESULT)
    expect(cut(ANTHROPIC_MESSAGES, own)).toBeNull()
    expect(cut(ANTHROPIC_MESSAGES, messages('{"role":"user","content":"\\"openai:x"}'))).toBeNull()
  })

  it.each([['openai:gAAA'], ['gemini:c2ln'], ['{"type":"reasoning.text","id":"r"}'], [WRAPPED]])(
    'loses only the block that is signed with %s',
    (signature) => {
      const text = messages(USER, assistant(thinking('EqQB'), thinking(signature), CALL), RESULT)
      expect(cut(ANTHROPIC_MESSAGES, text)).toEqual({
        body: messages(USER, assistant(thinking('EqQB'), CALL), RESULT),
        losses: ['messages[1].content[1] (thinking)'],
      })
    },
  )

  it('loses hidden thinking, and a message of which nothing is left', () => {
    const hidden = '{"type":"redacted_thinking","data":"openai:gAAA"}'
    const text = messages(USER, assistant(hidden), USER, assistant(hidden, CALL), RESULT)
    expect(cut(ANTHROPIC_MESSAGES, text)).toEqual({
      body: messages(USER, USER, assistant(CALL), RESULT),
      losses: ['messages[1].content[0] (thinking)', 'messages[3].content[0] (thinking)'],
    })
  })

  it('loses a budget of thinking if no thinking is left before the calls', () => {
    const budget = '"thinking":{"type":"enabled","budget_tokens":1024}'
    const clearing = '"context_management":{"edits":[{"type":"clear_thinking_20251015"}]}'
    const withBudget = (text: string) =>
      text.replace('"max_tokens":9', `"max_tokens":9,${budget}, ${clearing}`)
    const toolTurn = (...blocks: readonly string[]) => messages(USER, assistant(...blocks), RESULT)
    const foreign = thinking('openai:gAAA')
    expect(cut(ANTHROPIC_MESSAGES, withBudget(toolTurn(foreign, CALL)))).toEqual({
      body: toolTurn(CALL),
      losses: ['messages[1].content[0] (thinking)', 'thinking', 'context_management'],
    })
    expect(cut(ANTHROPIC_MESSAGES, withBudget(toolTurn(foreign, thinking('EqQB'), CALL)))).toEqual({
      body: withBudget(toolTurn(thinking('EqQB'), CALL)),
      losses: ['messages[1].content[0] (thinking)'],
    })
  })
})

describe('a request of OpenAI’s formats', () => {
  it('loses only the reasoning items that the gateway wrapped', () => {
    const input = (...items: readonly string[]) => `{"model":"m","input":[${items.join(', ')}]}`
    const item = (content: string) =>
      `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"${content}"}`
    const call = '{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}'
    expect(cut(OPENAI_RESPONSES, input(item('gAAA'), call))).toBeNull()
    expect(cut(OPENAI_RESPONSES, input(item(WRAPPED), item('gAAA'), item(WRAPPED), call))).toEqual({
      body: input(item('gAAA'), call),
      losses: ['input[0] (thinking)', 'input[2] (thinking)'],
    })
    expect(cut(OPENAI_RESPONSES, input(item(WRAPPED)))).toBeNull()
  })

  it('loses only the details of thinking in a chat that OpenRouter did not make', () => {
    const chat = (...details: readonly string[]) =>
      `{"model":"m","messages":[${USER}, {"role":"assistant","content":"a","reasoning_details":[${details.join()}]},${USER}]}`
    const detail = (signature: string) =>
      `{"type":"reasoning.text","text":"Hm","signature":"${signature}"}`
    expect(cut(OPENAI_CHAT, chat(detail('EqQB')))).toBeNull()
    expect(cut(OPENAI_CHAT, chat(detail('openai:a'), detail('EqQB')))).toEqual({
      body: chat(detail('EqQB')),
      losses: ['messages[1].reasoning_details[0] (thinking)'],
    })
    expect(cut(OPENAI_CHAT, chat(detail('openai:a'), detail('gemini:b')))?.body).toBe(chat())
  })
})

describe('a request of Gemini', () => {
  const contents = (...parts: readonly string[]) =>
    `{"contents":[{"role":"user","parts":[{"text":"Go"}]},{"role":"model","parts":[${parts.join(', ')}]}]}`
  const signed = (member: string) => `{"functionCall":{"name":"f"},"${member}": "${WRAPPED}"}`
  const thought = (text: string, signature = '') =>
    `{"text":"${text}",${signature && ` "thoughtSignature" : "${signature}" , `}"thought":true}`

  it('keeps its calls and the texts of thoughts without the signatures of others', () => {
    const text = contents(thought('Hm', WRAPPED), thought('', WRAPPED), signed('thought_signature'))
    expect(cut(GEMINI, text)).toEqual({
      body: contents('{"text":"Hm", "thought":true}', '{"functionCall":{"name":"f"}}').replace(
        '"Hm", "thought"',
        '"Hm",  "thought"',
      ),
      losses: [0, 1, 2].map((part) => `contents[1].parts[${part}] (thinking)`),
    })
  })

  it('gets the signature that is not checked for a model that needs one', () => {
    const body = cut(GEMINI, contents(signed('thoughtSignature')), true)?.body
    expect(body).toBe(
      contents(signed('thoughtSignature').replace(WRAPPED, 'skip_thought_signature_validator')),
    )
  })

  it('keeps its own signatures, and a content of which something is left', () => {
    expect(cut(GEMINI, contents(thought('Hm', 'c2ln')))).toBeNull()
    expect(cut(GEMINI, contents(thought('', WRAPPED)))?.body).toBe(
      '{"contents":[{"role":"user","parts":[{"text":"Go"}]}]}',
    )
  })
})
