import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, KEY, type RelayRig, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'
import { type TasksRig, tasksRig } from './tasks/tasks-rig.ts'

type Line = { readonly call?: string; readonly msg: string; readonly code?: string }

let rig: RelayRig
afterEach(() => rig.close())

/** A logger, and the lines that it writes at this level. */
function logOf(level: string) {
  const lines: Line[] = []
  const log = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { log, lines }
}

/** The lines that a relay logs at this level. */
async function startRig(level: string): Promise<Line[]> {
  const { log, lines } = logOf(level)
  rig = await relayRig({}, {}, undefined, { log })
  return lines
}

it('the debug log names the id of a call from its plan to its end', async () => {
  const lines = await startRig('debug')
  await rig.setOption('RetryTimes', '1')
  rig.provider.script.push({ kind: 'status', status: 500 })
  const { headers } = await chat(rig, { stream: true })
  const call = headers.get('x-request-id')
  await expect.poll(() => lines.some(({ msg }) => msg === 'a call ended')).toBe(true)
  const steps = lines.filter((line) => line.call === call).map(({ msg }) => msg)
  expect(steps.slice(0, 3)).toEqual([
    'a call was planned and has a permit',
    'a call was admitted',
    'an attempt ended',
  ])
  expect(steps.at(-1)).toBe('a call ended')
  expect(JSON.stringify(lines)).not.toMatch(/sk-|hello/)
})

it('the info log has no line for a call that succeeds', async () => {
  const lines = await startRig('info')
  expect((await chat(rig)).status).toBe(200)
  expect(lines).toEqual([])
})

it.each([
  ['POST', '/v1/chat/completions', 'sk-unknown', 'invalid_key'],
  ['GET', '/v1/chat/completions', KEY, 'method_not_allowed'],
  ['GET', '/v1/models', 'sk-unknown', 'invalid_key'],
  ['POST', '/v1/nothing', KEY, 'not_found'],
  ['POST', '/mj/submit/imagine', 'sk-unknown', 'invalid_key'],
  ['POST', '/mj/nothing', KEY, 'not_found'],
])('the debug log names the error of %s %s with %s: %s', async (method, path, key, code) => {
  const lines = await startRig('debug')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = method === 'POST' ? '{}' : null
  const response = await fetch(`${rig.url}${path}`, { method, headers, body })
  const call = response.headers.get('x-request-id')
  await response.text()
  const errors = lines.filter((line) => line.call === call)
  expect(errors).toMatchObject([{ msg: 'an error was sent', code, status: response.status }])
  expect(JSON.stringify(lines)).not.toContain(key)
})

/** A relay with tasks that logs at level debug. */
async function startTasksRig(): Promise<{ tasks: TasksRig; lines: Line[] }> {
  const { log, lines } = logOf('debug')
  const tasks = await tasksRig({}, { taskMs: 1, log })
  rig = tasks
  return { tasks, lines }
}

it('the debug log names the id of a task from its plan to its result', async () => {
  const { tasks, lines } = await startTasksRig()
  const task = await tasks.imagine('a secret lighthouse')
  await expect
    .poll(async () => (await tasks.taskEvents(task)).map(({ type }) => type))
    .toContain('TaskSucceeded')
  const reported = 'a provider reported on a task'
  await expect.poll(() => lines.some(({ msg }) => msg === reported)).toBe(true)
  const steps = lines.filter((line) => line.call === task).map(({ msg }) => msg)
  expect(steps.slice(0, 4)).toEqual([
    'a task was planned and has a permit',
    'a task was admitted',
    'an attempt ended',
    'a task was accepted',
  ])
  expect(steps).toContain('a provider was polled about a task')
  expect(steps.at(-1)).toBe(reported)
  expect(JSON.stringify(lines)).not.toMatch(/sk-|secret lighthouse/)
})

it('the debug log names the id of a task that no provider accepts', async () => {
  const { tasks, lines } = await startTasksRig()
  const { headers } = await tasks.ask('/mj/submit/imagine', { prompt: 'a banned word' })
  const call = headers.get('x-request-id')
  const steps = lines.filter((line) => line.call === call).map(({ msg }) => msg)
  expect(steps).toEqual([
    'a task was planned and has a permit',
    'a task was admitted',
    'an attempt ended',
    'a task was not accepted',
  ])
})

describe('the log at level warn', () => {
  const provider = startedForEach(scriptedProvider)
  afterEach(() => vi.restoreAllMocks())
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  const block = `{"type":"tool_use","id":"t","name":"f","input":${deep}}`
  const plain = `{"type":"message","content":[${block}]}`
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = { model: 'm', max_tokens: 200_000, messages }

  const ask = async (path: string, question: object) => {
    const headers = { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(question) }
    const response = await fetch(`${rig.url}${path}`, request)
    await response.text()
    return response.headers.get('x-request-id')
  }
  const addChannel = async (type: number) => {
    await rig.setOption('ModelRatio', { m: 1 })
    await rig.addChannel(4, { type, baseUrl: provider.url, models: ['m'] })
  }
  const line = (call: string | null) => ({
    ...{ call, channelId: 4, level: 40, msg: 'an answer could not be read completely' },
  })

  it.each([false, true])('names a call whose texts can not be read (%s)', async (stream) => {
    const lines = await startRig('warn')
    await addChannel(14)
    const events = ['{"message":{"content":[]}}', `{"content_block":${block},"index":0}`]
    const types = ['message_start', 'content_block_start', 'message_stop']
    const text = types.map((type, at) => `event: ${type}\ndata: ${events[at] ?? '{}'}\n\n`).join('')
    const pieces = [Buffer.from(stream ? text : plain)]
    const headers = { 'content-type': stream ? 'text/event-stream' : 'application/json' }
    provider.answers.set('*', { headers, pieces })
    const call = await ask('/v1/messages', { ...body, stream })
    expect(lines).toEqual([expect.objectContaining(line(call))])
  })

  it('names a call whose answer can not be converted', async () => {
    const lines = await startRig('warn')
    await addChannel(14)
    provider.answers.set('*', { pieces: [Buffer.from(plain)] })
    const call = await ask('/v1/chat/completions', body)
    expect(lines).toEqual([expect.objectContaining(line(call))])
  })

  it('names a call whose usage can not be read', async () => {
    const lines = await startRig('warn')
    await addChannel(1)
    vi.spyOn(OPENAI_CHAT, 'readUsage').mockImplementation(() => {
      throw new TypeError('a bug')
    })
    const choices = [{ index: 0, message: { content: 'Yes' }, finish_reason: 'stop' }]
    provider.answers.set('*', { body: { id: 'c', choices, usage: { prompt_tokens: 1 } } })
    const call = await ask('/v1/chat/completions', body)
    expect(lines).toEqual([expect.objectContaining(line(call))])
  })
})
