import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  Output,
  streamText,
  tool,
} from 'ai'
import OpenAI from 'openai'

export type Access = { readonly url: string; readonly key: string; readonly model: string }

/** What every client can do. Each returns the text of the last answer. */
export type Client = {
  readonly name: string
  /** Asks for the weather, answers the model's tool call, and returns the model's sentence. */
  readonly useTool: (access: Access, isStream: boolean) => Promise<string>
  /** Asks for an answer with a JSON schema. */
  readonly askForJson: (access: Access, isStream: boolean) => Promise<string>
}

const PROMPT = 'How is the weather in Paris?'
const RESULT = '{"celsius":21}'
const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
}
const DESCRIPTION = 'Returns the weather of a city.'
const FUNCTION = { name: 'weather', description: DESCRIPTION, parameters: SCHEMA }

const openAi = ({ url, key }: Access) =>
  new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0, logLevel: 'off' })

const chat: Client = {
  name: 'openai (chat)',
  useTool: async (access, isStream) => {
    const { completions } = openAi(access).chat
    type Params = OpenAI.ChatCompletionCreateParamsNonStreaming
    const send = (params: Params) =>
      isStream
        ? completions.stream({ ...params, stream: true }).finalChatCompletion()
        : completions.create(params)
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: PROMPT }]
    const tools = [{ type: 'function' as const, function: FUNCTION }]
    const { choices } = await send({ model: access.model, messages, tools })
    const message = choices[0]?.message
    const [call] = message?.tool_calls ?? []
    if (message === undefined || call === undefined) throw new Error('no tool call')
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: RESULT })
    const last = await send({ model: access.model, messages, tools })
    return last.choices[0]?.message.content ?? ''
  },
  askForJson: async (access, isStream) => {
    const format = { name: 'place', schema: SCHEMA, strict: true }
    const { completions } = openAi(access).chat
    const params: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model: access.model,
      messages: [{ role: 'user', content: PROMPT }],
      response_format: { type: 'json_schema', json_schema: format },
    }
    const { choices } = isStream
      ? await completions.stream({ ...params, stream: true }).finalChatCompletion()
      : await completions.create(params)
    return choices[0]?.message.content ?? ''
  },
}

const responses: Client = {
  name: 'openai (responses)',
  useTool: async (access, isStream) => {
    const api = openAi(access).responses
    const send = (params: OpenAI.Responses.ResponseCreateParamsNonStreaming) =>
      isStream ? api.stream({ ...params, stream: true }).finalResponse() : api.create(params)
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: PROMPT }]
    const tools = [{ type: 'function' as const, ...FUNCTION, strict: true }]
    const base = { model: access.model, tools, store: false }
    const output: OpenAI.Responses.ResponseOutputItem[] = (await send({ ...base, input })).output
    const call = output.find((item) => item.type === 'function_call')
    if (call === undefined) throw new Error('no tool call')
    const result = { type: 'function_call_output' as const, call_id: call.call_id, output: RESULT }
    const last = await send({ ...base, input: [...input, ...(output as typeof input), result] })
    return last.output_text
  },
  askForJson: async (access, isStream) => {
    const api = openAi(access).responses
    const params: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
      model: access.model,
      input: PROMPT,
      store: false,
      text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true } },
    }
    const { output_text } = isStream
      ? await api.stream({ ...params, stream: true }).finalResponse()
      : await api.create(params)
    return output_text
  },
}

const anthropic: Client = {
  name: '@anthropic-ai/sdk',
  useTool: async (access, isStream) => {
    const { messages: api } = anthropicOf(access)
    const send = (params: Anthropic.MessageCreateParamsNonStreaming) =>
      isStream ? api.stream({ ...params, stream: true }).finalMessage() : api.create(params)
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: PROMPT }]
    const tools = [{ name: 'weather', description: DESCRIPTION, input_schema: SCHEMA }]
    const base = { model: access.model, max_tokens: 100, tools }
    const { content } = await send({ ...base, messages })
    const call = content.find((block) => block.type === 'tool_use')
    if (call === undefined) throw new Error('no tool call')
    const result = { type: 'tool_result' as const, tool_use_id: call.id, content: RESULT }
    messages.push({ role: 'assistant', content }, { role: 'user', content: [result] })
    return textOf((await send({ ...base, messages })).content)
  },
  askForJson: async (access, isStream) => {
    const { messages: api } = anthropicOf(access)
    const params: Anthropic.MessageCreateParamsNonStreaming = {
      model: access.model,
      max_tokens: 100,
      messages: [{ role: 'user', content: PROMPT }],
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
    }
    const { content } = isStream
      ? await api.stream({ ...params, stream: true }).finalMessage()
      : await api.create(params)
    return textOf(content)
  },
}
const anthropicOf = ({ url, key }: Access) =>
  new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0, logLevel: 'off' })
const textOf = (content: readonly Anthropic.ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

const google: Client = {
  name: '@google/genai',
  useTool: async (access, isStream) => {
    const { models } = googleOf(access)
    const tool = { name: 'weather', description: DESCRIPTION, parametersJsonSchema: SCHEMA }
    const config = { tools: [{ functionDeclarations: [tool] }] }
    type Contents = Extract<Parameters<typeof models.generateContent>[0]['contents'], object[]>
    const send = async (contents: Contents) => {
      const params = { model: access.model, contents, config }
      if (!isStream) {
        const answer = await models.generateContent(params)
        return answer.candidates?.[0]?.content?.parts ?? []
      }
      const parts = []
      for await (const chunk of await models.generateContentStream(params)) {
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
      }
      return parts
    }
    const question = { role: 'user', parts: [{ text: PROMPT }] }
    const parts = await send([question] as Contents)
    const call = parts.find(({ functionCall }) => functionCall !== undefined)?.functionCall
    if (call === undefined) throw new Error('no tool call')
    const { id, name } = call
    const functionResponse = { name, response: { celsius: 21 }, ...(id && { id }) }
    const turns = [
      question,
      { role: 'model', parts },
      { role: 'user', parts: [{ functionResponse }] },
    ]
    return (await send(turns as Contents)).map(({ text }) => text ?? '').join('')
  },
  askForJson: async (access, isStream) => {
    const { models } = googleOf(access)
    const params = {
      model: access.model,
      contents: PROMPT,
      config: { responseMimeType: 'application/json', responseJsonSchema: SCHEMA },
    }
    if (!isStream) return (await models.generateContent(params)).text ?? ''
    let text = ''
    for await (const chunk of await models.generateContentStream(params)) text += chunk.text ?? ''
    return text
  },
}
const googleOf = ({ url, key }: Access) =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })

/** The `ai` package with one of its providers. */
const vercel = (name: string, modelOf: (access: Access) => LanguageModel): Client => ({
  name: `ai (${name})`,
  useTool: async (access, isStream) => {
    const weather = tool({
      description: DESCRIPTION,
      inputSchema: jsonSchema(SCHEMA),
      execute: async () => RESULT,
    })
    const params = {
      model: modelOf(access),
      prompt: PROMPT,
      tools: { weather },
      stopWhen: isStepCount(3),
      maxRetries: 0,
    }
    if (!isStream) return (await generateText(params)).text
    const answer = streamText({ ...params, onError: () => {} })
    return await answer.text
  },
  askForJson: async (access, isStream) => {
    const output = Output.object({ schema: jsonSchema(SCHEMA) })
    // Without this, the provider `anthropic` uses a tool for models whose name it does not know.
    const providerOptions = { anthropic: { structuredOutputMode: 'outputFormat' } }
    const params = {
      model: modelOf(access),
      prompt: PROMPT,
      output,
      maxRetries: 0,
      providerOptions,
    }
    if (!isStream) return JSON.stringify((await generateText(params)).output)
    return JSON.stringify(await streamText({ ...params, onError: () => {} }).output)
  },
})

export const CLIENTS: readonly Client[] = [
  chat,
  responses,
  anthropic,
  google,
  vercel('openai', ({ url, key, model }) =>
    createOpenAI({ apiKey: key, baseURL: `${url}/v1` })(model),
  ),
  // This is what the console shows for “Vercel AI”.
  vercel('openai, chat', ({ url, key, model }) =>
    createOpenAI({ apiKey: key, baseURL: `${url}/v1` }).chat(model),
  ),
  vercel('anthropic', ({ url, key, model }) =>
    createAnthropic({ apiKey: key, baseURL: `${url}/v1` })(model),
  ),
  vercel('google', ({ url, key, model }) =>
    createGoogleGenerativeAI({ apiKey: key, baseURL: `${url}/v1beta` })(model),
  ),
]
